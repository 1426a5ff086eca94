"""`learn report`: the numbers are those of the assessment, the arithmetic can be done by hand, the page is safe."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.learn_command import TINY, learn, start_workspace
from support.quiz_maker import NOON, TOPICS, answered, session, write_bank
from support.read_page import Page

from grader.model import Claimed, LessonProgress
from grader.quiz.assessment.assessment import LearnerLog, assess
from grader.quiz.bank.bank import Bank
from grader.reports.pages.assessment_page import assessment_page
from grader.store import Store
from grader.store.quiz_log import QuizLog
from grader.workspace import find

KEYS = {"schema", "predicted", "verified", "claimed", "topics", "strengths", "weaknesses", "suggestions"}
WRONG = {"typed": "20", "certainty": "sure"}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The tiny course with a bank of ten topics."""
    root = tmp_path_factory.mktemp("course") / "tiny"
    shutil.copytree(TINY, root)
    write_bank(root / "lessons")
    return root


@pytest.fixture
def workspace(course, tmp_path):
    return start_workspace(tmp_path / "work", course)


def keep(workspace: Path, right: int = 3, marked: bool = True) -> None:
    """A log: in each topic four answers, of which some are right; the last wrong ones with certainty."""
    with Store.open(find(workspace).store_path) as store:
        log = QuizLog(store.database)
        log.begin(session(finished=None), [])
        for name in TOPICS:
            for number in range(1, 5):
                tags = () if number <= right else (f"{name}-doubles",)
                log.add_answer(answered(f"{name}.n{number}", float(number <= right), tags=tags, certainty="sure"))
        log.save_text("s", "topic0", "All that there is to say on the topic, in my own words.", NOON)
        marks = [(f"p{number}", "yes", False) for number in range(1, 6)] + [("trap", "no", True)]
        for point, mark, trap in marks[: None if marked else 1]:
            log.add_claims([Claimed("topic0", point, mark, trap, "s", NOON)])
        log.finish("s", NOON + timedelta(hours=1))


def test_the_object_is_the_documented_one(workspace, course):
    """`--json` prints one object with the documented keys, and the score that the formula gives."""
    keep(workspace)
    printed = json.loads(learn("report", "--json", cwd=workspace, course=course).stdout)
    assert set(printed) >= KEYS and printed["schema"] == 1
    assert printed["verified"]["score"] == round(10 * (0.75 - 0.02) / 0.95, 1)
    assert (printed["predicted"], printed["claimed"]) == (7.0, 10.0)


def test_an_open_answer_that_is_not_marked_to_the_end_claims_nothing(workspace, course):
    """One key point marked of five is no claim of ten."""
    keep(workspace, marked=False)
    assert json.loads(learn("report", "--json", cwd=workspace, course=course).stdout)["claimed"] is None


def test_without_evidence_there_is_a_reason(workspace, course):
    """Before the first answer nothing is verified, and the reason and the next command are there."""
    printed = json.loads(learn("report", "--json", cwd=workspace, course=course).stdout)
    assert printed["verified"] is None and "not enough evidence" in printed["reason"]
    shown = learn("report", cwd=workspace, course=course)
    assert shown.returncode == 0 and "not enough evidence" in " ".join(shown.stdout.split())
    assert "learn quiz topic0" in shown.stdout


def test_what_was_sure_and_wrong_is_shown(workspace, course):
    """The terminal shows four numbers, topics, the misconception by name with its certainty, and what is next."""
    keep(workspace)
    shown = " ".join(learn("report", cwd=workspace, course=course).stdout.split())
    covered = "10 of the assessment's 10 topics covered"
    numbers = ("Predicted 7.0", "Verified 7.7", "Claimed 10.0", covered, "sure right 30 of 40")
    names = ("1 question on topic0", "You doubled what should stand alone, and were sure", "learn read softmax")
    for text in numbers + names:
        assert text in shown, text
    assert "topic0.n4" not in shown  # what a question is called inside says nothing to who answered it


def test_the_arithmetic_can_be_followed(workspace, course):
    """`--explain` begins in words; each mark follows, and sums that give score and interval to the last digit."""
    keep(workspace)
    shown = learn("report", "--explain", cwd=workspace, course=course).stdout
    assert shown.startswith("In short: your score is the share of what you were asked that you know")
    weights = re.findall(r"^  [01]\.00  guess 0\.02  weight (\S+)  topic\d\.n\d #1", shown, re.MULTILINE)
    assert len(weights) == 40 and len(set(weights)) == 1 and 0 < float(weights[0]) < 1
    shares = [float(share) for share in re.findall(r"^  t = .* = (\S+)$", shown, re.MULTILINE)]
    sizes = [(float(n), float(g)) for n, g in re.findall(r"^  n = (\S+), k = \S+, g = (\S+), u", shown, re.MULTILINE)]
    (score,) = map(float, re.findall(r"\) = (\d+\.\d)$", shown, re.MULTILINE))
    assert re.findall(r"^  (\S+), unsure$", shown, re.MULTILINE) == [f"{10 * share:.1f}" for share in shares]
    mean = sum(shares) / 10
    assert len(shares) == len(sizes) == 10 and score == round(10 * mean, 1)
    for name in ("low", "high"):
        ((end, told, apart),) = re.findall(rf"^  {name} (\S+): 1.75 .* = (\S+); from m (\S+)$", shown, re.MULTILINE)
        rights = [(n, 1 - g - 0.03, g + (1 - g - 0.03) * float(end) / 10) for n, g in sizes]
        variance = sum(p * (1 - p) / n / scale**2 for n, scale, p in rights) / 100
        assert float(told) == pytest.approx(1.75 * variance**0.5, abs=1e-3)
        assert float(apart) == pytest.approx(abs(mean - float(end) / 10), abs=1e-3)
        assert float(told) == pytest.approx(float(apart), abs=0.01)


def test_progress_has_the_quiz_once_there_is_one(workspace, course):
    """`learn progress` is silent on the quiz before the first answer; then it has score, trend, and what waits."""
    assert "Quiz" not in learn("progress", cwd=workspace, course=course).stdout
    keep(workspace)
    shown = learn("progress", cwd=workspace, course=course).stdout
    assert "7.7" in shown and "learn review" in shown and "10 questions missed at the first try" in shown
    quiz = json.loads(learn("progress", "--json", cwd=workspace, course=course).stdout)["quiz"]
    assert quiz["verified"]["score"] == 7.7 and quiz["due"] > 0 and len(quiz["history"]) == 1


def test_a_narrow_screen_is_enough(workspace, course):
    """No line is longer than the terminal is wide, at 60 columns and at 80."""
    keep(workspace)
    for columns in (60, 80):
        shown = learn("report", cwd=workspace, course=course, COLUMNS=str(columns)).stdout
        assert max(map(len, shown.splitlines())) <= columns


def test_the_page_is_one_file_and_safe(workspace, course, tmp_path):
    """`--html` writes a page that loads nothing, with the numbers, the plots and the table of the history."""
    keep(workspace)
    done = learn("report", "--html", "page.html", cwd=workspace, course=course)
    assert "Written to page.html" in done.stdout
    page = Page((workspace / "page.html").read_text())
    assert not page.unbalanced and not {"script", "img", "link", "iframe"} & {tag for tag, _ in page.tags}
    assert not [value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "onload")]
    for text in ("7.7 of 10", "Certainty", "History", "1 question on topic0", "Solid: at least 0.7"):
        assert text in page.text, text


def test_text_of_others_is_no_markup(course):
    """What a course's author wrote with angle brackets stands on the page as it was written."""
    assessment = assess(Bank(course / "lessons"), LearnerLog(answers=[answered("topic0.n1")]))
    assessment["topics"][0]["title"] = "<script>alert(1)</script>"
    page = Page(assessment_page(assessment, "<b>course</b>"))
    assert "script" not in {tag for tag, _ in page.tags} and "<script>alert(1)</script>" in page.text


def test_a_page_that_cannot_be_written_is_said(workspace, course):
    """A folder that is not there is an error with the next command, and no traceback."""
    done = learn("report", "--html", "nowhere/page.html", cwd=workspace, course=course)
    assert done.returncode == 2 and "cannot be written" in done.stderr and "Traceback" not in done.stderr


def test_missed_shows_each_question_whole(workspace, course):
    """The question as it was asked, your answer, the right one and why; what was right is not there."""
    keep(workspace)
    shown = learn("report", "--missed", cwd=workspace, course=course)

    assert shown.returncode == 0 and "10 of 10" in shown.stdout and "11 of" not in shown.stdout
    assert shown.stdout.count("You answered: ") == shown.stdout.count("The answer is ") == 10
    assert shown.stdout.rstrip().endswith("learn review   asks it again")


def test_missed_shows_nothing_of_an_exam_that_goes_on(workspace, course):
    """The marks of an exam come with its end."""
    with Store.open(find(workspace).store_path) as store:
        log = QuizLog(store.database)
        log.begin(session(mode="exam", finished=None), [])
        log.add_answer(answered("topic0.n1", 0.0, mode="exam"))

    assert "nothing that you missed" in learn("report", "--missed", cwd=workspace, course=course).stdout


def test_a_course_without_questions_says_so(tmp_path):
    """Where a course has no quiz, the report says that and exits with 2."""
    assert learn("start", "work", cwd=tmp_path).returncode == 0
    done = learn("report", cwd=tmp_path / "work")
    assert done.returncode == 2 and "no questions" in done.stderr


def test_the_page_has_what_was_built(course):
    """An exercise is a number of its own on the page, and the legend tells weak from unsure as the labels do."""
    known = LessonProgress("softmax", 2, 5.5, 5.5, NOON)
    page = assessment_page(
        assess(write_bank(course.parent / "more", ["softmax"]), LearnerLog(progress={"softmax": known})), "Tiny"
    )
    assert "0 checked answers" in page and "of 10, 0 of 1 exercise" in page and "5.0" in page
    assert "Weak: less than 0.5 is known, with 80% certainty" in page


def test_the_day_of_the_page_stands_there_once(course):
    """Where answers are of the day on which the page is made, that day is not said again behind them."""
    assessment = assess(Bank(course / "lessons"), LearnerLog(answers=[answered("topic0.n1")]))
    today = datetime.now(UTC).date().isoformat()
    assessment["as_of"] = {"first": today, "last": today}
    assert Page(assessment_page(assessment, "Tiny")).text.count(today) == 1
