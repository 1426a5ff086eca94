"""When a question comes back: the schedule, and `learn review`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.quiz_maker import NOON, TOPICS, answered, write_bank
from support.quiz_workspace import Workspace, kinds, of

from grader.quiz.session.schedule import due, due_times, missed, next_due, rating, to_review

DAY = timedelta(days=1)
ALL = ("--length", "full")  # five questions of a topic, in place of three


def days_until(*answers) -> int:
    """In how many days after its last answer a question is due."""
    (when,) = due_times(answers).values()
    return round((when - answers[-1].when) / DAY)


def row(*credits: float, every: int = 5, **changes) -> list:
    """Answers to one question, some days apart."""
    return [answered("topic0.n1", credit, when=NOON + DAY * every * n, **changes) for n, credit in enumerate(credits)]


# ---- the schedule ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "credit, certainty, expected",
    [(1.0, "sure", "good"), (1.0, "fairly", "good"), (1.0, "", "good"), (1.0, "guess", "hard"), (0.5, "sure", "again"),
     (0.0, "guess", "again")],
)  # fmt: skip
def test_what_an_answer_is_to_the_scheduler(credit, certainty, expected):
    """Wrong, also in part, is "again"; right but guessed "hard"; right "good"; nothing is "easy"."""
    assert rating(answered("topic0.n1", credit, certainty=certainty)) == expected


def test_what_was_missed_comes_back_tomorrow_and_what_was_known_ever_later():
    """One day after a miss; right answers in a row push it further each time; a guess less than knowing."""
    assert days_until(*row(0.0)) == 1
    growing = [days_until(*row(*[1.0] * count)) for count in (1, 2, 3, 4)]
    assert growing == sorted(set(growing)) and growing[0] >= 2
    assert days_until(*row(1.0, certainty="guess")) <= growing[0]


def test_sure_but_wrong_is_back_within_a_week():
    """However long a question was known: sure and wrong comes back after seven days at the latest."""
    known = row(*[1.0] * 8, every=60)
    last = answered("topic0.n1", 0.0, certainty="sure", when=known[-1].when + 400 * DAY)
    assert 1 <= days_until(*known, last) <= 7
    fairly = answered("topic0.n1", 0.0, certainty="fairly", when=last.when)
    assert days_until(*known, last) <= days_until(*known, fairly)


def test_a_second_try_after_feedback_changes_nothing():
    """The schedule rests on first tries, as the score does."""
    first = row(0.0)
    retried = [*first, answered("topic0.n1", 1.0, first=False, when=NOON + timedelta(minutes=3))]
    assert due_times(first) == due_times(retried)


def test_due_is_a_matter_of_days():
    """A question answered at eight in the evening is due the whole of the day on which it comes back."""
    evening = datetime(2026, 3, 1, 20, 0, tzinfo=UTC)
    log = [answered("topic0.n1", 0.0, when=evening), answered("topic0.n2", 1.0, when=evening)]
    assert due(log, datetime(2026, 3, 1, 23, 59, tzinfo=UTC)) == []
    assert due(log, datetime(2026, 3, 2, 0, 1, tzinfo=UTC)) == ["topic0.n1"]
    assert next_due(log, evening) == (date(2026, 3, 2), 1)
    tokyo = timezone(timedelta(hours=9))  # where it was answered on the second
    assert due(log, datetime(2026, 3, 2, 23, 59, tzinfo=tokyo)) == []
    assert due(log, datetime(2026, 3, 3, 0, 1, tzinfo=tokyo)) == ["topic0.n1"]
    assert due([], NOON) == [] and next_due([], NOON) is None


def test_what_never_varies_is_reviewed_until_it_is_right(tmp_path):
    """A static question that was answered right is not asked again, one that was missed is; so is a varied one."""
    bank = write_bank(tmp_path / "lessons", TOPICS[:1])
    log = [answered("topic0.choice", 0.0), answered("topic0.n1"), answered("topic0.gone")]
    assert {each.family for each in to_review(bank, log)} == {"topic0.choice", "topic0.n1"}
    known = [*log, answered("topic0.choice", session="t", when=NOON + DAY)]
    assert {each.family for each in to_review(bank, known)} == {"topic0.n1"}


def test_sure_but_wrong_is_asked_first():
    """Of what is due, what was sure but wrong comes first, then what has waited longest."""
    log = [
        answered("topic0.n1", 0.0, when=NOON - 9 * DAY), answered("topic0.n2", 0.0, when=NOON - 5 * DAY),
        answered("topic0.n3", 0.0, certainty="sure", when=NOON - 2 * DAY),
    ]  # fmt: skip
    assert due(log, NOON) == ["topic0.n3", "topic0.n1", "topic0.n2"]


def test_missed_is_what_the_latest_first_try_says():
    """A question that was missed and is known by now is no longer among them."""
    log = [
        *row(0.0, 1.0), answered("topic0.n2", 0.5), answered("topic0.n3", 0.0, certainty="sure"),
        answered("topic0.n4", 0.0, when=NOON + DAY), answered("topic0.n4", 1.0, first=False, when=NOON + DAY),
    ]  # fmt: skip
    assert missed(log) == ["topic0.n3", "topic0.n4", "topic0.n2"]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from(["", "guess", "fairly", "sure"]),
                          st.floats(0, 90)), min_size=1, max_size=8))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_the_log_is_the_only_truth(history):
    """The same log gives the same schedule, always after the last answer, whatever the order it is read in."""
    when, log = NOON, []
    for credit, certainty, gap in history:
        when += timedelta(days=gap, minutes=1)
        log.append(answered("topic0.n1", credit, certainty=certainty, when=when))
    assert due_times(log) == due_times(list(reversed(log)))
    (found,) = due_times(log).values()
    assert found >= when + DAY * 0.9


# ---- the commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def test_nothing_is_due_before_anything_was_answered(workspace):
    """A fresh learner is sent to the quiz, in words and as an event."""
    assert "no question was answered yet" in workspace.learn("review").stdout
    (event,) = workspace.events("review", code=0)
    assert (event["event"], event["due"], event["next"]) == ("nothing", None, ["learn quiz"])
    assert workspace.events("quiz", "redo", code=0)[0]["event"] == "nothing"


def test_a_review_asks_what_is_due_in_fresh_variants(workspace):
    """The day after, what was missed is asked again with other numbers; before, it is said when that will be."""
    first = workspace.events("quiz", "topic0", *ALL, stdin="?\n" * 10, code=0)
    assert workspace.events("review", code=1)[0]["questions"] == 5  # nothing is due; all of it was missed
    workspace.days_pass(1)
    done = workspace.events("review", "--most", "3", stdin="?\n" * 10, code=0)
    asked = of(done, "question")[:3]
    before = {(event["family"], event["attempt"]) for event in of(first, "question")}
    assert done[0]["mode"] == "review" and done[0]["questions"] == 3
    assert not before & {(event["family"], event["attempt"]) for event in asked}
    assert done[-1]["next"] == ["learn review", "learn report"]
    rest = [event["family"] for event in of(workspace.events("review", stdin="?\n" * 10), "question")[:5]]
    assert set(rest[2:]) == {event["family"] for event in asked}  # behind the two that are due


def test_a_review_of_yesterday_is_over(workspace):
    """One that was broken off goes on the same day; on another day what is due then is asked."""
    workspace.events("quiz", "topic0", *ALL, stdin="?\n" * 10)
    workspace.days_pass(1)
    broken = workspace.events("review", stdin="?\n", code=1)
    assert kinds(broken)[-1] == "stopped" and broken[-1]["next"] == "learn review"
    again = workspace.events("review", stdin="?\n", code=1)
    assert again[0]["resumed"] and again[0]["id"] == broken[0]["id"] and again[0]["answered"] == 1
    workspace.days_pass(1)
    later = workspace.events("review", stdin="", code=1)
    assert not later[0]["resumed"] and later[0]["questions"] == 5


def test_what_was_missed_comes_behind_what_is_due(workspace):
    """Everything missed, until it is right at a first try; then it is said when what is due. So is `redo`."""
    events = workspace.events("quiz", "topic0", *ALL, code=1)
    question = of(events, "question")[0]
    events = workspace.events(
        "quiz", "topic0", *ALL, stdin="\n".join([workspace.answer(question), *["?"] * 8, ""]), code=0
    )
    missed_families = events[-1]["missed"]
    assert len(missed_families) == 4 and question["family"] not in missed_families
    again = workspace.events("quiz", "redo", code=1)
    assert again[0]["mode"] == "review" and again[0]["questions"] == 4
    shown, typed = of(again, "question")[0], []
    while len(typed) < 4:
        typed.append(workspace.answer(shown))
        again = workspace.events("review", stdin=f"{typed[-1]}!\n")
        shown = of(again, "question")[-1]
    assert again[-1]["event"] == "end" and again[-1]["right"] == 4
    assert workspace.events("review")[0]["event"] == "nothing"
    assert re.search(r"Nothing is due. Next: \d questions? (tomorrow|on )", workspace.learn("quiz", "redo").stdout)


def test_questions_that_are_gone_are_not_asked(workspace):
    """A family that a new version of the course dropped is neither due nor missed."""
    workspace.events("quiz", "topic0", *ALL, stdin="?\n" * 10)
    path = workspace.course / "lessons/core/topic0.quiz.toml"
    path.write_text(path.read_text().replace("topic0.n1", "topic0.other"))
    workspace.days_pass(1)
    assert workspace.events("review")[0]["questions"] == 4
