"""The option --out of commands that write a file or standard output."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from grader.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, dir_okay=False)


def out_option(function: F) -> F:
    """Add `--out FILE`."""
    says = "The file to write; without it, standard output."
    return click.option("--out", type=FILE, metavar="FILE", help=says)(function)


def write_file(path: Path, text: str, what: str, *, next_step: str = "name another file with --out") -> None:
    """Write a text file. Raises UsageError, which calls the content `what`."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        problem = f"{what} cannot be written: {error.strerror or error}"
        raise UsageError(problem, where=str(path), next_step=next_step) from None
