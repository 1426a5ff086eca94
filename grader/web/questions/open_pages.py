"""Open questions in the browser: write, mark the text, read a model answer. `learn quiz open` goes on with the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from grader.quiz.model import OpenQuestion, Topic
from grader.quiz.open_answers import MIN_CHARACTERS, latest_answer, open_questions
from grader.quiz.open_draft import draft_path, recover_draft
from grader.quiz.session.open_answer import MODE, OpenAnswer
from grader.store.quiz_log import PlannedSession
from grader.terminal.text import plural
from grader.web.page import read_form, show_page
from grader.web.questions.open_quiz import Quiz, open_quiz
from grader.web.site import Site

MARKS = ("yes", "partly", "no")
MAX_TEXT = 50_000  # characters


class _Asked(NamedTuple):
    quiz: Quiz
    topic: Topic
    question: OpenQuestion
    planned: PlannedSession | None  # what was begun, and is not finished

    def begin(self) -> OpenAnswer:
        """Return the answer that was begun, or begin one."""
        planned = self.planned or self.quiz.log.begin_session(MODE, [self.topic.name], [])
        return OpenAnswer(self.quiz.log, self.topic, self.question, planned.session.id)


class OpenPages:
    """The pages below /open."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._one_at_a_time = threading.Lock()
        self.routes = [
            Route("/open/{topic}", self.show),
            Route("/open/{topic}", self.act, methods=["POST"]),
        ]

    def show(self, request: Request) -> Response:
        with self._one_at_a_time, self._asked(request) as asked:
            if asked.planned is None:
                return _show(asked, None, "write")
            if asked.planned.plan:
                return RedirectResponse(f"/quiz/{asked.planned.session.id}", 303)
            answer = asked.begin()
            if not answer.is_marked:
                recover_draft(draft_path(asked.quiz.log.database.path, asked.topic.name), answer.text, answer.keep)
            may_mark = "mark" in request.query_params and len(answer.text) >= MIN_CHARACTERS
            return _show(asked, answer, _next_step(answer) if answer.is_marked or may_mark else "write")

    async def act(self, request: Request) -> Response:
        form = await read_form(request)
        return await run_in_threadpool(self._act, request, form)

    def _act(self, request: Request, form: dict[str, str]) -> Response:
        """Keep what was written or marked, and go to the next step."""
        with self._one_at_a_time, self._asked(request) as asked:
            answer, does = asked.begin(), form.get("do", "")
            if does in ("keep", "mark", "skip") and not answer.is_marked:
                draft_path(asked.quiz.log.database.path, asked.topic.name).unlink(missing_ok=True)  # this is newer
                if does == "skip":
                    answer.skip()
                    return _show(asked, answer, "model")
                answer.keep(form.get("text", "").replace("\r\n", "\n").strip()[:MAX_TEXT])
                if does == "keep":
                    return Response(status_code=204)
                if len(answer.text) < MIN_CHARACTERS:
                    reason = f"it has {plural(len(answer.text), 'character')}; {MIN_CHARACTERS} are the least"
                    return _show(asked, answer, "write", reason)
            elif does == "claim" and len(answer.text) >= MIN_CHARACTERS:
                _claim(answer, form)
            elif does == "go" and answer.marking.is_complete and not (asked.planned and asked.planned.plan):
                if not answer.plan_audits():
                    answer.finish()
                return RedirectResponse(f"/quiz/{answer.session}", 303)
            return RedirectResponse(f"/open/{asked.topic.name}?mark=yes", 303)

    @contextmanager
    def _asked(self, request: Request) -> Iterator[_Asked]:
        """Find the question of an address, and the answer that was begun."""
        with open_quiz(self._site) as quiz:
            name = request.path_params["topic"]
            topic = quiz.bank.topic(name) if name in quiz.bank.paths else None
            if topic is None or topic.open is None:
                raise HTTPException(404, "There is no such question.")
            mine = (each for each in quiz.log.unfinished() if each.session.mode == MODE)
            yield _Asked(
                quiz, topic, topic.open, next((each for each in mine if each.session.topics == (topic.name,)), None)
            )


def _claim(answer: OpenAnswer, form: dict[str, str]) -> None:
    """Log the marks of a form, of what has none yet."""
    marking = answer.marking
    for point in answer.question.key_points:
        if point.id not in marking.points and (mark := form.get(f"point {point.id}", "")) in MARKS:
            answer.claim(point.id, mark, False)
    for trap in answer.question.traps:
        if trap.id not in marking.traps and (mark := form.get(f"trap {trap.id}", "")) in ("yes", "no"):
            answer.claim(trap.id, mark, True)


def _next_step(answer: OpenAnswer) -> str:
    return "points" if answer.marking.next_point else "traps" if answer.marking.next_trap else "model"


def _show(asked: _Asked, answer: OpenAnswer | None, step: str, reason: str = "") -> Response:
    marking = answer.marking if answer else None
    points, traps = (marking.points, marking.traps) if marking else ({}, {})
    view = {
        "topic": asked.topic,
        "question": asked.question,
        "asks": asked.question.asks.split("\n\n"),
        "model_answer": asked.question.model_answer.split("\n\n"),
        "text": answer.text if answer else "",
        "step": step,
        "reason": reason,
        "least": MIN_CHARACTERS,
        "points": [point for point in asked.question.key_points if point.id not in points],
        "traps": [trap for trap in asked.question.traps if trap.id not in traps],
        "fixes": [trap for trap in asked.question.traps if traps.get(trap.id) == "yes"],
        "missing": answer.missing_points if answer else [],
    }
    return show_page("open", view, 422 if reason else 200)


def list_open(quiz: Quiz) -> list[dict[str, Any]]:
    """Return the open questions with how far the learner is with each."""
    log = quiz.log
    sessions, claims, texts = log.sessions(), log.claims(), {session: text for session, _, text, _ in log.texts()}
    found = []
    for number, topic in open_questions(quiz.bank).items():
        known = latest_answer(topic.open, sessions, texts, claims) if topic.open else None
        states = {"begun": "begun", "written": "not all marked", "skipped": "skipped", "": ""}
        state = states.get(known.state if known else "", "")
        if known and known.state == "marked":
            state = f"{known.marking.credit:g} of {len(known.marking.question.key_points)} points claimed"
        found.append({"number": number, "name": topic.name, "title": topic.title, "state": state})
    return found


def audit_view(quiz: Quiz, planned: PlannedSession) -> dict[str, Any]:
    """Return what the end of an answer shows: what was claimed, and what of it should be checked again."""
    topic = quiz.bank.topic(planned.session.topics[0])
    assert topic.open is not None
    answer = OpenAnswer(quiz.log, topic, topic.open, planned.session.id)
    answers = quiz.log.answers(planned.session.id)
    return {
        "topic": topic,
        "credit": f"{answer.marking.credit:g}",
        "count": len(topic.open.key_points),
        "again": answer.doubted_points,
        "right": sum(each.credit >= 1 for each in answers),
        "answers": len(answers),
    }
