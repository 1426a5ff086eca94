"""Hand-ins in git: a list of local clones, and the files of a commit in one of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from grader.errors import SubmissionError, UsageError
from grader.intake.formats.git import Git, GitError, Listing
from grader.intake.formats.zip_member import Note, is_own, leads_out
from grader.intake.limits import ARCHIVES, KEPT, MOST_ENTRIES, MOST_FILES, NOTEBOOK_BYTES, limit_for, read_bounded

LISTS = (".txt", ".csv", ".lst")
LARGEST_LIST = 8 << 20
LFS = b"version https://git-lfs.github.com/spec/"
LINK = "120000"
FORM = "write one repository in a line: PATH, or ID,PATH, or ID,PATH,COMMIT"


@dataclass(frozen=True)
class Listed:
    """A line of the list: a repository, the id it is given for (empty without one) and the commit that is asked for."""

    id: str
    path: Path
    commit: str = ""


def is_list(source: Path) -> bool:
    """Whether what was given to grade is a list of repositories, by its name."""
    return source.suffix.lower() in LISTS and source.is_file()


def read_list(source: Path) -> list[Listed]:
    """The repositories that a text file names; paths start at its folder. Lines that begin with # say nothing.
    Raises SubmissionError."""
    try:
        text = read_bounded(source.resolve(), LARGEST_LIST).decode("utf-8-sig")
    except OSError as error:
        what = f"the list cannot be read: {error.strerror or error}"
        raise SubmissionError(what, where=str(source), next_step=FORM) from None
    except UnicodeDecodeError:
        raise SubmissionError("the list is no UTF-8 text", where=str(source), next_step=FORM) from None
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    listed = [_listed(number, line, source) for number, line in lines if line and not line.startswith("#")]
    found = [one for one in listed if one is not None]
    if not any(one.path.is_dir() for one in found):
        what = "none of its lines is the folder of a repository" if found else "the list is empty"
        raise SubmissionError(what, where=str(source), next_step=FORM)
    return found


def _listed(number: int, line: str, source: Path) -> Listed | None:
    cells = [cell.strip() for cell in next(csv.reader([line]))]
    if number == 1 and [cell.lower() for cell in cells[:2]] in (["id", "path"], ["path"]):
        return None  # a line of headings
    owner, path, commit = ("", *cells, "", "")[:3] if len(cells) == 1 else (*cells, "")[:3]
    if len(cells) > 3 or "\0" in line or not path or (len(cells) > 1 and not owner):
        raise SubmissionError(f"line {number} of the list is not understood", where=str(source), next_step=FORM)
    if commit.startswith("-") or not re.fullmatch(r"[\w./@{}^~+-]*", commit):
        what = f"line {number} of the list names no commit: {commit!a}"
        raise SubmissionError(what, where=str(source), next_step=FORM)
    return Listed(owner, source.resolve().parent / Path(path).expanduser(), commit)


def moment(text: str) -> int:
    """A deadline in seconds since 1970: `2026-03-01`, the end of that day, or `2026-03-01 12:00`, in the time zone of
    this machine if none is given. Raises UsageError."""
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        what = f"--before {text} is no date"
        raise UsageError(what, next_step="write it so: --before 2026-03-01, or --before '2026-03-01 23:59'") from None
    if re.fullmatch(r"[\d-]+", text.strip()):
        when = when.replace(hour=23, minute=59, second=59)
    return int(when.astimezone().timestamp())


def read_repository(path: Path, commit: str, before: int, keep: Callable[[str, bytes], bool], note: Note) -> None:
    """Give `keep` the Python files and notebooks of a commit until it wants no more: of `commit` (HEAD if that is
    empty) or, if `before` is not 0, of the newest one that leads to it and is not later. Raises GitError, OSError."""
    git = Git(path)
    newest = git.say("rev-parse", "--verify", "--end-of-options", f"{commit or 'HEAD'}^{{commit}}")
    if not newest:
        raise GitError(f"The repository has no commit {commit}." if commit else "The repository has no commit yet.")
    chosen = newest
    if before:
        when = f"{datetime.fromtimestamp(before):%Y-%m-%d %H:%M}"
        chosen = git.say("rev-list", "--max-count=1", f"--min-age={before}", newest) or ""
        if not chosen:
            raise GitError(f"The repository has no commit by {when}.")
        if chosen != newest:
            note(f"Commits after {when} were left out.")
    note(f"This is of commit {chosen[:12]}.")
    files = sorted(_wanted(git, chosen, note), key=lambda one: (one.path.count("/"), one.path))[:MOST_FILES]
    for file, content in zip(files, git.contents([file.object for file in files], NOTEBOOK_BYTES), strict=True):
        if content is None:
            note(f"{file.path} was left out: its content is not in the repository.")
        elif content.startswith(LFS):
            note(f"{file.path} was left out: its content is in Git LFS, not in the repository.")
        elif not keep(file.path, content[: limit_for(file.path)]):
            return


def _wanted(git: Git, commit: str, note: Note) -> Iterator[Listing]:
    """The files to read; a note says which others a learner may have meant."""
    for seen, file in enumerate(git.tree(commit)):
        if seen >= MOST_ENTRIES:
            note(f"Only the first {MOST_ENTRIES} files were looked at.")
            return
        why = _why_not(file)
        if why:
            note(f"{file.path} was left out: {why}.")
        elif why is not None:
            yield file


def _why_not(file: Listing) -> str | None:
    """Why a file is not read, empty if it is; None where nobody will miss it."""
    is_code = file.path.lower().endswith(KEPT)
    if not is_own(file.path) or not (is_code or file.path.lower().endswith(ARCHIVES) or file.kind == "commit"):
        return None
    if leads_out(file.path):
        return "its name leads out of the repository"
    if file.kind == "commit":
        return "it is another repository (a submodule)"
    if file.mode == LINK:
        return "it is a link"
    if not is_code:
        return "archives in a repository are not opened"
    if not file.size:
        return "its content is not in the repository"
    return "it is too large" if int(file.size) > NOTEBOOK_BYTES else ""
