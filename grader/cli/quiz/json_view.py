"""A sitting for programs: one JSON object a line for each thing that happens, and answers read line by line.

Out, in this order; every object has "event":

    session     schema, id, mode, topics, resumed, questions, answered, predicted
    question    number, of, again, family, topic, kind, attempt, text, code, options {letter: text}, parts, how
    unreadable  family, reason              for each line that is no answer; the question waits for another
    mark        family, attempt, typed, certainty, first, credit, right, tags, says, explain, prove
    predict     when                        in an exam, after the last question; then its marks
    end         schema, answers, right, score, low, high, predicted, predicted_after, topics, sure_but_wrong, missed,
                again, next
    stopped     answered, questions, next   in place of the end, where the input ends first
    nothing     schema, says, next          in place of all, where there is nothing to ask again

`text` and `explain` have a paragraph a line, with blank lines between; `code` and `prove` stand as they are.

In: `48`, `48 | sure` or {"answer": "48", "certainty": "sure"}; `?` is "I do not know". After "predict" a score from 0
to 10, or an empty line.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from grader.cli.quiz.dialogue import SURE, Commands, split_certainty, to_prediction
from grader.cli.quiz.prompt import read_line
from grader.cli.quiz.render import unwrapped
from grader.model import SCHEMA, Answered
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import lettered
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.session import Sitting, Turn


def put_event(name: str, **facts: Any) -> None:
    """One event, there at once."""
    import json

    click.echo(json.dumps({"event": name, **facts}))


class Events:
    """The face of a sitting that a program drives."""

    def begins(self, sitting: Sitting, resumed: bool) -> None:
        session = sitting.session
        put_event(
            "session", schema=SCHEMA, id=session.id, mode=session.mode, topics=session.topics, resumed=resumed,
            questions=len(sitting.plan), answered=len(sitting.first), predicted=session.predicted,
        )  # fmt: skip

    def asks(self, sitting: Sitting, turn: Turn) -> None:
        question = turn.question
        put_event(
            "question", number=turn.number, of=turn.total, again=turn.again, family=question.family,
            topic=question.topic, kind=question.kind, attempt=question.attempt, text=unwrapped(question.text),
            code=question.code, options={letter: option.text for letter, option in lettered(question.options)},
            parts=list(question.details.get("blanks", question.details.get("lefts", []))),
            how=KINDS[question.kind].how(question),
        )  # fmt: skip

    def reads(self, sitting: Sitting, turn: Turn) -> tuple[str, str]:
        line = read_line()
        return _from_json(line) if line.lstrip().startswith("{") else split_certainty(line)

    def unreadable(self, question: Question, reason: str) -> None:
        put_event("unreadable", family=question.family, reason=reason)

    def how_sure(self) -> str | None:
        return ""

    def tells(self, sitting: Sitting, question: Question, answer: Answered, mark: Mark) -> None:
        known = [sitting.bank.misconception(tag) for tag in mark.tags]
        put_event(
            "mark", family=question.family, attempt=question.attempt, typed=answer.typed, certainty=answer.certainty,
            first=answer.first, credit=round(mark.credit, 4), right=mark.right, tags=mark.tags,
            says=[*(f"you {each.says}" for each in known if each), *map(unwrapped, mark.says)],
            explain=unwrapped(question.explain), prove=question.prove,
        )  # fmt: skip

    def predicts_after(self) -> float | None:
        put_event("predict", when="after")
        with suppress(EOFError):  # all is answered: a program that says no more has its marks all the same
            while line := read_line().strip():
                try:
                    return to_prediction(line)
                except Unreadable as error:
                    put_event("unreadable", family=None, reason=str(error))
        return None

    def marks_follow(self, count: int) -> None:
        pass

    def stops(self, sitting: Sitting, command: str) -> None:
        put_event("stopped", answered=len(sitting.first), questions=len(sitting.plan), next=command)

    def ends(self, result: dict[str, Any], commands: Commands) -> None:
        sure = [{**each, "text": unwrapped(each["text"])} for each in result["sure_but_wrong"]]
        put_event("end", schema=SCHEMA, **{**result, "sure_but_wrong": sure}, next=[command for command, _ in commands])


def _from_json(line: str) -> tuple[str, str]:
    import json

    try:
        content = json.loads(line)
        typed, word = content["answer"], str(content.get("certainty") or "").lower()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable('a line is an answer, or {"answer": "...", "certainty": "..."}') from None
    if not isinstance(typed, (str, int, float)) or (word and word not in SURE):
        raise Unreadable('"answer" is a text or a number, "certainty" one of guess, fairly and sure')
    return str(typed), SURE.get(word, "")
