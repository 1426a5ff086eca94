"""The class list: a CSV file with the columns id and repository, and perhaps name."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from grader.errors import UsageError
from grader.files import at, decode_table, file_name, read_whole

FOLDER = "feedback"  # in a learner's repository
COLUMNS = ("id", "repository", "name")
FORM = "write it so: a line id,repository, then one such as ada,our-school/homework-1-ada for each learner"
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/(?!\.{1,2}$)[A-Za-z0-9_.][\w.-]*", re.ASCII)


class ClassMember(NamedTuple):
    """A learner, whose work is in `repository` (OWNER/NAME) on GitHub."""

    id: str
    repository: str
    name: str = ""


def read_class(path: Path, tell: Callable[[str], None] = lambda _note: None) -> list[ClassMember]:
    """Read the list; *tell* is called with a note on its encoding, if that had to be guessed.

    Raises UsageError with the line of what is wrong.
    """
    try:
        decoded = decode_table(read_whole(path))
        rows = list(csv.reader(decoded.text.removeprefix("\ufeff").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        what = f"the class list cannot be read: {getattr(error, 'strerror', None) or error}"
        raise UsageError(what, where=str(path), next_step=FORM) from None
    if note := decoded.note(str(path)):
        tell(note)
    heading = [cell.strip().lower() for cell in rows[0]] if rows else []
    if not {"id", "repository"} <= set(heading):
        raise UsageError("the class list has no columns id and repository", where=at(path, 1), next_step=FORM)
    members: list[ClassMember] = []
    for number, row in enumerate(rows[1:], 2):
        if any(cell.strip() for cell in row):
            members.append(_read_member(dict(zip(heading, map(str.strip, row), strict=False)), at(path, number)))
            _require_new(members, at(path, number))
    if not members:
        raise UsageError("the class list names nobody", where=str(path), next_step=FORM)
    return members


def _read_member(cells: dict[str, str], where: str) -> ClassMember:
    own, repository, name = (cells.get(column, "") for column in COLUMNS)
    repository = re.sub(r"^https://github\.com/|(\.git)?/?$", "", repository)
    if not own or file_name(own) != own:
        what = f"{own or 'nothing'} is no id: it may have letters, digits and _.@+-"
        raise UsageError(what, where=where, next_step=FORM)
    if not _REPOSITORY.fullmatch(repository):
        raise UsageError(f"{repository or 'nothing'} is no repository on GitHub", where=where, next_step=FORM)
    return ClassMember(own, repository, name)


def _require_new(members: list[ClassMember], where: str) -> None:
    """Raise UsageError if the last one has an id or a repository that another has."""
    *others, last = (([one.id.casefold(), one.repository.casefold()]) for one in members)
    taken = [value for before in others for value, own in zip(before, last, strict=True) if value == own]
    if taken:
        raise UsageError(f"{taken[0]} stands there twice", where=where, next_step="leave one of the two lines out")


def write_class(path: Path, members: Iterable[ClassMember]) -> None:
    """Write the list anew."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *members])
