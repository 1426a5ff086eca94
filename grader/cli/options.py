"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

LONG_NUMBER = re.compile(r"\d{41,}")  # a seed has 39 digits
COURSE = "selfattend.course"  # key in a click context's meta data


def _remember_course(ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.meta[COURSE] = value


def _print_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from grader.cli.version import version

        click.echo(f"selfattend {version()}")
        ctx.exit()


course_option = click.option(  # before or after the command's name
    "--course",
    type=click.Path(path_type=Path),
    metavar="DIR",
    expose_value=False,
    callback=_remember_course,
    is_eager=True,
    help="The course to use; without it SELFATTEND_COURSE, else the workspace's, else the bundled one.",
)
version_option = click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
WRITTEN_OPTIONS = (
    click.option("--reveal", is_flag=True,
                 help="Let learners' feedback show the inputs of hidden checks, and what was expected."),
    click.option("--no-code", is_flag=True, help="Write no pages that show learners' code beside the verdict."),
    click.option("--gradescope", is_flag=True, help="Write gradescope/ID/results.json for each learner, too."),
    click.option("--junit", is_flag=True, help="Write junit.xml, too, for continuous integration."),
)  # fmt: skip
pager_option = click.option(
    "--pager/--no-pager", default=True, help="Use a pager for a text longer than the terminal, or never."
)


def written_options(function: F) -> F:
    """Add the options that say what is written of results."""
    for option in reversed(WRITTEN_OPTIONS):
        function = option(function)
    return function


class WholeNumber(click.IntRange):
    """A whole number in a range that is said in words, where click writes 1<=x<=10."""

    name = "number"

    def _describe_range(self) -> str:
        return _say_range(self.min, self.max)

    def fail(self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None) -> NoReturn:
        super().fail(_say_outside(message), param, ctx)


class Number(click.FloatRange):
    """A number in a range that is said in words; its lower end may be left out."""

    name = "number"

    def _describe_range(self) -> str:
        return _say_range(self.min, self.max, self.min_open)

    def fail(self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None) -> NoReturn:
        super().fail(_say_outside(message), param, ctx)


def _say_range(low: float | None, high: float | None, is_open: bool = False) -> str:
    if high is None:
        return f"{low:.12g} or more"
    return f"above {low:.12g}, up to {high:.12g}" if is_open else f"{low:.12g} to {high:.12g}"


def _say_outside(message: str) -> str:
    """Say "must be 1 or more, not -1" where click says that -1 is not in the range 1 or more."""
    message = LONG_NUMBER.sub(lambda found: f"{found[0][:8]}… of {len(found[0])} digits", message)
    value, is_outside, allowed = message.rstrip(".").partition(" is not in the range ")
    return f"must be {allowed}, not {value}." if is_outside else message
