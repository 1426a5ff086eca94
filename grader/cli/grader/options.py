"""The options of `grader run`, in groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from grader.cli.lesson_parameters import lessons_option
from grader.cli.options import WRITTEN_OPTIONS, WholeNumber, course_option, json_option
from grader.judge.session import DEVICES

F = TypeVar("F", bound=Callable[..., Any])

FOLDER = click.Path(path_type=Path)
GROUPS = {
    "What is handed in": ("names", "roster", "attempts", "before"),
    "What is graded": ("course", "lessons", "only", "limit", "shard", "seed"),
    "Results that are there already": ("resume", "regrade", "older"),
    "Where it is graded": ("jobs", "engine", "device", "isolation", "as_root"),
    "What is written": ("out", "pictures", "reveal", "no_code", "gradescope", "junit", "as_json"),
}


class GroupedCommand(click.Command):
    """Shows its options in GROUPS; the others come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options in groups."""
        given = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        left = {option.name: line for option in given if (line := option.get_help_record(ctx))}
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([left.pop(name) for name in names if name in left])
        with formatter.section("Other options"):
            formatter.write_dl(list(left.values()))


# fmt: off
OPTIONS = (
    click.option("--names", metavar="FORM",
                 help="How the hand-ins are named: canvas, moodle, gradescope, blackboard, brightspace, or a regular "
                 "expression with the groups id, name, attempt, when, late, file."),
    click.option("--roster", type=FOLDER, metavar="FILE",
                 help="The class list, a CSV: gives hand-ins their people, and says who is missing."),
    click.option("--attempts", type=click.Choice(["merge", "best", "last", "all"]), default="merge", show_default=True,
                 help="Of a learner's several hand-ins: merge grades the newest file of each lesson, best takes the "
                 "best score of each, last the last hand-in alone, all grades each by itself."),
    click.option("--before", metavar="DATE",
                 help="Of a git repository, its newest commit before DATE, by the dates in the commits."),
    course_option,
    lessons_option,
    click.option("--only", multiple=True, metavar="ID", help="Only this submission; may be given several times."),
    click.option("--limit", type=WholeNumber(1), metavar="N", help="Grade N submissions at most."),
    click.option("--shard", metavar="I/N", help="Only part I of N, for arrays of jobs; `grader merge` joins them."),
    click.option("--seed", type=WholeNumber(0), metavar="N",
                 help="Seed of the random inputs, the same for everybody."),
    click.option("--resume", is_flag=True,
                 help="Go on with the results in DIR: grade what is new or changed, or failed by our fault."),
    click.option("--regrade", is_flag=True,
                 help="Grade again, all or --only some; old scores are kept, and what changed is shown."),
    click.option("--older", is_flag=True, help="Take hand-ins, too, that are older than what was graded."),
    click.option("--jobs", type=WholeNumber(1), metavar="N",
                 help="Submissions graded at the same time; one a core without it."),
    click.option("--engine", default="local", show_default=True, metavar="WHERE",
                 help="This machine, or the Dask scheduler at dask://HOST:PORT."),
    click.option("--isolation", type=click.Choice(["required", "process"]), default="required", show_default=True,
                 help="required: learners' code is kept from files and network, or nothing is graded. "
                 "process: it is not, for code that you trust."),
    click.option("--as-root", is_flag=True, help="Let root use --isolation process."),
    click.option("--device", type=click.Choice(DEVICES), default="cpu", show_default=True,
                 help="What learners' code computes on."),
    click.option("--out", type=FOLDER, metavar="DIR", help="Where the results go."),
    click.option("--pictures", is_flag=True,
                 help="Draw what each submission answers beside what was expected, for the pages of code."),
    *WRITTEN_OPTIONS,
    json_option,
)
# fmt: on


def options(function: F) -> F:
    """Add all options of `grader run`."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function
