"""The quiz in the browser: one question a page. The sitting is the terminal's, and goes on there or here."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from html import escape
from random import Random
from time import monotonic
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from grader.model import CERTAINTIES, DONT_KNOW, Answered
from grader.quiz.assessment.calibration import SCALE_SAYS, meaning, parse_prediction
from grader.quiz.bank.bank import Bank
from grader.quiz.expressions import NotAnExpression
from grader.quiz.formula_latex import to_latex
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import letter_options
from grader.quiz.model import Question, Unreadable
from grader.quiz.session.open_answer import MODE
from grader.quiz.session.plan import choose_families, keep_existing, plan_variants
from grader.quiz.session.schedule import ask_again, to_review
from grader.quiz.session.session import (
    Session,
    Turn,
    describe_part,
    is_sure_but_wrong,
    mark_answer,
    restore_session,
    verdict_on,
)
from grader.quiz.session.summary import make_remarks, summarize
from grader.store.quiz_log import PlannedSession
from grader.terminal.text import unwrap
from grader.web.formula import formula_html
from grader.web.page import read_form, show_page
from grader.web.questions.code_marks import mark_code
from grader.web.questions.open_pages import audit_view, list_open
from grader.web.questions.open_quiz import Quiz, open_quiz
from grader.web.questions.predict_page import ask_prediction
from grader.web.site import Site

MODES = ("quiz", "exam", "review", "redo", MODE)
MOST_REVIEWED = 20
FEW = 3  # questions beside the text of a lesson
LETTERED = ("choice", "multi")  # kinds answered by picking options


class QuizPages:
    """The pages below /quiz."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._asked: dict[tuple[str, str, int], float] = {}  # when a question was first shown
        self._one_at_a_time = threading.Lock()  # two windows must not answer the same question
        self.routes = [
            Route("/quiz", self.choose),
            Route("/quiz", self.begin, methods=["POST"]),
            Route("/quiz/{id}", self.question),
            Route("/quiz/{id}", self.answer, methods=["POST"]),
            Route("/quiz/{id}/mark", self.mark),
            Route("/quiz/{id}/reading", self.show_reading),
        ]

    # --- which sitting ------------------------------------------------------------------------------------------------

    def choose(self, request: Request) -> Response:
        """Show what was broken off, what is due, and the topics."""
        with open_quiz(self._site) as quiz:
            waiting = [_describe(quiz, each) for each in quiz.log.unfinished() if _is_there(quiz, each)]
            groups = {
                title: [{"name": name, "title": quiz.bank.topic(name).title} for name in names]
                for title, names in quiz.bank.groups.items()
            }
            again = len(_to_ask_again(quiz))
            assessed, opened = len(quiz.bank.assessed), list_open(quiz)
        view = {"waiting": waiting, "groups": groups, "again": again, "assessed": assessed, "opened": opened}
        return show_page("quiz", view)

    async def begin(self, request: Request) -> Response:
        """Begin a sitting on a topic, the assessment (no topic) or a review; one that is broken off goes on."""
        form = await read_form(request)
        if family := form.get("family"):
            return await run_in_threadpool(self._ask_one, family)
        return await run_in_threadpool(self._begin, form)

    def _ask_one(self, family: str) -> Response:
        """Ask one question again, with other numbers."""
        with open_quiz(self._site) as quiz, self._one_at_a_time:
            if quiz.bank.find_family(family) is None:
                raise HTTPException(404, "There is no such question.")
            topics = [quiz.bank.family(family).topic]
            return _go(quiz.log.begin_session("redo", topics, plan_variants([family], quiz.log.asked())).session.id)

    def _begin(self, form: dict[str, str]) -> Response:
        topic, mode, count = form.get("topic", ""), form.get("mode", "quiz"), FEW if form.get("few") else None
        topics: tuple[str, ...] = ()
        with open_quiz(self._site) as quiz, self._one_at_a_time:
            if mode == "review":
                families = _to_ask_again(quiz)[:MOST_REVIEWED]
            elif topic and topic not in quiz.bank.names:
                raise HTTPException(404, "There is no such topic.")
            else:
                mode = "exam" if mode == "exam" else "quiz"
                topics = (topic,) if topic else tuple(quiz.bank.assessed or quiz.bank.names)
                chosen = choose_families(quiz.bank, topics, "short", quiz.log.tried(), Random())
                families = [family.id for family in chosen][:count]
            for planned in quiz.log.unfinished():
                if planned.session.mode == mode and (planned.session.topics == topics or mode == "review"):
                    return _go(planned.session.id)
            if not families:
                return _go("")
            predicted, typed, reason = None, form.get("predicted", "").strip(), ""
            try:
                predicted = parse_prediction(typed) if typed else None
            except Unreadable as error:
                reason = str(error)
            if mode != "review" and (reason or "begin" not in form):  # what is due again is asked without, as there
                return ask_prediction(quiz, _title(quiz, topics), len(families), form, reason)
            topics = topics or tuple(dict.fromkeys(family.partition(".")[0] for family in families))
            planned = quiz.log.begin_session(mode, topics, plan_variants(families, quiz.log.asked()), predicted)
            return _go(planned.session.id)

    # --- one question -------------------------------------------------------------------------------------------------

    def question(self, request: Request) -> Response:
        with self._sitting(request) as (quiz, session):
            if session.data.mode == MODE and session.data.finished is None and not session.plan:
                return RedirectResponse(f"/open/{session.data.topics[0]}", 303)
            turn = session.next_turn()
            if turn is None:
                waits = session.data.mode == "exam" and session.data.finished is None
                return self._ask_expected(session) if waits else self._end(quiz, session)
            return self._ask(quiz, session, turn)

    def _ask(
        self, quiz: Quiz, session: Session, turn: Turn, typed: str = "", reason: str = "", told: str = ""
    ) -> Response:
        question = turn.question
        self._asked.setdefault((session.data.id, question.family, question.attempt), monotonic())
        view = {
            **show_question(quiz.bank, question),
            "turn": turn,
            "typed": typed,
            "reason": reason,
            "told": told,
            "how": KINDS[question.kind].instructions(question),
            "is_read": question.kind in ("formula", "numeric"),
            "picks": question.kind if question.kind in LETTERED else "",
            "certainties": [(word, meaning(word, question.kind)) for word in CERTAINTIES],
            "id": session.data.id,
        }
        return show_page("question", view, 422 if reason else 200)

    def show_reading(self, request: Request) -> Response:
        """Show how a formula or number is read that is being typed; nothing of any other answer."""
        with self._sitting(request) as (_, session):
            turn, typed = session.next_turn(), request.query_params.get("typed", "").strip()
            try:
                read = KINDS[turn.question.kind].read(turn.question, typed) if turn and typed else None
            except NotAnExpression as error:
                return HTMLResponse(escape(f"Not read yet: {error}."))
            return HTMLResponse(formula_html([to_latex(read.tree)]) if read else "")

    async def answer(self, request: Request) -> Response:
        form = await read_form(request, "typed")
        return await run_in_threadpool(self._answer, request, form)

    def _answer(self, request: Request, form: dict[str, str]) -> Response:
        """Keep an answer, then show its mark; what is no answer costs nothing."""
        with self._one_at_a_time, self._sitting(request) as (quiz, session):
            turn = session.next_turn()
            if turn is None and "expected" in form:
                return self._end_exam(quiz, session, form["expected"].strip())
            asked = (form.get("family"), form.get("attempt"))
            if turn is None or asked != (turn.question.family, str(turn.question.attempt)):
                return self._meet(quiz, session, turn, form)
            certainty, typed = form.get("certainty", ""), _typed(form, turn.question)
            key = (session.data.id, turn.question.family, turn.question.attempt)
            seconds = monotonic() - self._asked.pop(key, monotonic())
            try:
                session.answer(turn, typed, certainty if certainty in CERTAINTIES else "", seconds)
            except Unreadable as error:
                return self._ask(quiz, session, turn, typed, str(error))
            if session.data.mode != "exam" and session.next_turn() is None:
                quiz.log.finish(session.data.id, datetime.now(UTC))  # whoever leaves at the last mark is done, too
            return _go(session.data.id if session.data.mode == "exam" else f"{session.data.id}/mark")

    def _meet(self, quiz: Quiz, session: Session, turn: Turn | None, form: dict[str, str]) -> Response:
        """Tell whoever answers what was answered meanwhile, in a terminal or another window, which of both counts."""
        asked = (form.get("family"), form.get("attempt"))
        kept = next((each for each in session.answers[::-1] if (each.family, str(each.attempt)) == asked), None)
        if kept is None:
            return _go(session.data.id)
        typed = _typed(form, session.question_of(kept)).strip()
        if typed == kept.typed.strip():  # sent twice
            return _go(session.data.id if session.data.mode == "exam" else f"{session.data.id}/mark")
        told = f"This question was answered meanwhile, in a terminal or another window, with {kept.typed}. That counts"
        told += f", and what you gave here does not: {typed}." if typed else "; here you gave none."
        if session.data.mode == "exam":
            return self._ask(quiz, session, turn, told=told) if turn else self._ask_expected(session, told=told)
        marked = show_mark(quiz.bank, session.question_of(kept), kept)
        return show_page("mark", {"marked": marked, "id": session.data.id, "told": told})

    def mark(self, request: Request) -> Response:
        """Show the mark of the last answer, option by option."""
        with self._sitting(request) as (quiz, session):
            if not session.answers or session.data.mode == "exam":
                return _go(session.data.id)
            answer = session.answers[-1]
            question = session.question_of(answer)
            return show_page(
                "mark", {"marked": show_mark(quiz.bank, question, answer), "id": session.data.id, "told": ""}
            )

    def _ask_expected(self, session: Session, reason: str = "", told: str = "") -> Response:
        """Ask for the score that is expected of an exam, before its marks are shown."""
        view = {"id": session.data.id, "scale": SCALE_SAYS, "reason": reason, "told": told}
        return show_page("expected", view, 422 if reason else 200)

    def _end_exam(self, quiz: Quiz, session: Session, typed: str) -> Response:
        try:
            if typed and session.data.finished is None:
                quiz.log.set_prediction_after(session.data.id, parse_prediction(typed))
        except Unreadable as error:
            return self._ask_expected(session, str(error))
        quiz.log.finish(session.data.id, datetime.now(UTC))
        return _go(session.data.id)

    def _end(self, quiz: Quiz, session: Session) -> Response:
        if session.data.finished is None:
            quiz.log.finish(session.data.id, datetime.now(UTC))
        if session.data.mode == MODE:
            return show_page("open_end", audit_view(quiz, PlannedSession(session.data, session.plan)))
        summary = summarize(session, quiz.log.answers(), quiz.log.sessions())
        marks = _marks(quiz, session) if session.data.mode == "exam" else []
        view = {"summary": summary, "says": make_remarks(summary), "marks": marks}
        return show_page("quiz_end", {**view, "title": _title(quiz, session.data.topics)})

    @contextmanager
    def _sitting(self, request: Request) -> Iterator[tuple[Quiz, Session]]:
        """Restore the sitting of an address."""
        with open_quiz(self._site) as quiz:
            planned = quiz.log.session(request.path_params["id"])
            if planned is None or planned.session.mode not in MODES:
                raise HTTPException(404, "There is no such session here.")
            yield quiz, restore_session(quiz.bank, quiz.log, planned.session, planned.plan)


def _typed(form: dict[str, str], question: Question) -> str:
    """Return the answer that a form sends."""
    if form.get("certainty") == DONT_KNOW:
        return DONT_KNOW
    return form.get("typed", "") or ("none" if question.kind == "multi" else "")


def _to_ask_again(quiz: Quiz) -> list[str]:
    """Return what is due, then what was missed, as `learn review` asks it."""
    answers = to_review(quiz.bank, quiz.log.answers())
    return keep_existing(quiz.bank, ask_again(answers, datetime.now().astimezone()))


def _is_there(quiz: Quiz, planned: PlannedSession) -> bool:
    """Return False for a sitting on one topic that the course no longer has."""
    topics = planned.session.topics
    return len(topics) != 1 or topics[0] in quiz.bank.names


def _describe(quiz: Quiz, planned: PlannedSession) -> dict[str, Any]:
    """Say of a sitting what it is on and how far it is."""
    session = restore_session(quiz.bank, quiz.log, planned.session, planned.plan)
    title = "Review" if planned.session.mode in ("review", "redo") else _title(quiz, planned.session.topics)
    title = {"exam": "Exam: ", MODE: "In your own words: "}.get(planned.session.mode, "") + title
    return {"id": planned.session.id, "title": title, "state": session.describe_progress() if planned.plan else ""}


def _marks(quiz: Quiz, session: Session) -> list[dict[str, Any]]:
    """Return what is shown of each answer of an exam, but of those whose question is another since."""
    found = []
    for question, answer in session.first_answers():
        with suppress(Unreadable):
            found.append(show_mark(quiz.bank, question, answer))
    return found


def _title(quiz: Quiz, topics: tuple[str, ...]) -> str:
    return quiz.bank.topic(topics[0]).title if len(topics) == 1 else "Assessment"


def show_question(bank: Bank, question: Question) -> dict[str, Any]:
    """Return what a question shows, whether it is asked or marked."""
    names = re.findall(r"\w+", question.code)
    return {
        "question": question,
        "topic": bank.topic(question.topic).title,
        "text": list(map(mark_code, unwrap(question.text).split("\n\n"))),
        "code": question.code.strip("\n"),
        "options": [(letter, mark_code(option.text)) for letter, option in letter_options(question.options)],
        "parts": [f"`{part}`" if part in names else mark_code(part) for part in question.parts],
    }


def show_mark(bank: Bank, question: Question, answer: Answered) -> dict[str, Any]:
    """Return what is shown of an answer. Raises Unreadable for one to a question that is another since."""
    mark = mark_answer(question, answer.typed)
    known = [bank.misconception(tag) for tag in mark.tags]
    picked = set(answer.typed.lower().replace(",", " ").split()) if question.kind in LETTERED else set()
    right = question.answer if isinstance(question.answer, list) else [question.answer]
    return {
        **show_question(bank, question),
        "answer": answer,
        "mark": mark,
        "word": verdict_on(question, mark, answer),
        "sure": is_sure_but_wrong(answer),
        "says": [
            *([] if mark.full or answer.is_unknown or not mark.credit else [f"{describe_part(question, mark)}."]),
            *(f"You {each.says}." for each in known if each),
            *(mark_code(unwrap(says)) for says in mark.says),
        ],
        "explain": list(map(mark_code, unwrap(question.explain).split("\n\n"))),
        "picked": picked,
        "right": {"abcdefgh"[at] for at in right} if question.kind in LETTERED else set(),
    }


def _go(path: str) -> RedirectResponse:
    return RedirectResponse(f"/quiz/{path}".rstrip("/"), 303)
