"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

COURSE = "selfattend.course"  # key in a click context's meta data


def _remember(ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.meta[COURSE] = value


def course_option(function: F) -> F:
    """Add `--course DIR`, before or after the command's name."""
    return click.option(
        "--course",
        type=click.Path(path_type=Path),
        metavar="DIR",
        expose_value=False,
        callback=_remember,
        is_eager=True,
        help="The course to use; without it SELFATTEND_COURSE, else the workspace's, else the bundled one.",
    )(function)


def _print_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from grader.cli.version import version

        click.echo(f"selfattend {version()}")
        ctx.exit()


def version_option(function: F) -> F:
    """Add `--version`."""
    return click.option(
        "--version", is_flag=True, expose_value=False, is_eager=True, callback=_print_version, help="Print the version."
    )(function)


def json_option(function: F) -> F:
    """Add `--json`: one object on standard output and nothing else."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(function)


def pager_option(function: F) -> F:
    """Add `--no-pager`."""
    text = "Use a pager for a text longer than the terminal, or never."
    return click.option("--pager/--no-pager", default=True, help=text)(function)
