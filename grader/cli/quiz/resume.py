"""Sittings that were broken off, where there are several: a list to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from grader.cli.quiz.context import ENDING, REPORT, Room, command_of, title_of
from grader.cli.quiz.dialogue import hold
from grader.cli.quiz.render import cut, prose
from grader.store.quiz_log import Planned
from grader.terminal.console import paint, width
from grader.terminal.text import ago, plural

ALONE = ("quiz", "exam")  # modes of which a single sitting is simply offered
COMMANDS = {"redo": "learn quiz redo", "review": "learn review"}
NAMES = {"redo": "what you missed", "review": "a review"}
PROMPT = "A number goes on with it (Enter: 1), e and a number ends it, n begins another "


def choices(here: Room) -> list[Planned]:
    """What to choose from, assessments first, then the latest: for somebody at a terminal who left several unfinished,
    or one that `learn quiz` alone would not offer."""
    left = [planned for planned in here.log.unfinished() if _is_there(here, planned)] if here.reader else []
    left.sort(key=lambda planned: planned.session.mode not in ALONE or len(planned.session.topics) == 1)
    return left if len(left) > 1 or any(planned.session.mode not in ALONE for planned in left) else []


def choose_one(here: Room, left: Sequence[Planned]) -> Planned | None:
    """The sitting that is chosen; None to begin another. Some may be ended on the way. Raises EOFError."""
    assert here.reader is not None
    waiting = list(left)
    while waiting:
        here.reader.clear()
        here.reader.show([paint(f"{plural(len(waiting), 'sitting')} not finished", "strong"), ""])
        here.reader.show([_line(here, number, planned) for number, planned in enumerate(waiting, 1)])
        here.reader.show(["", *(paint(line, "quiet") for line in prose(ENDING)), ""])
        chosen, ends = _asked(here, len(waiting))
        if chosen is None:
            return None
        if not ends:
            return waiting[chosen]
        here.log.finish(waiting.pop(chosen).session.id, datetime.now(UTC))
    return None


def go_on(here: Room, planned: Planned) -> int:
    """Go on with a sitting of any mode: the exit code."""
    mode, topics = planned.session.mode, planned.session.topics
    if mode != "audit":
        return hold(here.desk, planned, COMMANDS.get(mode, command_of(topics)), [REPORT], resumed=True)
    from grader.cli.quiz.open.answer import answer_open  # here: other sittings have no use for it

    return answer_open(here, here.bank.topic(topics[0]), by_lines=False, anew=False)


def _asked(here: Room, count: int) -> tuple[int | None, bool]:
    """The place that was chosen, None for none of them; and whether that one ends. Raises EOFError."""
    assert here.reader is not None
    while True:
        typed = here.reader.ask(PROMPT).strip().lower()
        if typed == "n":
            return None, False
        ends = typed.startswith("e")
        number = typed.removeprefix("e").strip() if typed else "1"
        if number.isascii() and number.isdecimal() and 1 <= int(number[:9]) <= count:
            return int(number) - 1, ends
        says = f"Type a number from 1 to {count}, e and a number, or n." if count > 1 else "Type 1, e1 or n."
        here.reader.show([paint(says, "quiet")])


def _line(here: Room, number: int, planned: Planned) -> str:
    session = planned.session
    title = NAMES.get(session.mode, title_of(here, session.topics))
    title = {"audit": "your own words on ", "exam": "exam: "}.get(session.mode, "") + title
    done = f"{len(here.desk.sitting(planned).first)} of {plural(len(planned.plan), 'question')} answered, "
    state = f"{done if planned.plan else ''}begun {ago(session.started)}"
    return f"  {number:>2}  {cut(title, max(20, width() - len(state) - 8))}: {state}"


def _is_there(here: Room, planned: Planned) -> bool:
    """Whether the course still has what it takes to go on."""
    if planned.session.mode != "audit":
        return True
    (name,) = planned.session.topics
    return name in here.bank.paths and here.bank.topic(name).open is not None
