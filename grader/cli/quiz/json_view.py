"""The view of a quiz session for programs: one JSON object a line for each event; answers are read line by line.

Out, in this order; every object has "event":

    session     schema, id, mode, topics, resumed, questions, answered, predicted
    question    number, of, again, family, topic, title, kind, attempt, text, code, options {letter: text},
                parts, how, says
    unreadable  family, reason              for each line that is no answer; the question waits for another
    certainty   family, means {word: share} with --ask, after an answer without one
    mark        family, attempt, typed, certainty, first, credit, verdict, right, tags, says, explain, prove
    predict     when, says                  "after" the last question of an exam, then its marks; with --ask also
                                            "before" a session that begins, and before its event
    end         schema, answers, right, practice, score, low, high, predicted, predicted_after, topics, counts_for,
                sure_but_wrong, missed, again, says, next
    stopped     answered, questions, next   in place of the end, where the input ends first
    nothing     schema, says, next          in place of all, where there is nothing to ask

`text` and `explain` have a paragraph a line, with blank lines between; `code` and `prove` are unchanged.

In: `48`, `48 | sure` or {"answer": "48", "certainty": "sure"}; `?` is "I do not know". After "predict" a score from 0
to 10, or an empty line; after "certainty" one of its words or a first letter, c to change the answer, or an empty line.
"""

from __future__ import annotations

import json
from typing import Any

import click

from grader.cli.quiz.dialogue import CERTAINTY_KEYS, CHANGE_KEYS, DEFAULT_CERTAINTY, Commands, split_certainty
from grader.cli.quiz.prompt import read_line
from grader.cli.quiz.render import describe_verdict
from grader.model import CERTAINTIES, SCHEMA, Answered
from grader.quiz.assessment.calibration import SCALE_SAYS, meaning, parse_prediction
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import letter_options
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.session import Session, Turn
from grader.terminal.text import unwrap


def put_event(name: str, **facts: Any) -> None:
    """Print one event."""
    click.echo(json.dumps({"event": name, **facts}))


class JsonView:
    """Shows a session as JSON lines. `asks`: whether what a person at a terminal is asked is asked here, too."""

    def __init__(self, asks: bool = False) -> None:
        self.asks = asks

    def begin(self, session: Session, resumed: bool) -> None:
        data = session.data
        put_event(
            "session",
            schema=SCHEMA,
            id=data.id,
            mode=data.mode,
            topics=data.topics,
            resumed=resumed,
            questions=len(session.plan),
            answered=len(session.first_tries),
            predicted=data.predicted,
        )

    def ask(self, session: Session, turn: Turn) -> None:
        question = turn.question
        put_event(
            "question",
            number=turn.number,
            of=turn.total,
            again=turn.repeated,
            family=question.family,
            topic=question.topic,
            title=session.bank.topic(question.topic).title,
            kind=question.kind,
            attempt=question.attempt,
            text=unwrap(question.text),
            code=question.code,
            options={letter: option.text for letter, option in letter_options(question.options)},
            parts=question.parts,
            how=KINDS[question.kind].instructions(question),
            says=turn.says,
        )

    def read(self, session: Session, turn: Turn) -> tuple[str, str]:
        line = read_line()
        return _parse_json(line) if line.lstrip().startswith("{") else split_certainty(line)

    def show_unreadable(self, question: Question, reason: str) -> None:
        put_event("unreadable", family=question.family, reason=reason)

    def ask_certainty(self, question: Question) -> str | None:
        if not self.asks:
            return ""
        means = {word: meaning(word, question.kind) for word in CERTAINTIES}
        put_event("certainty", family=question.family, means=means)
        while (typed := read_line().strip().lower()) not in CHANGE_KEYS:
            if not typed or typed in CERTAINTY_KEYS:
                return CERTAINTY_KEYS.get(typed, DEFAULT_CERTAINTY)
            put_event("unreadable", family=question.family, reason="type g, f, s or c, or Enter alone")
        return None

    def show_mark(self, session: Session, question: Question, answer: Answered, mark: Mark) -> None:
        known = [session.bank.misconception(tag) for tag in mark.tags]
        put_event(
            "mark",
            family=question.family,
            attempt=question.attempt,
            typed=answer.typed,
            certainty=answer.certainty,
            first=answer.first,
            credit=round(mark.credit, 4),
            verdict=describe_verdict(question, mark, answer),
            right=mark.right,
            tags=mark.tags,
            says=[*(f"you {each.says}" for each in known if each), *map(unwrap, mark.says)],
            explain=unwrap(question.explain),
            prove=question.prove,
        )

    def ask_prediction(self, when: str, past: str = "") -> float | None:
        put_event("predict", when=when, says=" ".join(filter(None, [SCALE_SAYS, past])))
        try:
            while line := read_line().strip():
                try:
                    return parse_prediction(line)
                except Unreadable as error:
                    put_event("unreadable", family=None, reason=str(error))
        except EOFError:
            if when == "before":
                raise  # nothing is begun; where all is answered, the marks follow all the same
        return None

    def announce_marks(self, count: int) -> None:
        pass

    def stop(self, session: Session, command: str) -> None:
        put_event("stopped", answered=len(session.first_tries), questions=len(session.plan), next=command)

    def end(self, summary: dict[str, Any], commands: Commands) -> None:
        from grader.quiz.session.summary import make_remarks  # here: a session begins sooner

        sure = [{**each, "text": unwrap(each["text"])} for each in summary["sure_but_wrong"]]
        put_event(
            "end",
            schema=SCHEMA,
            **{**summary, "sure_but_wrong": sure},
            says=make_remarks(summary),
            next=[command for command, _ in commands],
        )


def _parse_json(line: str) -> tuple[str, str]:
    try:
        content = json.loads(line)
        typed, word = content["answer"], str(content.get("certainty") or "").lower()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable('a line is an answer, or {"answer": "...", "certainty": "..."}') from None
    if not isinstance(typed, (str, int, float)) or (word and word not in CERTAINTY_KEYS):
        raise Unreadable('"answer" is a text or a number, "certainty" one of guess, fairly and sure')
    return str(typed), CERTAINTY_KEYS.get(word, "")
