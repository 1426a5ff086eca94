"""Where a quiz is held: the course's questions, the learner's log, and who is at the other end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import click

from grader.cli.context import find_context
from grader.cli.quiz.dialogue import NOT_YET, Desk
from grader.cli.quiz.prompt import Dialogue
from grader.cli.quiz.render import prose
from grader.errors import UsageError
from grader.model import Course
from grader.quiz.bank.bank import Bank
from grader.store.quiz_log import Planned, QuizLog
from grader.terminal.text import ago, plural

if TYPE_CHECKING:
    from grader.cli.quiz.view import Face

ENDING = "Where a sitting is ended, its answers count; its other questions are not asked."
REPORT = ("learn report", "what you know, as far as it was checked")


class Room(NamedTuple):
    """A desk, and the dialogue with whoever sits at it; none where a program does."""

    desk: Desk
    dialogue: Dialogue | None

    @property
    def bank(self) -> Bank:
        return self.desk.bank

    @property
    def log(self) -> QuizLog:
        return self.desk.log

    @property
    def reader(self) -> Dialogue | None:
        """The dialogue with somebody at a terminal; None through a pipe, too."""
        return self.dialogue if self.dialogue and self.dialogue.terminal else None


def bank_of(course: Course) -> Bank:
    """The questions of a course. Raises UsageError where it has none, CourseError."""
    bank = Bank(course.root / "lessons")
    if not bank.names:
        raise UsageError("this course has no questions", where=str(bank.lessons), next_step="learn list")
    return bank


@contextmanager
def room(ctx: click.Context, as_json: bool, prove: bool = False) -> Iterator[Room]:
    """A room in the learner's workspace. Raises WorkspaceError, CourseError, StoreError."""
    place = find_context(ctx)
    place.needed_workspace()
    bank = bank_of(place.course)
    with place.store() as store:
        face, dialogue = _face(as_json, prove)
        try:
            yield Room(Desk(bank, QuizLog(store.file), face), dialogue)
        except EOFError:  # at a question that comes before those of the sitting
            click.echo("Stopped before the first question.")
            ctx.exit(NOT_YET)


def _face(as_json: bool, prove: bool) -> tuple[Face, Dialogue | None]:
    if as_json:
        from grader.cli.quiz.json_view import Events

        return Events(), None
    from grader.cli.quiz.text_view import Words

    dialogue = Dialogue()
    return Words(dialogue, prove), dialogue


def goes_on(room: Room, planned: Planned, title: str, anew: bool) -> bool:
    """Whether to go on with a sitting that was broken off. If not, it ends as it stands: its answers count.

    Somebody at a terminal is asked; through a pipe it always goes on. With `anew` it never does.
    """
    yes = not anew
    if yes and room.reader is not None:
        done = len(room.desk.sitting(planned).first)
        state = f"{done} of {plural(len(planned.plan), 'question')} answered, begun {ago(planned.session.started)}"
        room.reader.show(prose(f"You are in the middle of {title}: {state}. {ENDING}"))
        prompt = "Go on with it? (Enter: yes; n ends it as it stands, and begins another) "
        yes = room.reader.choose(prompt, {"y": "y", "yes": "y", "n": "n", "no": "n"}, "y") == "y"
    if not yes:
        room.log.finish(planned.session.id, datetime.now(UTC))
    return yes


def title_of(room: Room, topics: Sequence[str]) -> str:
    """What a sitting on these topics is called."""
    if len(topics) != 1:
        return "the assessment"
    return f"“{room.bank.topic(topics[0]).title if topics[0] in room.bank.paths else topics[0]}”"


def command_of(topics: Sequence[str]) -> str:
    """The command that asks on these topics, and goes on with a sitting on them."""
    return f"learn quiz {topics[0]}" if len(topics) == 1 else "learn quiz"


def waiting(log: QuizLog, modes: Sequence[str]) -> list[Planned]:
    """Sittings of these modes that were broken off, the latest first."""
    return [planned for planned in log.unfinished() if planned.session.mode in modes]
