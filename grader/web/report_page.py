"""The report in the browser: that of `learn report`, what was missed, and when it is asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from markupsafe import Markup
from starlette.exceptions import HTTPException

from grader.course.learner_copy import release_of
from grader.model import Answered, Course
from grader.quiz.assessment.assessment import LearnerLog, assess
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import make_variant
from grader.quiz.model import Unreadable
from grader.quiz.open_answers import marked_claims
from grader.quiz.session.schedule import due_times, missed_answers, to_review
from grader.reports.pages.assessment_page import assessment_view
from grader.store.quiz_log import QuizLog
from grader.web.questions.quiz_pages import show_mark
from grader.web.site import Site

WEEKS = 4  # of the calendar
MANY = (0, 1, 4, 10)  # questions of a day from which on its colour is stronger


def report_view(site: Site) -> dict[str, Any]:
    """Return what the page shows."""
    bank = Bank(site.course.root / "lessons")
    if not bank.names:
        raise HTTPException(404, "This course has no questions.")
    progress = site.read_progress()
    with site.open_store() as store:
        log = QuizLog(store.database)
        answers, sessions, salt = log.answers(), log.sessions(), log.salt()
        claims = marked_claims(bank, log.claims(), log.written())
    is_public = release_of(site.course) is not None
    assessment = assess(bank, LearnerLog(answers, claims, sessions, progress, is_public))
    return {
        **assessment_view(assessment, site.course.title, "page.html.j2"),
        "pictures": {
            lesson.title: Markup(drawn)
            for lesson in site.course.lessons.values()
            if (drawn := site.feed.last(lesson.name).get("pictures", "").strip())
        },
        "links": dict(_links(site.course, bank, [*assessment["suggestions"], *assessment["weaknesses"]])),
        "missed": list(_missed(bank, missed_answers(bank, answers, sessions), salt)),
        "weeks": _weeks(to_review(bank, answers)),
    }


def _links(course: Course, bank: Bank, told: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield for each command what does the same in the pages, if anything does."""
    for command in {each["command"] for each in told}:
        match command.split()[1:]:
            case ["quiz"]:
                yield command, {"at": "", "topic": "", "says": "Begin"}
            case ["quiz", topic] if topic in bank.names:
                yield command, {"at": "", "topic": topic, "says": "Ask me"}
            case [_, name] if name in course.lessons:
                yield command, {"at": f"/lesson/{name}", "says": course.lessons[name].title}


def _missed(bank: Bank, answers: Sequence[Answered], salt: str) -> Iterator[dict[str, Any]]:
    for answer in answers:
        question = make_variant(bank, bank.family(answer.family), salt, answer.attempt)
        with suppress(Unreadable):  # the question is another one since
            yield show_mark(bank, question, answer)


def _weeks(answers: Sequence[Answered]) -> list[list[dict[str, Any]]]:
    """Count what is due on each day from today; what is overdue counts today. Empty before the first answer."""
    now = datetime.now().astimezone()
    count = Counter(max(when.astimezone(now.tzinfo).date(), now.date()) for when in due_times(answers).values())
    if not count:
        return []
    days = [now.date() + timedelta(days=each) for each in range(7 * WEEKS)]
    cells = [{"day": day, "count": count[day], "shade": sum(count[day] > most for most in MANY)} for day in days]
    return [cells[7 * week : 7 * week + 7] for week in range(WEEKS)]
