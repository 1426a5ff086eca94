"""`learn read`: show a lesson's text."""

from __future__ import annotations

import click

from grader.cli.context import CourseContext, find_context, short_path
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option, pager_option
from grader.model import Lesson
from grader.terminal.console import has_reader, paint, put, show_paged
from grader.terminal.text import clean

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
    pieces = [_name(part.answer) + markdown(_clean_lines(part.hidden + part.text)) for part in read_parts(chosen)]
    pieces[-1] += f"\n{_footer(context, chosen, pieces[-1])}"
    if whole or not has_reader():
        pieces = ["\n".join(pieces)]
    for number, piece in enumerate(pieces):
        if number and not _wants_the_answer():
            return
        is_paged, (_, question, asked) = show_paged(piece, pager, len(pieces) > 1), piece.rpartition(QUESTION)
        if is_paged and question and number + 1 < len(pieces):
            put(f"\n{question}{asked}")  # whoever skipped the rest has not seen it


def _clean_lines(text: str) -> str:
    """Clean each line, so that a long text is not cut."""
    return "\n".join(map(clean, text.split("\n")))


def _name(answer: str) -> str:
    """Write the line that stands above an answer."""
    return paint(f"--- {clean(answer)} ---", "quiet") + "\n\n" if answer else ""


def _wants_the_answer() -> bool:
    """Wait for the reader's guess, which is theirs; False if they leave."""
    from grader.cli.quiz.prompt import STOP_KEY, Prompter

    try:
        return Prompter().ask(f"Your guess, or Enter alone; {STOP_KEY} leaves: ").strip().lower() != STOP_KEY
    except EOFError:
        return False


def _footer(context: CourseContext, lesson: Lesson, text: str) -> str:
    """Say where to write, and how to check it where the text does not."""
    check = f"learn check {lesson.name}"
    told = "" if check in text else f"Check it:   {check}\n"
    if context.workspace is None:
        return f"Your own copy of the exercise:  learn start\n{told}"
    return f"Your file:  {short_path(context.workspace.exercise_path(lesson))}\n{told}"
