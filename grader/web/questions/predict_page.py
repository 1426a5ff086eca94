"""The page that asks, before the first question, which score one expects."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from grader.quiz.assessment.calibration import SCALE_SAYS, describe_past_bias
from grader.quiz.session.plan import count_minutes
from grader.terminal.text import plural
from grader.web.page import show_page
from grader.web.questions.open_quiz import Quiz

KEPT = ("topic", "mode", "few")  # fields that the form sends again


def ask_prediction(quiz: Quiz, title: str, count: int, form: Mapping[str, str], reason: str = "") -> Response:
    """Ask for the score of a session of so many questions that `form` asked for; the answer may stay empty."""
    marks = "The marks come at the end." if form.get("mode") == "exam" else "You see each mark at once."
    view = {
        "title": title,
        "says": f"{plural(count, 'question')}, about {plural(count_minutes(count), 'minute')}. {marks}",
        "scale": SCALE_SAYS,
        "past": describe_past_bias(quiz.log.sessions(), quiz.log.answers()),
        "fields": {name: form[name] for name in KEPT if name in form},
        "typed": form.get("predicted", ""),
        "reason": reason,
    }
    return show_page("predict", view, 422 if reason else 200)
