"""`learn read`: show a lesson's text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from grader.cli.context import CourseContext, find_context, short_path
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option, pager_option
from grader.model import Lesson
from grader.terminal.console import has_reader, is_paged, paint, put, show_paged
from grader.terminal.text import clean

if TYPE_CHECKING:
    from grader.cli.quiz.prompt import Prompter

QUESTION = "Predict before you read on"  # begins what is asked before a text goes on


@click.command("read")
@lesson_argument(required=False)
@pager_option
@click.option("--whole", is_flag=True, help="Show every answer at once, without asking for your guess.")
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str | None, pager: bool, whole: bool) -> None:
    """Read LESSON; without it, your current lesson.

    The text stops where you should guess before you read on: Enter shows the answer.

    \b
    Example:
      learn read softmax
      learn read softmax --whole --no-pager
    """
    from grader.course import read_parts
    from grader.terminal.markdown import markdown

    context = find_context(ctx)
    chosen = context.lesson(lesson)
    parts = read_parts(chosen)
    if whole or not has_reader():
        text = "\n".join(_name(part.answer) + markdown(_clean_lines(part.hidden + part.text)) for part in parts)
        show_paged(f"{text}\n{_footer(context, chosen, text)}", pager)
        return
    texts = [markdown(_clean_lines(part.text)) for part in parts]
    texts[-1] += f"\n{_footer(context, chosen, texts[-1])}"
    answers = [_name(part.answer) + markdown(_clean_lines(part.hidden)).strip("\n") for part in parts]
    with suppress(EOFError):  # the reader leaves
        _ask_and_show(list(zip(answers, texts, strict=True)), pager)


def _clean_lines(text: str) -> str:
    """Clean each line, so that a long text is not cut."""
    return "\n".join(map(clean, text.split("\n")))


def _name(answer: str) -> str:
    """Write the line that stands above an answer."""
    return paint(f"--- {clean(answer)} ---", "quiet") + "\n\n" if answer else ""


def _ask_and_show(parts: Sequence[tuple[str, str]], pager: bool) -> None:
    """Show texts, each below the answer to the question in which the one before ends. Raises EOFError."""
    from grader.cli.quiz.prompt import STOP_KEY, Prompter

    prompter = Prompter()
    for number, (answer, text) in enumerate(parts):
        text, question = _cut_question(text) if number + 1 < len(parts) else (text, "")
        if number:
            _ask(prompter, f"Your guess, or Enter alone; {STOP_KEY} stops ")
            _show_answer(prompter, answer, pager)
            if is_paged(text, pager):  # which would scroll the answer away
                _ask(prompter, f"Enter goes on, {STOP_KEY} stops ")
        show_paged(text, pager, len(parts) > 1)
        if question and is_paged(text, pager):
            put()  # the page may have been left before its end
        click.echo(question, nl=False, color=True)


def _cut_question(text: str) -> tuple[str, str]:
    """Cut a text before the paragraph that asks, if there is one."""
    before, question, _ = text.rpartition(QUESTION)
    start = before.rfind("\n") + 1 if question else len(text)
    return text[:start], text[start:]


def _show_answer(prompter: Prompter, answer: str, pager: bool) -> None:
    """Show an answer below its question and the reader's guess; it pauses where a page would."""
    if pager:
        prompter.show([*answer.split("\n"), ""])
    else:
        put(f"{answer}\n")


def _ask(prompter: Prompter, prompt: str) -> None:
    """Wait for a line, whatever it is. Raises EOFError if it says that the reader leaves."""
    from grader.cli.quiz.prompt import STOP_KEY

    if prompter.ask(prompt).strip().lower() == STOP_KEY:
        raise EOFError


def _footer(context: CourseContext, lesson: Lesson, text: str) -> str:
    """Say where to write, and how to check it where the text does not."""
    check = f"learn check {lesson.name}"
    told = "" if check in text else f"Check it:   {check}\n"
    if context.workspace is None:
        return f"Your own copy of the exercise:  learn start\n{told}"
    return f"Your file:  {short_path(context.workspace.exercise_path(lesson))}\n{told}"
