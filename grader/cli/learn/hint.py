"""`learn hint`: show the next hint."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.learn.hint_standing import last_finding, show_finding, show_standing
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import WholeNumber, course_option, json_option
from grader.cli.output import put_json
from grader.course.find_lesson import find_function
from grader.errors import UsageError
from grader.files import is_file
from grader.model import SCHEMA, Lesson
from grader.store.hints import choose_function
from grader.terminal.console import paint, put, warn, wrap
from grader.terminal.text import plural


@click.command("hint")
@lesson_argument(required=False)
@click.option("--function", metavar="NAME", help="The function to get a hint for; without it the first that fails.")
@click.option("--next", "is_next", is_flag=True, help="The next hint, though your last check says what is wrong.")
@click.option("--rung", type=WholeNumber(min=1), metavar="N", help="Hint number N, to read one again.")
@json_option
@course_option
@click.pass_context
def command(
    ctx: click.Context, lesson: str | None, function: str | None, is_next: bool, rung: int | None, as_json: bool
) -> None:
    """Show the next hint for LESSON: each gives away a little more.

    A function's name is that of its lesson, and asks for its hints. How many you have used is kept, and the assessment
    mentions it. None is used where your last check has named the mistake, which is shown again, or without LESSON,
    which shows where you stand in your current lesson.

    \b
    Example:
      learn hint softmax
      learn hint softmax --next
      learn hint merge_heads
    """
    context = find_context(ctx)
    chosen = context.lesson(lesson)
    ladders = {name: ladder for name, ladder in chosen.hints.items() if ladder}
    if not ladders:
        raise UsageError(f'the lesson "{chosen.name}" has no hints', next_step=f"learn read {chosen.name}")
    if function is None and lesson:
        function = find_function(chosen, lesson)
    if function is not None and function not in ladders:
        raise _unknown_function(chosen, function, list(ladders))
    name, number = _next(context, chosen, function, rung)
    if context.workspace and not (as_json or is_next or rung):
        found, last = last_finding(context, chosen), len(ladders[name])
        if not (lesson or function) or (found and found.id and function in (None, found.function)):
            show_standing(context, chosen, found, f"hint {min(number, last)} of {last} for `{name}`")
            return
        if found:
            show_finding(found)
            put()
    number = _limit_number(chosen, name, number, asked=rung is not None)
    trouble = context.try_store(lambda store: store.record_hint(chosen.name, name, number, datetime.now(UTC)))
    kept = context.workspace is not None and not trouble
    is_last = number == len(ladders[name])
    _show(chosen, name, number, as_json, kept=kept, solved=is_last and context.progress()[chosen.name].solved)
    if trouble:
        warn(trouble)


def _limit_number(lesson: Lesson, function: str, number: int, *, asked: bool) -> int:
    """Return the number, at most that of the last hint. Raises UsageError if a missing one was asked for."""
    last = len(lesson.hints[function])
    if asked and number > last:
        raise UsageError(
            f"there {'is' if last == 1 else 'are'} only {plural(last, 'hint')} for `{function}`",
            next_step=f"learn hint {lesson.name} --function {function} --rung {last}",
        )
    return min(number, last)


def _next(context: CourseContext, lesson: Lesson, function: str | None, rung: int | None) -> tuple[str, int]:
    """Return the function and rung to show: those asked for, else the next ones."""
    if context.workspace is None:
        return function or next(iter(lesson.hints)), rung or 1
    with context.store() as store:
        name = function or choose_function(lesson, store)
        return name, rung or store.next_hint(lesson.name, name)


def _unknown_function(lesson: Lesson, function: str, names: list[str]) -> UsageError:
    import difflib  # here, because only a mistyped name needs it

    close = difflib.get_close_matches(function, names, 1)
    meant = f'; did you mean "{close[0]}"?' if close else ""
    return UsageError(
        f'there are no hints for a function "{function}" in "{lesson.name}"{meant}',
        next_step=f"learn hint {lesson.name} --function {' | '.join(names)}",
    )


def _show(lesson: Lesson, function: str, number: int, as_json: bool, kept: bool, solved: bool) -> None:
    ladder = lesson.hints[function]
    if as_json:
        content = {"lesson": lesson.name, "function": function, "rung": number, "rungs": len(ladder)}
        put_json({"schema": SCHEMA, **content, "text": ladder[number - 1]})
        return
    put(f"{paint(function, 'strong')}  hint {number} of {len(ladder)}")
    put()
    put(wrap(ladder[number - 1], 2))
    put()
    if number == len(ladder):
        reference = f"The reference, if you give up: `learn solution {lesson.name} --give-up`"
        if solved:
            reference = f"The reference: `learn solution {lesson.name}`"
        if not is_file(lesson.solution_path):
            reference = "The reference is not in this copy of the course; ask your instructor."
        put(wrap(f"That was the last one. {reference}"))
    elif not kept:  # outside a workspace, or in one that cannot be written
        more = f"learn hint {lesson.name} --function {function} --rung {number + 1}"
        put(wrap(f"Nothing is kept here. The next hint: `{more}`"))
    else:
        put("Next  " + paint(f"learn check {lesson.name}", "command"))
