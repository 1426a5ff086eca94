"""The assessment: three numbers that never mix, and findings that can be traced to answers."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.course_files import ROOT
from support.quiz_maker import NOON, TOPICS, answered, session, write_bank

from grader.model import Claimed, LessonProgress, Named
from grader.quiz.assessment.assessment import LearnerLog, assess
from grader.quiz.assessment.misconceptions import shown_misconceptions
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.lint import find_problems


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    return write_bank(tmp_path_factory.mktemp("course") / "lessons")


def all_answers(right: int, count: int = 4) -> list:
    """In every topic `count` answers, of which the first `right` are right."""
    return [answered(f"{name}.n{number}", float(number <= right)) for name in TOPICS for number in range(1, count + 1)]


def claim(mark: str, point: str = "p1", trap: bool = False, **changes) -> Claimed:
    return Claimed(
        **{"topic": "topic0", "point": point, "mark": mark, "trap": trap, "session": "s", "when": NOON, **changes}
    )


def test_the_bank_that_tests_use_is_sound(bank):
    """The questions made for these tests pass the lint that the course's own have to pass."""
    assert list(find_problems(bank, bank.topics())) == []


def test_nothing_answered_is_no_score(bank):
    """Without evidence there is a reason in place of a number, and topics to begin with."""
    report = assess(bank, LearnerLog())
    assert report["verified"] is None and "0 of the assessment's 10 topics" in report["reason"]
    assert (report["predicted"], report["claimed"], report["strengths"], report["weaknesses"]) == (None, None, [], [])
    assert [each["command"] for each in report["suggestions"]] == [
        "learn quiz",
        *(f"learn quiz {name}" for name in TOPICS[:2]),
    ]


def test_a_course_of_two_topics_needs_both(tmp_path):
    """Where there are fewer topics than a score needs elsewhere, it needs all of them."""
    small = write_bank(tmp_path / "lessons", TOPICS[:2])
    answers = [answered(f"{name}.n{number}") for name in TOPICS[:2] for number in range(1, 5)]
    assert assess(small, LearnerLog(answers=answers[:4]))["reason"].startswith(
        "not enough evidence: 1 of the assessment's 2 topics covered, 2"
    )
    assert assess(small, LearnerLog(answers=answers))["verified"]["score"] == 10.0


def test_three_of_four_by_hand(bank):
    """Three of four typed answers in each of ten topics: 10 x (0.75 - 0.02) / 0.95, as done on paper."""
    report = assess(bank, LearnerLog(answers=all_answers(3), sessions=[session()]))
    assert report["verified"]["score"] == round(10 * 0.73 / 0.95, 1)
    assert report["verified"]["low"] < report["verified"]["score"] < report["verified"]["high"]
    assert report["predicted"] == 7.0 and report["answers"] == 40
    assert {topic["label"] for topic in report["topics"]} == {"unsure"}


def test_claims_never_touch_what_is_verified(bank):
    """Marking every key point as met changes the claimed number alone."""
    without = assess(bank, LearnerLog(answers=all_answers(3)))
    claims = [claim("yes", f"p{number}", topic=name) for name in TOPICS for number in range(1, 6)]
    with_claims = assess(bank, LearnerLog(answers=all_answers(3), claims=claims))
    assert with_claims["claimed"] == 10.0 and without["claimed"] is None
    assert with_claims["verified"] == without["verified"] and with_claims["topics"] == without["topics"]


def test_partly_is_half_and_the_last_mark_counts(bank):
    """A point marked twice counts as it was marked last; partly is half a point."""
    claims = [claim("no", "p1"), claim("yes", "p1", when=NOON + timedelta(hours=1)), claim("partly", "p2")]
    assert assess(bank, LearnerLog(claims=claims))["claimed"] == 7.5


def test_only_the_latest_first_try_counts(bank):
    """A second try after feedback changes nothing; a first try in a sitting of another day does."""
    wrong = [answered("topic0.n1", 0.0), answered("topic0.n2"), answered("topic0.n3")]
    retried = [*wrong, answered("topic0.n1", 1.0, first=False, when=NOON + timedelta(minutes=5))]
    later = [*retried, answered("topic0.n1", 1.0, session="t", when=NOON + timedelta(days=1))]
    right = [assess(bank, LearnerLog(answers=log))["topics"][0]["right"] for log in (wrong, retried, later)]
    assert right == [2, 2, 3]


def test_a_misconception_is_named_while_the_latest_answer_shows_it(bank):
    """Sure-but-wrong comes first, with the questions that show it; a later right answer takes it away."""
    log = [
        answered("topic0.n1", 0.0, tags=("topic0-doubles",)), answered("topic0.n2", 0.0, tags=("topic0-doubles",)),
        answered("topic1.n1", 0.0, tags=("topic1-doubles",), certainty="sure"),
    ]  # fmt: skip
    weak = assess(bank, LearnerLog(answers=log))["weaknesses"]
    assert [(each["id"], each["sure"], each["families"]) for each in weak] == [
        ("topic1-doubles", 1, ["topic1.n1"]), ("topic0-doubles", 0, ["topic0.n1", "topic0.n2"]),
    ]  # fmt: skip
    better = [*log, answered("topic1.n1", when=NOON + timedelta(days=2))]
    assert [each["id"] for each in assess(bank, LearnerLog(answers=better))["weaknesses"]] == ["topic0-doubles"]


def test_suggestions_are_few_and_say_why(bank):
    """At most three, each command once, with the questions that led to it."""
    log = [answered(f"{name}.n{number}", 0.0, tags=(f"{name}-doubles",)) for name in TOPICS for number in (1, 2, 3, 4)]
    found = assess(bank, LearnerLog(answers=log))["suggestions"]
    assert len(found) == 3 and len({each["command"] for each in found}) == 3
    assert found[0]["command"] == "learn read softmax" and "topic0.n1" in found[0]["because"]


def test_no_advice_is_to_check_a_lesson_that_is_solved():
    """What a misconception is to be tried on is read again once it is solved."""
    bank, shown = Bank(ROOT / "lessons"), [answered("softmax.n1", 0.0, tags=("softmax-in-place",))]
    solved = LessonProgress("softmax", 1, 10.0, 10.0, NOON, NOON)
    for progress, command in (({}, "learn check softmax"), ({"softmax": solved}, "learn read softmax")):
        assert [each["command"] for each in shown_misconceptions(bank, shown, progress)] == [command]


def test_a_claim_that_an_audit_contradicts_is_to_be_looked_at_again(bank):
    """A key point that was claimed, and whose question was missed, is listed with that question."""
    report = assess(
        bank, LearnerLog(answers=[answered("topic0.n1", 0.0)], claims=[claim("yes", "p3"), claim("no", "p4")])
    )
    assert [(each["point"], each["families"]) for each in report["contradicted"]] == [("p3", ["topic0.n1"])]


def test_an_exercise_is_built_and_never_verified(tmp_path):
    """Exercises are a number of their own: the share that was solved before its solution was seen, with the effort."""
    course = write_bank(tmp_path / "lessons", ["softmax", *TOPICS])
    names = ["softmax", *TOPICS[:3]]
    progress = {
        "softmax": LessonProgress("softmax", 40, 10.0, 10.0, NOON, NOON, hints_used=9),
        "topic0": LessonProgress("topic0", 2, 10.0, 10.0, NOON, NOON, solution_seen=True, gave_up=True),
        "topic1": LessonProgress(
            "topic1", 3, 5.5, 1.0, NOON, last_mistakes=(Named("exception", "f", "It is so.", ""),)
        ),
        "topic2": LessonProgress("topic2"),
    }
    report = assess(course, LearnerLog(progress=progress))
    assert report["verified"] is None and report["answers"] == 0 and report["strengths"] == []
    assert not any(topic["items"] for topic in report["topics"])
    built = report["built"]
    assert (built["score"], built["solved"], built["of"], built["tries"], built["hints"]) == (2.5, 1, len(names), 45, 9)
    scores = {each["lesson"]: (each["score"], each["solved"], each["seen"]) for each in built["exercises"]}
    assert scores == {"softmax": (10.0, True, False), "topic0": (10.0, False, True), "topic1": (5.5, False, False)}


def test_a_stub_and_a_syntax_error_are_no_wrong_answers(tmp_path):
    """Neither an untouched stub nor a file that Python cannot read counts against what a learner knows."""
    course = write_bank(tmp_path / "lessons", ["softmax", *TOPICS])
    right = [answered(f"softmax.n{number}") for number in range(1, 4)]
    for mistake in ("stub", "syntax-error"):
        named = (Named(mistake, "f", "It is so.", ""),)
        known = LessonProgress("softmax", 1, 1.0, 1.0, NOON, last_mistakes=named)
        report = assess(course, LearnerLog(answers=right, progress={"softmax": known}), NOON)
        assert (report["topics"][0]["items"], report["topics"][0]["share"] > 1) == (3, True)
        assert (report["built"]["solved"], len(report["built"]["exercises"])) == (0, int(mistake != "stub"))


def test_what_was_solved_stays_so_where_the_file_was_reset(bank):
    """A check of an untouched stub takes nothing from what was built before."""
    stub = (Named("stub", "f", "Nothing is written.", ""),)
    known = LessonProgress("softmax", 3, 10.0, 1.0, NOON, solved_when=NOON, last_mistakes=stub)
    found = assess(bank, LearnerLog(progress={"softmax": known}), NOON)["built"]

    assert (found["solved"], found["tries"], [each["lesson"] for each in found["exercises"]]) == (1, 3, ["softmax"])


def test_solid_becomes_mastered_only_a_week_later(bank):
    """Solid in one evening is solid; solid again a week later in a mixed sitting is mastered."""
    first = [answered(f"topic0.n{number}") for number in range(1, 5)]
    sessions = [session(), session("t", days=8)]
    later = [answered(f"topic0.n{n}", session="t", when=NOON + timedelta(days=8), attempt=2) for n in range(1, 5)]
    evening, week_after = NOON + timedelta(hours=1), NOON + timedelta(days=8, hours=1)
    assert assess(bank, LearnerLog(answers=first, sessions=sessions), evening)["topics"][0]["mastered"] is False
    assert (
        assess(bank, LearnerLog(answers=first + later, sessions=sessions), week_after)["topics"][0]["mastered"] is True
    )


def test_certainty_is_a_line_of_its_own(bank):
    """Certainty is compared with correctness, and changes no score; no verdict under twenty answers."""
    few = assess(bank, LearnerLog(answers=[answered("topic0.n1", 0.0, certainty="sure"), answered("topic0.n2")]))
    assert [(row["certainty"], row["right"], row["answers"]) for row in few["certainty"]] == [
        ("sure", 0, 1), ("fairly", 1, 1), ("guess", 0, 0),
    ]  # fmt: skip
    assert few["brier"] is None
    assert assess(bank, LearnerLog(answers=all_answers(4)))["brier"] == pytest.approx(0.09)


def test_predictions_are_compared_with_what_came_out(bank):
    """The history tells by how much each prediction was too high, and the mean of the last ones."""
    report = assess(bank, LearnerLog(answers=all_answers(2), sessions=[session(predicted=9.0)]))
    scored = round(10 * (0.5 - 0.02) / 0.95, 1)
    assert report["history"][0]["scored"] == scored
    assert report["bias"] == pytest.approx(9.0 - scored, abs=0.06)


def test_a_question_that_is_gone_is_no_evidence(bank):
    """An answer to a family that the bank has no more is passed over."""
    assert assess(bank, LearnerLog(answers=[answered("topic0.gone"), answered("nowhere.n1")]))["answers"] == 0
