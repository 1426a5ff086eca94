"""The log of quizzes: nothing that was answered is lost, and nothing is counted twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.quiz_maker import NOON, answered, session

from grader.model import Claimed
from grader.store import Store
from grader.store.quiz_log import QuizLog

PLAN = [("topic0.n1", 1), ("topic1.choice", 3)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / ".selfattend" / "progress.db"


@pytest.fixture
def log(path):
    with Store.open(path) as store:
        yield QuizLog(store.database)


def claim(point: str, mark: str = "yes", trap: bool = False, sitting: str = "s") -> Claimed:
    return Claimed("topic0", point, mark, trap, sitting, NOON)


def test_reading_makes_no_file(log, path):
    """Asking what there is leaves a folder as it was."""
    assert (log.answers(), log.sessions(), log.unfinished(), log.asked(), log.tried(), log.claims()) == (
        [], [], [], {}, {}, [],
    )  # fmt: skip
    assert log.text("s") == "" and not path.exists()


def test_the_salt_is_drawn_once(log, path):
    """A learner's variants stay the same ones, also for the next process."""
    with Store.open(path) as other:
        assert log.salt() == QuizLog(other.database).salt() != ""


def test_an_answer_comes_back_as_it_was_given(log, path):
    """What one process records, another reads, whole."""
    given = answered("topic0.n1", 0.5, tags=("a", "b"), certainty="sure", seconds=12.5, typed="4 | “x”")
    log.add_answer(given)
    with Store.open(path) as other:
        assert QuizLog(other.database).answers() == [given] == QuizLog(other.database).answers("s")
        assert QuizLog(other.database).answers("another") == []


def test_there_is_one_first_try_in_a_sitting(log):
    """Of two first tries at a family in one sitting, as from two terminals, the second is none; elsewhere it is."""
    for sitting in ("s", "s", "t"):
        log.add_answer(answered("topic0.n1", session=sitting))
    assert [(answer.session, answer.first) for answer in log.answers()] == [("s", True), ("s", False), ("t", True)]
    assert log.tried() == {"topic0.n1": 2}


def test_a_fresh_variant_comes_after_every_one_that_was_planned(log):
    """A plan takes a variant for the question, and the one after for whoever misses it."""
    log.begin(session(finished=None), PLAN)
    assert log.asked() == {"topic0.n1": 2, "topic1.choice": 4}
    log.add_answer(answered("topic0.n1", attempt=7))
    assert log.asked()["topic0.n1"] == 7


def test_sittings_that_were_broken_off_are_found_with_their_plans(log):
    """The latest comes first, and one that ended is no longer among them."""
    log.begin(session("old", finished=None), PLAN)
    log.begin(session("new", days=1, finished=None, predicted=4.5), PLAN[:1])
    assert [(each.session.id, each.plan) for each in log.unfinished()] == [
        ("new", tuple(PLAN[:1])), ("old", tuple(PLAN)),
    ]  # fmt: skip
    log.set_prediction_after("new", 6.0)
    log.finish("new", NOON + timedelta(days=1))
    assert [each.session.id for each in log.unfinished()] == ["old"]
    ended = log.sessions()[1]
    assert (ended.id, ended.predicted, ended.predicted_after) == ("new", 4.5, 6.0) and ended.finished is not None


def test_a_plan_may_come_later(log):
    """A sitting whose questions depend on its first part has its plan filled in."""
    log.begin(session(mode="audit", finished=None), [])
    log.set_plan("s", PLAN)
    assert log.unfinished()[0].plan == tuple(PLAN)


def test_an_open_answer_is_kept_as_it_stands(log):
    """Each text replaces the one before in its sitting, and only there."""
    for text in ("a", "a b", "a b\nc"):
        log.save_text("s", "topic0", text, NOON)
    log.save_text("t", "topic0", "other", NOON + timedelta(hours=1))
    assert log.text("s") == "a b\nc"
    assert [(sitting, text) for sitting, _, text, _ in log.texts()] == [("s", "a b\nc"), ("t", "other")]


def test_a_sitting_without_a_text_has_none_written(log):
    """A question that was skipped keeps an empty text: nothing was written there."""
    log.save_text("s", "topic0", "words", NOON)
    log.save_text("t", "topic0", " ", NOON)
    assert log.written() == {"s"}


def test_an_empty_file_is_used_and_named_once(path):
    """Of a file of no bytes one is told when it is first opened, and no more; progress begins in it."""
    path.parent.mkdir()
    path.touch()
    for told in (True, False):
        with Store.open(path) as store:
            QuizLog(store.database).set_fact("name", "value")
            assert ["was empty" in notice for notice in store.notices] == [True] * told


def test_claims_stay_in_their_order(log):
    """The last mark of a point is the last in the list; a sitting's own can be had alone."""
    log.add_claims([claim("p1", "no")])
    log.add_claims([claim("p1"), claim("trap", "no", trap=True), claim("p2", sitting="t")])
    assert log.claims() == [
        claim("p1", "no"), claim("p1"), claim("trap", "no", trap=True), claim("p2", sitting="t"),
    ]  # fmt: skip
    assert log.claims("t") == [claim("p2", sitting="t")]
