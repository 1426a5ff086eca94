"""Hand-ins in git: a list of local clones, and the files of a commit in one of them."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from grader.errors import SubmissionError, UsageError
from grader.files import read_bounded, resolved
from grader.intake.formats.git import DAMAGED, Git, GitError, Listing
from grader.intake.formats.zip_member import Note, PassOver, why_refused
from grader.intake.learner import Entry
from grader.intake.limits import (
    MAX_FILES,
    MAX_NOTEBOOK_BYTES,
    Looked,
    is_archive,
    is_artefact,
    is_own,
    is_source,
    limit_for,
)
from grader.intake.platform_names import parse_due

LISTS = (".txt", ".csv", ".lst")
MAX_LIST_BYTES = 8 << 20
MAX_LINE_CHARS = 16_384  # two paths of the longest that Linux takes, and more
LFS = b"version https://git-lfs.github.com/spec/"
MAX_LFS_BYTES = 1024  # of a pointer, by its specification
LINK = "120000"
UNKNOWN_FORM = "The git program here cannot read the repository: a newer one may, or a clone made anew with this one."
BACKDATED = " is dated before its parent"
FORM = "write one repository in a line: PATH, or ID,PATH, or ID,PATH,COMMIT"


def is_list(source: Path) -> bool:
    """Return True for a file whose suffix is that of a list of repositories."""
    return source.suffix.lower() in LISTS and source.is_file()


def read_list(source: Path) -> list[Entry]:
    """Read the repositories that a text file names, with ids and commits where they are given.

    Paths start at the file's folder; lines that begin with # are comments. Raises SubmissionError.
    """
    try:
        text = read_bounded(resolved(source), MAX_LIST_BYTES).decode("utf-8-sig")
    except OSError as error:
        what = f"the list cannot be read: {error.strerror or error}"
        raise SubmissionError(what, where=str(source), next_step=FORM) from None
    except UnicodeDecodeError:
        raise SubmissionError("the list is no UTF-8 text", where=str(source), next_step=FORM) from None
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    read = [_read_line(number, line, source) for number, line in lines if line and not line.startswith("#")]
    found = [entry for entry in read if entry]
    if not any(entry.path.is_dir() for entry in found):
        what = "none of its lines is the folder of a repository" if found else "the list is empty"
        raise SubmissionError(what, where=str(source), next_step=FORM)
    return found


def _read_line(number: int, line: str, source: Path) -> Entry | None:
    if len(line) > MAX_LINE_CHARS:
        raise SubmissionError(f"line {number} of the list is too long", where=str(source), next_step=FORM)
    cells = [cell.strip() for cell in next(csv.reader([line]))]
    if number == 1 and [cell.lower() for cell in cells[:2]] in (["id", "path"], ["path"]):
        return None  # a line of headings
    owner, path, commit = ("", *cells, "", "")[:3] if len(cells) == 1 else (*cells, "")[:3]
    if len(cells) > 3 or "\0" in line or not path or (len(cells) > 1 and not owner):
        raise SubmissionError(f"line {number} of the list is not understood", where=str(source), next_step=FORM)
    if commit.startswith("-") or not re.fullmatch(r"[\w./@{}^~+-]*", commit):
        what = f"line {number} of the list names no commit: {commit!a}"
        raise SubmissionError(what, where=str(source), next_step=FORM)
    folder = resolved(source).parent / os.path.expanduser(path)  # noqa: PTH111  Path's raises for an unknown user
    folder = folder.parent if folder.name == ".git" else folder  # as `find -name .git` lists clones
    if folder.name in ("", "..", ".git"):  # x/.git/.git is in no clone
        what = f"line {number} of the list names no folder of a repository: {path!a}"
        raise SubmissionError(what, where=str(source), next_step=FORM)
    return Entry(folder.name.removesuffix(".git"), folder, "git", owner=owner, commit=commit)


def parse_deadline(text: str) -> int:
    """Return a deadline in seconds since 1970, as `parse_due` reads it: `2026-03-01` is the end of that day.

    Without a time zone it is in that of this machine. Raises UsageError.
    """
    when = parse_due(text)
    if when is None:
        what = f"--before {text} is no date"
        raise UsageError(what, next_step="write it so: --before 2026-03-01, or --before '2026-03-01 23:59'")
    return int(when)


def read_repository(
    path: Path,
    commit: str,
    before: int,
    date: Callable[[float | None], None],
    keep: Callable[[str, bytes], None],
    note: Note,
    pass_over: PassOver,
) -> None:
    """Pass the date of a commit, in seconds since 1970, to *date*, and its Python files and notebooks to *keep*.

    The date comes first: what is in the files cannot hide it. It is None where git can read none.

    The commit is *commit* (HEAD if that is empty), or the newest ancestor not later than *before* (0: no limit).
    Raises GitError, OSError, and what *keep* raises.
    """
    git = Git(path)
    newest = git.query("rev-parse", "--verify", "--end-of-options", f"{commit or 'HEAD'}^{{commit}}")
    if not newest:
        if git.query("rev-parse", "--git-dir") is None:  # of an empty repository, too, it is known
            raise GitError(UNKNOWN_FORM)
        raise GitError(f"The repository has no commit {commit}." if commit else "The repository has no commit yet.")
    chosen = newest
    if before:
        when = f"{datetime.fromtimestamp(before):%Y-%m-%d %H:%M}"
        chosen = _newest_dated(git, newest, before, note)
        if not chosen:
            raise GitError(f"The repository has no commit by {when}.")
        if chosen != newest:
            note(f"Commits after {when} were left out.")
        _note_backdated(git, chosen, note)
    note(f"This is of commit {chosen[:12]}.")
    listed = next(git.history(chosen), None)
    if listed is None:
        raise GitError(DAMAGED)
    date(float(listed[1]) or None)  # git says 0 where it can read none
    files = sorted(_select_files(git, chosen, note, pass_over), key=lambda one: (one.path.count("/"), one.path))[
        :MAX_FILES
    ]
    for file, content in zip(files, git.contents([file.object for file in files], MAX_NOTEBOOK_BYTES), strict=True):
        if content is None:
            note(f"{file.path} was left out: its content is not in the repository.")
        elif len(content) < MAX_LFS_BYTES and content.startswith(LFS):
            note(f"{file.path} was left out: its content is in Git LFS, not in the repository.")
        else:
            keep(file.path, content[: limit_for(file.path)])


def _newest_dated(git: Git, commit: str, before: int, note: Note) -> str:
    """Return the newest ancestor that is not later than *before*, "" for none. What has no date is left out."""
    for name, date, _ in git.history(commit, f"--min-age={before}"):
        if date:
            return name
        note(f"Commit {name[:12]} was left out: it has no date that can be read.")
    return ""


def _note_backdated(git: Git, commit: str, note: Note) -> None:
    """Note the newest commit that is older than a parent of it: a committer's date is what the committer says."""
    if git.is_shallow:
        note("Not all of its history was cloned: whether a commit is dated before its parent cannot be told.")
    history = list(git.history(commit))
    dates = {name: date for name, date, _ in history}
    for name, date, parents in history:
        if date < (parent := max((dates.get(one, date) for one in parents), default=date)):
            own, after = map(_shown, (date, parent))
            note(f"Commit {name[:12]}, {own},{BACKDATED}, {after}: look when it was really handed in.")
            return


def _shown(date: int) -> str:
    """Write a committer's date, which may be of any year."""
    try:
        return f"{datetime.fromtimestamp(date):%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):
        return f"{date} seconds after 1970"


def _select_files(git: Git, commit: str, note: Note, pass_over: PassOver) -> Iterator[Listing]:
    """Yield the files to read; notes say which others a learner may have meant."""
    looked = Looked()
    for file in git.tree(commit):
        looked.add(file.path, file.kind == "tree")
        if looked.full:
            note(f"Only the first {looked.full} were looked at.")
            return
        if file.kind == "tree":  # counted: a few objects can be millions of folders without a file
            continue
        why = _skip_reason(file)
        if why:
            note(f"{file.path} was left out: {why}.")
        elif why is not None:
            yield file
        else:
            pass_over(file.path)


def _skip_reason(file: Listing) -> str | None:
    """Return why a file is left out, empty if it is read; None for a file that needs no reason."""
    is_code = is_source(file.path) or is_artefact(file.path)
    if not is_own(file.path) or not (is_code or is_archive(file.path) or file.kind == "commit"):
        return None
    if why := why_refused(file.path):
        return why
    if file.kind == "commit":
        return "it is another repository (a submodule)"
    if file.mode == LINK:
        return "it is a link"
    if not is_code:
        return "archives in a repository are not opened"
    if not file.size:
        return "its content is not in the repository"
    return "it is too large" if int(file.size) > MAX_NOTEBOOK_BYTES else ""
