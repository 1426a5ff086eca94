"""What is asked in a sitting, and how one that was broken off goes on."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.quiz_every_kind import write_every_kind
from support.quiz_maker import TOPICS, answered, session, write_bank

from grader.errors import UsageError
from grader.quiz.bank.bank import Bank
from grader.quiz.model import Unreadable
from grader.quiz.session.plan import choose_families, find_topic, keep_existing, plan_variants
from grader.quiz.session.session import Session
from grader.quiz.session.summary import say_where_counted, summarize

SALT = "salt"


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return write_bank(tmp_path_factory.mktemp("course") / "lessons")


class Kept(list):
    """A log in memory."""

    add_answer = list.append


def make_session(bank, plan, kept=None, **how) -> Session:
    kept = Kept() if kept is None else kept
    return Session(bank, kept, session(finished=None), plan, kept, SALT, **how)


def right(turn) -> str:
    question = turn.question
    return "abc"[question.answer] if question.kind == "choice" else str(question.answer)


# ---- what is chosen --------------------------------------------------------------------------------------------------


def test_a_short_assessment_has_three_of_each_topic_mixed(bank):
    """Three questions a topic, no topic twice in a round, and different kinds first."""
    chosen = choose_families(bank, TOPICS, "short", {}, Random(1))
    topics = [family.id.partition(".")[0] for family in chosen]
    assert len(chosen) == 30 == len({family.id for family in chosen})
    for start in (0, 10, 20):
        assert sorted(topics[start : start + 10]) == TOPICS
    assert all({f.kind for f in chosen if f.id.startswith(f"{name}.")} == {"numeric", "choice"} for name in TOPICS)


def test_a_topic_alone_has_three_or_all(bank):
    """A topic by itself: three questions, or every one it has."""
    assert len(choose_families(bank, ["topic0"], "short", {}, Random(1))) == 3
    families = {family.id for family in bank.topic("topic0").families}
    assert {family.id for family in choose_families(bank, ["topic0"], "full", {}, Random(1))} == families


@given(st.dictionaries(st.sampled_from([f"topic0.n{n}" for n in range(1, 5)]), st.integers(1, 5)), st.integers())
@settings(max_examples=40, deadline=None)
def test_what_was_tried_least_comes_first(tmp_path_factory, tried, seed):
    """No question is chosen while one that was tried less often is left out."""
    bank = _shared(tmp_path_factory)
    chosen = [family.id for family in choose_families(bank, TOPICS, "short", tried, Random(seed))]
    mine = [tried.get(name, 0) for name in chosen if name.startswith("topic0.")]
    left = [tried.get(f.id, 0) for f in bank.topic("topic0").families if f.id not in chosen]
    assert max(mine) <= min(left)


_BANKS: list = []


def _shared(tmp_path_factory):
    if not _BANKS:
        _BANKS.append(write_bank(tmp_path_factory.mktemp("shared") / "lessons"))
    return _BANKS[0]


def test_an_outline_is_what_the_whole_file_says(tmp_path):
    """Families are listed without reading the file, the same as by reading it; an unusual layout is read."""
    quick, slow = write_every_kind(tmp_path / "lessons"), write_every_kind(tmp_path / "lessons")
    told = [(family.id, family.kind) for family in slow.topic("every_kind").families]
    assert [each[:2] for each in quick.outline("every_kind")] == told
    path = quick.paths["every_kind"]
    path.write_text(path.read_text().replace('kind = "order"', "kind = 'order'"))
    assert [each[:2] for each in quick.outline("every_kind")] == told
    with pytest.raises(UsageError):
        quick.outline("nowhere")


def test_variants_are_fresh():
    """Each question comes in the variant after the last one that was asked."""
    assert plan_variants(["topic0.n1", "topic0.n2"], {"topic0.n1": 4}) == (("topic0.n1", 5), ("topic0.n2", 1))


def test_a_topic_is_found_by_what_people_type(tmp_path):
    """Case, hyphens and a unique beginning do; an ambiguous one and a wrong one are answered with what was meant."""
    bank = write_bank(tmp_path / "lessons", ["softmax", "positional_encoding", "positions"])
    for typed in ("positional-encoding", "Positional", "positional encoding", "positional_encoding"):
        assert find_topic(bank, typed) == "positional_encoding"
    assert find_topic(bank, "softmax") == find_topic(bank, "S") == "softmax"
    with pytest.raises(UsageError, match='could be "positional_encoding" or "positions"'):
        find_topic(bank, "posi")
    with pytest.raises(UsageError, match='did you mean "softmax"'):
        find_topic(bank, "sofmtax")


# ---- one sitting -----------------------------------------------------------------------------------------------------

PLAN = (("topic0.n1", 3), ("topic1.choice", 1), ("topic2.n2", 1))


def test_misses_come_again_at_the_end_with_other_numbers(bank):
    """What was missed is asked once more, in the variant after; what was right is not; then it is over."""
    this = make_session(bank, PLAN)
    first = this.next_turn()
    assert not this.answer(first, "1").full
    for _ in PLAN[1:]:
        assert this.answer(this.next_turn(), right(this.next_turn())).full
    again = this.next_turn()
    assert again.repeated and (again.number, again.total) == (1, 1)
    assert (again.question.family, again.question.attempt) == ("topic0.n1", 4)
    assert again.question.text != first.question.text
    this.answer(again, "1")
    assert this.next_turn() is None
    assert [(answer.attempt, answer.first) for answer in this.answers] == [(3, True), (1, True), (1, True), (4, False)]


def test_an_exam_asks_once(bank):
    """Without repetition a sitting is over when all is answered, and its marks can still be made."""
    this = make_session(bank, PLAN, repeat_missed=False)
    while turn := this.next_turn():
        this.answer(turn, "?")
    assert len(this.answers) == 3
    assert [question.family for question, _ in this.first_answers()] == [family for family, _ in PLAN]


def test_what_is_no_answer_costs_nothing(bank):
    """An unreadable or endless answer is kept nowhere, and the same question waits."""
    kept = Kept()
    this = make_session(bank, PLAN, kept)
    for typed in ("", "many", "1" * 2000):
        with pytest.raises(Unreadable):
            this.answer(this.next_turn(), typed)
    assert kept == [] and this.next_turn().number == 1


def test_not_knowing_is_an_honest_zero(bank):
    """`?` has no credit, no misconception and no certainty, whatever certainty came with it."""
    this = make_session(bank, PLAN)
    assert this.answer(this.next_turn(), " ? ", "sure").credit == 0
    assert (this.answers[0].typed, this.answers[0].certainty, this.answers[0].tags) == ("?", "", ())


def test_an_answer_that_cannot_be_kept_has_no_mark(bank):
    """The mark is told only of an answer that is in the log."""

    class Full:
        def add_answer(self, answer):
            raise OSError("disk full")

    this = Session(bank, Full(), session(finished=None), PLAN, [], SALT)
    with pytest.raises(OSError):
        this.answer(this.next_turn(), right(this.next_turn()))
    assert this.answers == [] and this.next_turn().number == 1


@given(st.lists(st.booleans(), min_size=3, max_size=3), st.lists(st.booleans(), min_size=12, max_size=12))
@settings(max_examples=40, deadline=None)
def test_a_sitting_goes_on_where_it_was(tmp_path_factory, known, breaks):
    """However often it is broken off, the same questions come in the same variants as without a break."""
    bank = _shared(tmp_path_factory)

    def asked(broken: bool) -> list[tuple[str, int, str]]:
        kept, found = Kept(), []
        this = make_session(bank, PLAN, kept)
        while turn := this.next_turn():
            if broken and breaks[len(found) % len(breaks)]:
                this = make_session(bank, PLAN, Kept(kept))
                this.log = kept
                assert this.next_turn() == turn
            found.append((turn.question.family, turn.question.attempt, turn.question.text))
            this.answer(turn, right(turn) if known[len(found) % 3] else "?")
        return found

    assert asked(broken=True) == asked(broken=False)


def test_a_question_that_the_course_dropped_is_passed_over(bank):
    """A sitting from before a new version of the course skips what is gone."""
    this = make_session(bank, (("topic0.gone", 1), ("nowhere.n1", 1), *PLAN))
    assert this.next_turn().question.family == "topic0.n1"
    assert keep_existing(bank, ["topic0.gone", "topic0.n1"]) == ["topic0.n1"]


# ---- what came out ---------------------------------------------------------------------------------------------------


def test_the_outcome_is_of_first_tries(bank):
    """Right answers of the second round change nothing; sure but wrong is listed with its misconception."""
    this = make_session(bank, PLAN)
    first = this.next_turn()
    this.answer(first, str(2 * first.question.answer), "sure")
    while turn := this.next_turn():
        this.answer(turn, right(turn), "fairly")
    result = summarize(this)
    assert (result["answers"], result["right"], result["missed"]) == (3, 2, ["topic0.n1"])
    assert result["again"] == {"answers": 1, "right": 1}
    assert result["predicted"] == 7.0
    assert [(each["family"], each["says"]) for each in result["sure_but_wrong"]] == [
        ("topic0.n1", ["doubled what should stand alone"])
    ]
    guess = (0.02 + 1 / 3 + 0.02) / 3
    assert result["score"] == pytest.approx(10 * (2 / 3 - guess) / (1 - guess - 0.03), abs=0.05)
    assert result["low"] < result["score"] < result["high"]


def test_the_outcome_says_under_which_topics_a_report_has_it(tmp_path):
    """Where a lesson's questions count for topics of other names; of a session on such a topic nothing is said."""
    write_bank(tmp_path)
    path = tmp_path / "core/topic0.quiz.toml"
    path.write_text(path.read_text().replace('id = "topic0.n1"', 'id = "topic0.n1"\ncounts_for = "topic1"'))
    bank = Bank(tmp_path)
    told = []
    for numbers in ((1, 2, 3), (2,)):
        this = make_session(bank, [(f"topic0.n{number}", 1) for number in numbers])
        while turn := this.next_turn():
            this.answer(turn, right(turn))
        told.append(say_where_counted(summarize(this)))
    assert told == ["In the report these questions count for “Topic topic0” (2), “Topic topic1” (1).", ""]


def test_the_outcome_of_nothing(bank):
    """A sitting without answers has no score."""
    result = summarize(make_session(bank, PLAN))
    assert (result["answers"], result["score"], result["topics"]) == (0, None, [])


def test_an_answer_of_a_family_that_is_gone_is_left_out_of_the_outcome(bank):
    """What cannot be shown any more does not count in the sitting's own score."""
    kept = Kept([answered("topic0.gone")])
    assert summarize(make_session(bank, (("topic0.gone", 1), *PLAN), kept))["answers"] == 0
