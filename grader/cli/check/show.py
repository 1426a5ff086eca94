"""`learn show`: pictures of what the learner's code answers, beside what the reference does."""

from __future__ import annotations

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
from grader.errors import UsageError
from grader.files import explain_unwritable, is_file
from grader.terminal.console import make_layout, paint, put, show_paged, signs
from grader.terminal.text import plural

if TYPE_CHECKING:
    from grader.model.picture import Picture


@click.command("show")
@lesson_argument(required=False)
@click.option("--file", type=click.Path(path_type=Path), metavar="PATH", help="Show this file, not the workspace's.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write them to FILE.svg, .png or .html.")
@click.option("--words", is_flag=True, help="Say every number, for a screen reader.")
@json_option
@course_option
@click.pass_context
def command(
    ctx: click.Context, lesson: str | None, file: Path | None, out: Path | None, words: bool, as_json: bool
) -> None:
    """Draw what your code answers, and what is expected.

    Yours, expected, and the difference. The pictures are of a small call on which yours differs, if there is one.
    Without LESSON, your current lesson. Exit code 1: your file could not be loaded.

    \b
    Example:
      learn show softmax
      learn show attention --out attention.html
    """
    if out:
        from grader.reports.formats.to_picture_file import require_format

        require_format(out)
    context = find_context(ctx)
    chosen, file = choose_compared(context, lesson, file, "show")
    if not is_file(chosen.pictures_path):
        raise UsageError(f'there are no pictures of "{chosen.name}"', next_step=f"learn trace {chosen.name}")
    submission = read_compared(context, chosen, file, "show")
    pictures, error = ask_judge(context.course, [chosen], lambda judge: judge.draw_pictures(chosen, submission))
    if as_json:
        shown = [each.vega_lite | {"description": " ".join((each.asked, *each.notes))} for each in pictures]
        put_found(chosen, {"pictures": shown}, error, submission)
        ctx.exit(NOT_YET if error else 0)
    if error:
        tell_error(error, submission, "drawn")
    elif not pictures:
        put("Nothing could be drawn; the check says why.")
    elif out:
        _write(pictures, out)
    else:
        from grader.terminal.picture import draw

        layout = make_layout()
        show_paged("\n".join(draw(each, layout, words) for each in pictures), pager=not words)
    tell_left_out(submission)
    put(f"\nNext  {paint(command_after(context, chosen, file), 'command')}")
    ctx.exit(NOT_YET if error else 0)


def _write(pictures: list[Picture], out: Path) -> None:
    from grader.reports.formats.to_picture_file import to_file

    with explain_unwritable("the picture", out, "name another place with --out FILE"):
        out.write_bytes(to_file(pictures, out.suffix))
    put(f"{signs().passed} {plural(len(pictures), 'picture')} in {out}")
