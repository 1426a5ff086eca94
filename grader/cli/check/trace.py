"""`learn trace`: the learner's own source, with the shapes of what each line makes beside it."""

from __future__ import annotations

import ast
import operator
import textwrap
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.check.compared import (
    ask_judge,
    choose_compared,
    command_after,
    put_found,
    read_compared,
    tell_error,
    tell_left_out,
)
from grader.cli.context import find_context
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option, json_option
from grader.cli.run_command import NOT_YET
from grader.terminal.console import beside, paint, put, signs, width, wrap
from grader.terminal.text import NUMBERS, clean, fold_code

if TYPE_CHECKING:
    from grader.judge.errors import LearnerError
    from grader.judge.tracing.shapes import TracedCall

MARGIN = 34  # columns that are kept for the shapes
MIN_MARGIN = 30  # or they stand below their line


@click.command("trace")
@lesson_argument(required=False)
@click.option("--file", type=click.Path(path_type=Path), metavar="PATH", help="Trace this file, not the workspace's.")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str | None, file: Path | None, as_json: bool) -> None:
    """Show beside each line of your code the shapes that it makes.

    Your function is watched on one call of its checks: on one that goes wrong, if there is one. A value that the
    reference has, too, is marked as right; from the line on where none is any more, your code is wrong. A line that
    raised is marked, too. Without LESSON, your current lesson. Exit code 1: your file could not be loaded.

    \b
    Example:
      learn trace attention
      learn trace my-notebook.ipynb
    """
    context = find_context(ctx)
    chosen, file = choose_compared(context, lesson, file, "trace")
    submission = read_compared(context, chosen, file, "trace")
    calls: list[TracedCall] = []
    error: LearnerError | None = None
    with suppress(SyntaxError, RecursionError):
        calls, error = ask_judge(context.course, [chosen], lambda judge: judge.trace(chosen, submission))
    if as_json:
        put_found(chosen, {"calls": [asdict(call) for call in calls]}, error, submission)
        ctx.exit(NOT_YET if error else 0)
    if error:
        tell_error(error, submission, "watched")
        put()
    else:
        for line in tell_calls(calls, submission.source):
            put(line)
    tell_left_out(submission)
    put(f"Next  {paint(command_after(context, chosen, file), 'command')}")
    ctx.exit(NOT_YET if error else 0)


def tell_calls(calls: Sequence[TracedCall], source: str) -> Iterator[str]:
    """Yield lines of text: those of the source that ran, with what they made."""
    from grader.judge.tracing.shape_words import describe_absence, describe_ending, describe_letters

    if not calls:
        yield "Nothing could be watched; the check says why.\n"
    for call in calls:
        yield paint(wrap(clean(describe_ending(call))), "strong")
        if call.letters:
            yield wrap(describe_letters(call), 2)
        lines = find_lines(call, source, {other.function for other in calls} - {call.function})
        if lines:
            yield from _tell_lines(call, source, lines)
        else:
            yield wrap(describe_absence(call, source), 2)
        yield ""
    if any(call.values for call in calls) and not all(call.is_right for call in calls):
        yield from _explain_signs()


def _explain_signs() -> Iterator[str]:
    look = signs()
    yield beside(f"{look.passed} ", "the reference has this value, too", below=2)
    yield beside(f"{look.skipped} ", "it does not, which need not be wrong", below=2)
    wrong = "wrong: it is in your answer, or no value from here on is the reference's"
    yield beside(f"{look.failed} ", wrong, below=2) + "\n"


def _tell_lines(call: TracedCall, source: str, lines: Mapping[int, str]) -> Iterator[str]:
    """Yield these lines, with what they made."""
    from grader.intake.notebook.cell_places import CellPlaces

    firsts = {number for number, text in lines.items() if text.lstrip().startswith("def ")}
    column = min(max(map(len, lines.values())), max(width() - MARGIN - NUMBERS - 2, 20)) + 2
    is_narrow = width() - column - NUMBERS < MIN_MARGIN
    start = NUMBERS if is_narrow else column + NUMBERS
    places, cell = CellPlaces(source), ""
    yield ""
    for number, text in lines.items():
        notes = _margin(call, number, width() - start)
        if number in firsts and number > min(lines):
            yield ""
        before, (cell, shown) = cell, places.find(number) or ("", number)
        if cell != before:
            yield paint(f"{' ' * NUMBERS}{cell}", "quiet")
        *above, last = fold_code(text, width() - NUMBERS)
        margins = [f"{shown:>3}  ", *[" " * NUMBERS] * len(above)]
        if notes and len(last) <= column - 2 and not is_narrow:
            last = f"{last:<{column}}{notes.pop(0)}"
        yield from map(operator.add, margins, [*above, last])
        for each in notes:
            yield " " * start + each


def find_lines(call: TracedCall, source: str, others: Set[str]) -> dict[int, str]:
    """Return the lines to show of a call by their numbers, but none of what `others` have a call of their own for."""
    return dict(_lines_to_show(source, others, set(call.lines)))


def _lines_to_show(source: str, others: Set[str], wanted: Set[int]) -> Iterator[tuple[int, str]]:
    """Yield the lines of the functions in which something was seen, without their docstrings."""
    texts = [clean(line) for line in source.split("\n")]
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.FunctionDef)
            and node.name not in others
            and wanted & set(range(node.lineno, (node.end_lineno or 0) + 1))
        ):
            first = node.body[0]
            has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            hidden = range(first.lineno, (first.end_lineno or 0) + 1) if has_docstring else ()
            shown = range(node.lineno, (node.end_lineno or 0) + 1)
            yield from ((number, texts[number - 1]) for number in shown if number not in hidden)


def _margin(call: TracedCall, line: int, room: int) -> list[str]:
    """Return the lines that stand beside one of the source; right, wrong or neither."""
    from grader.judge.tracing.shape_words import describe_line

    bad = (signs().failed, "bad")
    looks = {"right": (signs().passed, "good"), "wrong": bad, "unknown": (signs().skipped, "quiet"), "raised": bad}
    return [
        paint(f"{looks[standing][0]} {clean(text)}", looks[standing][1])
        for standing, says in describe_line(call, line)
        for text in _wrap_whole(says, room - 2)
    ]


def _wrap_whole(texts: Sequence[str], room: int) -> list[str]:
    """Join texts by commas, and begin a new line only between two of them."""
    lines = textwrap.wrap(
        ", ".join(text.replace(" ", "\xa0") for text in texts),
        room,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\xa0", " ") for line in lines]
