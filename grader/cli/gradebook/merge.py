"""`grader merge`: join the parts of a class to one set of results."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import load_course
from grader.cli.grader.run_result import print_result, some_names
from grader.cli.options import course_option, json_option, written_options
from grader.cli.run_command import NOT_YET
from grader.terminal.console import put, warn
from grader.terminal.text import plural

if TYPE_CHECKING:
    from grader.batch.merge import MergeSummary


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, metavar="PART...", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where the results go.")
@written_options
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, /, parts: tuple[Path, ...], out: Path, as_json: bool, **written: bool) -> None:
    """Join parts of a class that different jobs graded.

    A PART is a folder that `grader run` was given with --out, or a .sqlite file in it. All must have been graded with
    the same course, lessons and seed. Where somebody is in several parts, the newest result counts. What is in DIR
    already stays, and more can be added later. Exit status 1 if parts of the class are not there.

    \b
    Example:
      grader run submissions --out results --seed 7 --shard 1/2
      grader run submissions --out results --seed 7 --shard 2/2
      grader merge results --out results
    """
    from grader.batch.merge import Merge

    with closing(Merge(parts, out, **written)) as merge:
        merged = merge.join()
        course = load_course(ctx)
        same = merge.is_of(course)
        merge.results.finish(course if same else None)
        if not same:
            warn("the course here is not the one that was graded with: nobody was compared with anybody (--course)")
        _warn_of_gaps(merged)
        if not as_json:
            put(f"{plural(merged.parts, 'part')} joined, {plural(merged.added, 'result')} added.")
        code = print_result(merge.results, out, as_json)
    ctx.exit(code or (NOT_YET if merged.absent else 0))


def _warn_of_gaps(merged: MergeSummary) -> None:
    for what, names in (
        ("parts that are not there", merged.absent),
        ("in several parts, of which the newest result counts", merged.overlaps),
        ("without a result, or with an earlier hand-in's", merged.lacking),
        ("of one name in different parts, perhaps one person under two ids", merged.namesakes),
        ("scores given by a human that count no more", merged.unsaid),
    ):
        if names:
            warn(f"{what}: {some_names(names)}")
