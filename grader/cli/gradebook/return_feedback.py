"""`grader return`: every learner's feedback, named as their platform takes it back."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.context import short_path
from grader.cli.gradebook.export import put_list, unfinished_text
from grader.cli.options import json_option
from grader.cli.output import put_json, refuse_existing
from grader.errors import UsageError
from grader.files import explain_unwritable
from grader.model import SCHEMA
from grader.terminal.console import paint, put, warn, wrap
from grader.terminal.text import plural

PATH = click.Path(path_type=Path)
UPLOAD = {
    "canvas": "in Canvas: Grades, the assignment's menu, Re-upload Submissions; each learner finds a comment with the "
    "page, which Canvas calls by the name of their own file",
    "moodle": 'in Moodle: the assignment, View all submissions, "Upload multiple feedback files in a zip"; its '
    'settings must have "Feedback files" on',
    "folder": "give each learner the page in the folder of their id",
}


@click.command("return")
@click.argument("results", metavar="DIR", type=PATH)
@click.option("--canvas", "platform", flag_value="canvas", help="A zip for Canvas, of text.")
@click.option("--moodle", "platform", flag_value="moodle", help="A zip for Moodle, of HTML pages.")
@click.option("--folder", "platform", flag_value="folder", help="A folder with a folder for each hand-in.")
@click.option("--out", required=True, type=PATH, metavar="FILE", help="The zip, or the folder, to write.")
@click.option(
    "--since",
    multiple=True,
    type=PATH,
    metavar="ZIP",
    help="Leave out the pages that this zip, which was returned before, holds as they are; may be given again.",
)
@click.option("--force", is_flag=True, help="Replace what is at --out.")
@json_option
def command(
    results: Path, platform: str | None, out: Path, since: tuple[Path, ...], force: bool, as_json: bool
) -> None:
    """Return the feedback in DIR to the learners.

    What is returned is feedback/ as it is there: without hidden inputs, unless the results were written with --reveal.
    Grade the files as the platform gave them: names and numbers in them say whose they are. Of several attempts the
    last one's feedback is returned.

    \b
    Example:
      grader return results --canvas --out feedback.zip
      grader return results --moodle --out feedback.zip
      grader return results --canvas --out second.zip --since feedback.zip
    """
    from grader.batch.return_feedback import return_feedback

    if platform is None:
        raise UsageError("name the platform", next_step="--canvas, --moodle or --folder")
    if since and platform == "folder":
        raise UsageError("--since is for zips", next_step="leave it out, or name the platform: --canvas or --moodle")
    refuse_existing(out, force)
    with explain_unwritable("the feedback", out, "name another place with --out"):
        returned = return_feedback(results, platform, out, since)
    left = [{"who": who, "why": why} for who, why in returned.left]
    if as_json:
        unfinished = {"unfinished": returned.unfinished}
        written = {"written": returned.written, "same": returned.same}
        put_json({"schema": SCHEMA, "out": str(out), **written, **unfinished, "left": left})
        return
    if returned.unfinished != 0:
        lacking = unfinished_text(returned.unfinished)
        warn(f"{lacking}; their feedback is not in it (grader run ... --out {results} --resume)")
    put(paint(f"{plural(returned.written, 'page')} written to {short_path(out.absolute())}.", "strong"))
    if returned.same:
        put(f"{plural(returned.same, 'page')} left out: returned before as they are.")
    put_list("Left out", [f"{who}: {why}" for who, why in returned.left])
    put()
    put(wrap(f"Next  {UPLOAD[platform]}"))
