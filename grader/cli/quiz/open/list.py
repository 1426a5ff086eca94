"""List the open questions, and how far the learner is with each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

from grader.cli.context import CourseContext
from grader.cli.output import put_json
from grader.cli.quiz.context import read_bank
from grader.cli.quiz.render import cut, next_lines
from grader.model import SCHEMA
from grader.quiz.assessment.misconceptions import contradicted_claims
from grader.quiz.bank.bank import Bank
from grader.quiz.model import OpenQuestion, Topic
from grader.quiz.open_answers import LatestAnswer, find_open_question, latest_answer, marked_claims, open_questions
from grader.store.quiz_log import QuizLog
from grader.terminal.console import paint, put, signs, width, wrap
from grader.terminal.text import ago

SIGN_AND_NUMBER = 10  # columns before a title, and one after it
MIN_TITLE = 24  # columns


def show_questions(context: CourseContext, number: str | None, as_json: bool) -> None:
    """Print the list, as text or JSON; with a number, that question alone. Raises UsageError, CourseError."""
    bank = read_bank(context.course)
    topics = open_questions(bank)
    if number is not None:
        chosen = find_open_question(bank, number)
        topics = {n: topic for n, topic in topics.items() if topic is chosen}
    known, doubts = latest_answers(context, bank, topics)
    if as_json:
        objects = [_object(topic, topic.open, known.get(topic.name)) for topic in topics.values() if topic.open]
        put_json({"schema": SCHEMA, "questions": objects})
        return
    states = {
        name: _describe(known.get(name), doubts.get(name, 0)) for name in (topic.name for topic in topics.values())
    }
    room = width() - SIGN_AND_NUMBER - max(map(len, states.values()), default=0)
    longest = max((len(topic.title) for topic in topics.values()), default=0)
    longest = min(room, longest) if room >= min(MIN_TITLE, longest) else 0
    for n, topic in topics.items():
        put(_line(n, topic, known.get(topic.name), doubts.get(topic.name, 0), states[topic.name], longest))
    put()
    put("\n".join(next_lines([_next(topics, known)])))


def latest_answers(
    context: CourseContext, bank: Bank, topics: Mapping[int, Topic]
) -> tuple[dict[str, LatestAnswer], dict[str, int]]:
    """Return the latest answer by topic, and by topic how many of its claims are in doubt."""
    if context.workspace is None:
        return {}, {}
    with context.store() as store:
        log = QuizLog(store.database)
        sessions, claims, answers, written = log.sessions(), log.claims(), log.answers(), log.written()
        texts = {session: text for session, _, text, _ in log.texts()}
    found = {topic.name: latest_answer(topic.open, sessions, texts, claims) for topic in topics.values() if topic.open}
    doubted = [each["topic"] for each in contradicted_claims(bank, answers, marked_claims(bank, claims, written))]
    return {name: each for name, each in found.items() if each}, {name: doubted.count(name) for name in doubted}


def _line(number: int, topic: Topic, known: LatestAnswer | None, doubts: int, says: str, longest: int) -> str:
    """Render a question in one line; in two if `longest`, the columns for its title, is 0."""
    sign, style = (signs().passed, "good") if known and known.state == "marked" else (signs().skipped, "quiet")
    if doubts or (known and _is_open(known)):
        sign, style = signs().trouble, "strong"
    head = f"  {paint(sign, style)} {number:>2}  "
    if not longest:
        title = head + cut(topic.title, width() - SIGN_AND_NUMBER)
        return f"{title}\n{wrap(says, SIGN_AND_NUMBER - 2)}" if says else title
    return f"{head}{cut(topic.title, longest):<{longest}}  {says}".rstrip()


def _is_open(known: LatestAnswer) -> bool:
    """Return True if there is something left to do: not for a skipped question, wherever its session stopped."""
    return known.session.finished is None and known.state != "skipped"


def _describe(known: LatestAnswer | None, doubts: int) -> str:
    if known is None:
        return ""
    count, marks = len(known.marking.question.key_points), known.marking
    marked = f"{len(marks.points)} of {count} points marked" if marks.next_point else "not all marked"
    says = {
        "begun": "text begun" if known.text else "nothing written yet",
        "written": marked if marks.points else "written, not marked yet",
        "skipped": "skipped",
        "marked": f"{marks.credit:g} of {count} points claimed{', questions left' * _is_open(known)}",
    }[known.state]
    return f"{says}, {ago(known.session.started)}{f', {doubts} to check again' if doubts else ''}"


def _object(topic: Topic, question: OpenQuestion, known: LatestAnswer | None) -> dict[str, object]:
    marks = known.marking if known else None
    return {
        "number": question.number,
        "topic": topic.name,
        "title": topic.title,
        "asks": question.asks,
        "state": known.state if known else "new",
        "text": known.text if known else "",
        "when": known.session.started.astimezone(UTC).isoformat() if known else None,
        "points": [
            {"id": point.id, "says": point.says, "mark": marks.points.get(point.id) if marks else None}
            for point in question.key_points
        ],
        "traps": [
            {"id": trap.id, "claims": trap.claims, "mark": marks.traps.get(trap.id) if marks else None}
            for trap in question.traps
        ],
    }


def _next(topics: Mapping[int, Topic], known: Mapping[str, LatestAnswer]) -> tuple[str, str]:
    """Return the command for a question that was begun, else for the first that was not."""
    begun = [n for n, topic in topics.items() if topic.name in known and _is_open(known[topic.name])]
    fresh = [n for n, topic in topics.items() if topic.name not in known]
    number = next(iter([*begun, *fresh, *topics]), 1)
    return f"learn quiz open {number}", "goes on with it" if begun else "in your own words"
