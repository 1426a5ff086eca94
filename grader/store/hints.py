"""Which hints were shown, and which comes next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from grader.model import Lesson
from grader.store.progress import Store


class Hint(NamedTuple):
    """A rung of a function's ladder; numbers count from 1."""

    function: str
    number: int
    of: int
    text: str


def choose_function(lesson: Lesson, store: Store) -> str:
    """Return the first function with a hint left, those that failed last before the others."""
    names = [name for name, ladder in lesson.hints.items() if ladder]
    if len(names) == 1:
        return names[0]
    failed = _failed_functions(lesson, store)
    ordered = sorted(names, key=lambda name: name not in failed)
    left = (name for name in ordered if store.next_hint(lesson.name, name) <= len(lesson.hints[name]))
    return next(left, ordered[-1])


def shown_hints(lesson: Lesson, store: Store) -> Iterator[Hint]:
    """Yield the hints that were shown, in the order of the lesson."""
    shown = store.hints(lesson.name)
    for function, ladder in lesson.hints.items():
        for number, text in enumerate(ladder, 1):
            if (function, number) in shown:
                yield Hint(function, number, len(ladder), text)


def next_hint(lesson: Lesson, store: Store) -> Hint | None:
    """Return the hint that comes next; None if all were shown."""
    if not any(lesson.hints.values()):
        return None
    function = choose_function(lesson, store)
    number, ladder = store.next_hint(lesson.name, function), lesson.hints[function]
    return Hint(function, number, len(ladder), ladder[number - 1]) if number <= len(ladder) else None


def show_hint(lesson: Lesson, store: Store, function: str, number: int) -> None:
    """Keep that a hint is shown, if it is the next of its function: asked for twice it is shown once."""
    if number == store.next_hint(lesson.name, function) and number <= len(lesson.hints.get(function, ())):
        store.record_hint(lesson.name, function, number, datetime.now(UTC))


def _failed_functions(lesson: Lesson, store: Store) -> set[str]:
    """Return the functions whose checks did not all pass at the last attempt."""
    attempts = store.attempts(lesson.name, 1)
    checks = attempts[-1].result.get("checks", ()) if attempts else ()
    return {check.get("function", "") for check in checks if check.get("outcome") != "passed"}
