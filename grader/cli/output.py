"""Write what a command makes: a file, or JSON on standard output."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from grader.errors import UsageError
from grader.files import explain_unwritable

FILE = click.Path(path_type=Path, dir_okay=False)

out_option = click.option("--out", type=FILE, metavar="FILE", help="The file to write; without it, standard output.")


def put_json(content: dict[str, Any]) -> None:
    """Print one object, and nothing else."""
    from grader.reports.formats.to_json import dump  # here: most calls print no JSON

    click.echo(dump(content))


def refuse_existing(path: Path, force: bool) -> None:
    """Raise UsageError if the file is there already, unless with --force."""
    if os.path.lexists(path) and not force:
        raise UsageError("this file is there already", where=str(path), next_step="the same command with --force")


def write_file(path: Path, text: str, what: str, *, next_step: str = "name another file with --out") -> None:
    """Write a text file. Raises UsageError, which calls the content `what`; for a link, too, but to a device.

    The file may lie in somebody else's folder, and a link there lead to a file of the user's.
    """
    if path.is_symlink() and not any(map(path.is_relative_to, ("/dev", "/proc"))):
        raise UsageError(f"{what} cannot be written: this is a link", where=str(path), next_step=next_step)
    with explain_unwritable(what, path, next_step):
        path.write_text(text, encoding="utf-8", newline="\n")
