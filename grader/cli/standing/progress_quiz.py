"""The quiz in `learn progress`: the score, what is due, how good predictions were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from grader.cli.context import CourseContext
from grader.model import LessonProgress
from grader.store import Store
from grader.terminal.console import paint, signs, wrap
from grader.terminal.text import bar, plural

if TYPE_CHECKING:
    from grader.model import Answered
    from grader.quiz.bank.bank import Bank
    from grader.store.quiz_log import QuizLog

TREND = 5  # sessions


def quiz_state(context: CourseContext, store: Store, progress: dict[str, LessonProgress]) -> dict[str, Any] | None:
    """Summarize the learner's quizzes; None before the first answer, which does not import the quiz."""
    from grader.store.quiz_log import QuizLog

    log = QuizLog(store.database)
    answers = log.answers()
    if not answers:
        return None
    from grader.quiz.assessment.assessment import LearnerLog, assess
    from grader.quiz.bank.bank import Bank
    from grader.quiz.open_answers import marked_claims

    bank = Bank(context.course.root / "lessons")
    claims = marked_claims(bank, log.claims(), log.written())
    assessment = assess(bank, LearnerLog(answers, claims, log.sessions(), progress))
    return {
        "answers": assessment["answers"],
        **{key: assessment[key] for key in ("verified", "reason", "predicted", "bias")},
        **_waiting(bank, log, answers),
        "history": assessment["history"][-TREND:],
    }


def waiting_lines(context: CourseContext) -> Iterator[str]:
    """Render what waits for the learner: sessions broken off, reviews; nothing before the first answer."""
    if context.workspace is None:
        return
    from grader.store.quiz_log import QuizLog

    with context.store() as store:
        log = QuizLog(store.database)
        answers = log.answers()
        if answers:
            from grader.quiz.bank.bank import Bank

            waiting = _waiting(Bank(context.course.root / "lessons"), log, answers)
            yield from _render_waiting({**waiting, "next_due": None})


def quiz_standing(context: CourseContext) -> tuple[bool, int]:
    """Return whether the assessment was taken to its end, and how many questions are due."""
    from grader.store.quiz_log import QuizLog

    with context.store() as store:
        log = QuizLog(store.database)
        finished = [session for session in log.sessions() if session.finished and session.mode in ("quiz", "exam")]
        if not finished:
            return False, 0
        from grader.quiz.bank.bank import Bank

        bank = Bank(context.course.root / "lessons")
        whole = {*(bank.assessed or bank.names)}
        return any(whole <= {*session.topics} for session in finished), _waiting(bank, log, log.answers())["due"]


def _waiting(bank: Bank, log: QuizLog, answers: Sequence[Answered]) -> dict[str, Any]:
    from grader.quiz.session.schedule import due, missed, next_due, to_review

    now = datetime.now().astimezone()
    again = to_review(bank, answers)
    coming = next_due(again, now)
    return {
        "due": len(due(again, now)),
        "next_due": {"day": coming[0].isoformat(), "questions": coming[1]} if coming else None,
        "missed": len(missed(answers)),
        "unfinished": len(log.unfinished()),
    }


def quiz_lines(state: Mapping[str, Any] | None) -> Iterator[str]:
    """Render the summary; nothing before the first answer."""
    if state is None:
        return
    yield ""
    yield paint("Quiz", "strong")
    verified = state["verified"]
    if verified:
        filled = bar(verified["score"] / 10, 10, signs())
        yield f"  {verified['score']:.1f}  {filled}  {verified['low']:.1f} to {verified['high']:.1f}, verified"
    else:
        yield wrap(f"{plural(state['answers'], 'checked answer')}; {state['reason']}", 2)
    if trend := _trend(state["history"]):
        yield wrap(trend, 2)
    yield from _render_waiting(state)


def _trend(history: list[dict[str, Any]]) -> str:
    """Say by how much predictions were off, session by session, oldest first."""
    if not history:
        return ""
    biases = ", ".join(f"{each['bias']:+.1f}" for each in history)
    when = "in your last session" if len(history) == 1 else f"in your last {len(history)} sessions"
    return f"Predicted minus scored, {when}: {biases}"


def _render_waiting(state: Mapping[str, Any]) -> Iterator[str]:
    if state["unfinished"]:
        yield f"  {plural(state['unfinished'], 'session')} not finished    {paint('learn quiz', 'command')}"
    if state["due"]:
        yield f"  {plural(state['due'], 'question')} due for review    {paint('learn review', 'command')}"
    elif state["next_due"]:
        yield f"  Nothing is due; {plural(state['next_due']['questions'], 'question')} on {state['next_due']['day']}"
    if state["missed"]:
        yield f"  {plural(state['missed'], 'question')} missed at the first try    {paint('learn review', 'command')}"
