"""`learn trace`: the learner's own source, with the shapes of what each line makes beside it."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.check.compared import ask_judge, choose_compared, read_compared
from grader.cli.context import find_context
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option, json_option
from grader.terminal.console import paint, put, signs, width, wrap
from grader.terminal.text import clean

if TYPE_CHECKING:
    from grader.judge.tracing.shapes import TracedCall, TracedValue

MARGIN = 34  # columns that are kept for the shapes


@click.command("trace")
@lesson_argument(required=False)
@click.option("--file", type=click.Path(path_type=Path), metavar="PATH", help="Trace this file, not the workspace's.")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str | None, file: Path | None, as_json: bool) -> None:
    """Show beside each line of your code the shapes that it makes.

    Your function is watched on one call of its checks: on one that goes wrong, if there is one. A value that the
    reference has too is marked as right. From the line on where none is, right has ended.
    Without LESSON, your current lesson.

    \b
    Example:
      learn trace attention
    """
    context = find_context(ctx)
    chosen = choose_compared(context, lesson)
    submission = read_compared(context, chosen, file, "trace")
    calls: list[TracedCall] = []
    with suppress(SyntaxError, RecursionError):
        calls = ask_judge(context.course, chosen, lambda judge: judge.trace(chosen, submission))
    if as_json:
        click.echo(
            json.dumps({"schema": 1, "lesson": chosen.name, "calls": [asdict(call) for call in calls]}, indent=2)
        )
        return
    if not calls:
        put("Nothing could be watched; the check says why.\n")
    for call in calls:
        _show(call, submission.source, {other.function for other in calls} - {call.function})
    put(f"Next  {paint(f'learn check {chosen.name}', 'command')}")


def _show(call: TracedCall, source: str, others: Set[str]) -> None:
    """Print the lines that ran, with what they made; functions that have a call of their own are shown there."""
    ending = "the answer is right" if call.is_right else "the answer is wrong" if call.has_returned else "it raises"
    put(paint(wrap(f"{call.function}: on this call {ending}"), "strong"))
    if call.letters:
        put(wrap(", ".join(f"{letter} = {size}" for letter, size in call.letters.items()), 2))
    if not (call.values or call.has_returned):
        put(wrap("Nothing was made before that; the check says what it is.", 2))
        put()
        return
    put()
    lines = {number: text for number, text in _lines_to_show(source, others, {value.line for value in call.values})}
    firsts = {number for number, text in lines.items() if text.lstrip().startswith("def ")}
    column = min(max(map(len, lines.values()), default=0), max(width() - MARGIN - 7, 20)) + 2
    for number, text in lines.items():
        beside = _margin([value for value in call.values if value.line == number], call, width() - column - 5)
        if number in firsts and number > min(lines):
            put()
        numbered = f"{number:>3}  {text}"
        if beside and len(text) <= column - 2:
            numbered = f"{numbered:<{column + 5}}{beside.pop(0)}"
        put(numbered)
        for each in beside:
            put(" " * (column + 5) + each)
    put()


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


def _margin(values: Sequence[TracedValue], call: TracedCall, room: int) -> list[str]:
    """Return what stands beside a line: a name and a shape each, numbers together; right, wrong or neither."""
    found: dict[tuple[str, str, int], list[str]] = {}
    for number, value in enumerate(values):
        sign, style = (signs().passed, "good") if value.is_right else (signs().skipped, "quiet")
        if call.wrong_from and value.line >= call.wrong_from and not value.is_right:
            sign, style = signs().failed, "bad"
        key = number if isinstance(value.value, tuple) else -1
        found.setdefault((sign, style, key), []).append(f"{value.name} {_shape_of(value, call.letters)}")
    return [
        paint(f"{sign} {line}", style)
        for (sign, style, _), texts in found.items()
        for line in _wrap_whole(texts, max(room - 2, MARGIN - 2))
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


def _shape_of(value: TracedValue, letters: Mapping[str, int]) -> str:
    by_size = {size: letter for letter, size in letters.items()}
    which = f", pass {value.which_pass}" if value.which_pass else ""
    if not isinstance(value.value, tuple):
        return f"= {value.value:.4g}{which}"
    dtype = "" if value.dtype == "float32" else f" {value.dtype}"
    named = [by_size.get(size, str(size)) for size in value.value]
    shape = _tuple(map(str, value.value))
    return shape + (f" = {_tuple(named)}" if any(map(str.isidentifier, named)) else "") + dtype + which


def _tuple(sizes: Iterable[str]) -> str:
    found = list(sizes)
    return f"({found[0]},)" if len(found) == 1 else f"({', '.join(found)})"
