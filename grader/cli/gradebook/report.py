"""`grader report`: write all files of a run anew."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from grader.cli.grader.run_result import print_result
from grader.cli.options import json_option, written_options


@click.command("report")
@click.argument("out", metavar="DIR", type=click.Path(path_type=Path))
@written_options
@json_option
@click.pass_context
def command(ctx: click.Context, /, out: Path, as_json: bool, **written: bool) -> None:
    """Write all files of the run in DIR anew. Nothing is graded.

    For results of a run that was killed, files that were deleted or changed by hand, and for feedback with or without
    what hidden checks asked.

    \b
    Example:
      grader report results
      grader report results --reveal
    """
    from grader.batch.results import open_results

    with closing(open_results(out, **written)) as results:
        results.write_learners()
        results.write_class()
        ctx.exit(print_result(results, out, as_json))
