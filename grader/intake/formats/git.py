"""The git program as a reader of objects in a clone that may be hostile. Nothing is checked out, nothing is fetched.

The configuration of a clone can name programs that git then runs (hooks, fsmonitor, filters, ssh), and its files can
lead into somebody else's clone. So only commands that read objects are run, with the git folder named outright, with no
configuration but the clone's own, with no way to a remote, and not at all where a file in that folder is a link or says
that the repository lies elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from grader.intake.limits import read_bounded

SECONDS = 60.0  # for all that git does about one hand-in
MEMORY_BYTES = 2 << 30
LONGEST_LINE = 1 << 16
MOST_FILES = 200_000  # in a git folder
# GIT_ALLOW_PROTOCOL overrules the clone's configuration: no transport may be used at all, so that a missing object is
# not fetched from a promisor remote, which can be a command. With the git folder given, git does not ask who owns it.
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat",
    "LC_ALL": "C", "HOME": os.devnull, "XDG_CONFIG_HOME": os.devnull,
}  # fmt: skip
OPTIONS = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
DAMAGED = "The repository is damaged, or not all of it was cloned."


class GitError(Exception):
    """The repository cannot be read; the text is a sentence for the reader of the results."""


class Listing(NamedTuple):
    """A file, link or submodule of a commit; `size` is empty where there is none to be had."""

    mode: str
    kind: str
    object: str
    size: str
    path: str


class Git:
    """One repository, to be read for a bounded time."""

    def __init__(self, path: Path) -> None:
        """`path` is a working copy or a bare repository. Raises GitError, OSError."""
        self.folder = _git_folder(path)
        self._deadline = time.monotonic() + SECONDS

    def say(self, *arguments: str) -> str | None:
        """The line that a command prints; None if it fails. Raises GitError."""
        with self._run(arguments) as answers:
            said = answers.line()
            return said.decode("ascii", "replace") if answers.ended_well() else None

    def tree(self, commit: str) -> Iterator[Listing]:
        """Everything in a commit, as git comes to it. Raises GitError."""
        with self._run(("ls-tree", "-r", "-l", "-z", "--full-tree", commit)) as answers:
            while line := answers.line(b"\0"):
                about, _, path = line.partition(b"\t")
                fields = about.decode("ascii", "replace").split()
                if len(fields) != 4:
                    raise GitError(DAMAGED)
                size = fields[3] if fields[3].isdigit() else ""
                mode, kind, name = fields[:3]
                yield Listing(mode, kind, name, size, path.decode("utf-8", "surrogateescape"))
            if not answers.ended_well():
                raise GitError(DAMAGED)

    def contents(self, objects: Iterable[str], limit: int) -> Iterator[bytes | None]:
        """The content of each object in turn, of at most `limit` bytes; None where it is not there. Raises GitError."""
        objects = list(objects)
        with self._run(("cat-file", "--batch"), "".join(f"{name}\n" for name in objects)) as answers:
            for _ in objects:
                about = answers.line().split()
                if len(about) != 3:
                    yield None
                    continue
                if not about[2].isdigit() or int(about[2]) > limit:
                    raise GitError(DAMAGED)
                yield answers.exactly(int(about[2]) + 1)[:-1]

    @contextlib.contextmanager
    def _run(self, arguments: tuple[str, ...], asked: str = "") -> Iterator[_Answers]:
        with tempfile.TemporaryFile() as questions:  # a pipe could fill up while git waits for us to read
            questions.write(asked.encode())
            questions.seek(0)
            try:
                process = subprocess.Popen(
                    ["git", *OPTIONS, f"--git-dir={self.folder}", *arguments], bufsize=0, cwd=self.folder,
                    env={"PATH": os.environ.get("PATH", os.defpath), **ENVIRONMENT},
                    stdin=questions, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                )  # fmt: skip
            except FileNotFoundError:
                raise GitError("The program git is not installed here.") from None
        with process:
            try:
                _bound_memory(process.pid)
                yield _Answers(process, self._deadline)
            finally:
                process.kill()


class _Answers:
    """What a git process prints, read until the deadline. Its methods raise GitError."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process, self._deadline = process, deadline
        self._read = bytearray()

    def line(self, end: bytes = b"\n") -> bytes:
        """The next line, without its end; the rest, or nothing, at the end of everything."""
        while (place := self._read.find(end)) < 0 and self._more():
            if len(self._read) > LONGEST_LINE:
                raise GitError(DAMAGED)
        return self._take(place if place >= 0 else len(self._read), len(end))

    def exactly(self, size: int) -> bytes:
        """The next `size` bytes."""
        while len(self._read) < size and self._more():
            pass
        if len(self._read) < size:
            raise GitError(DAMAGED)
        return self._take(size, 0)

    def ended_well(self) -> bool:
        """Whether the process ends with status 0, once it has said everything."""
        while self._more():
            self._read.clear()
        return self._process.wait() == 0

    def _take(self, size: int, end: int) -> bytes:
        taken = bytes(self._read[:size])
        del self._read[: size + end]
        return taken

    def _more(self) -> bool:
        assert self._process.stdout is not None
        left = self._deadline - time.monotonic()
        if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
            raise GitError(f"Reading the repository takes longer than {SECONDS:.0f} s.")
        piece = os.read(self._process.stdout.fileno(), 1 << 20)
        self._read += piece
        return bool(piece)


def _bound_memory(pid: int) -> None:
    """Let a git process have MEMORY_BYTES, where the system can say so to another process."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    except (ImportError, AttributeError, OSError):  # not Linux, or the process has ended already
        return


def _git_folder(path: Path) -> Path:
    """The folder of the repository's objects: `.git`, or the path itself where it is bare. Raises GitError."""
    if not path.is_dir():
        raise GitError(f"There is no folder {path.name} where the list says.")
    inner = path.resolve() / ".git"
    folder = inner if os.path.lexists(inner) else path.resolve()
    if folder.is_symlink() or folder.is_file():
        raise GitError("Its .git leads to another place: clone it anew.")
    if not ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
        raise GitError("It is no git repository.")
    _require_own(folder)
    return folder


def _require_own(folder: Path) -> None:
    """Refuse a repository of which a part lies elsewhere: it could show another learner's work as its own."""
    for elsewhere in ("commondir", "gitdir", "objects/info/alternates", "objects/info/http-alternates"):
        if os.path.lexists(folder / elsewhere):
            raise GitError(f"It takes a part from another repository ({elsewhere}): clone it anew, without --shared.")
    for number, path in enumerate(_read_by_git(folder)):
        if path.is_symlink():
            raise GitError(f"{path.relative_to(folder)} in its git folder is a link: clone it anew.")
        if not (path.is_file() or path.is_dir()):
            raise GitError(f"{path.relative_to(folder)} in its git folder is no file: clone it anew.")
        if number >= MOST_FILES:
            raise GitError("Its git folder holds too many files: clone it anew.")
    for name in ("config", "config.worktree"):
        with contextlib.suppress(FileNotFoundError):
            if re.search(rb"(?i)\[\s*include", read_bounded(folder / name, 1 << 20)):
                raise GitError("Its configuration includes other files: clone it anew.")


def _read_by_git(folder: Path) -> Iterator[Path]:
    """Every file and folder of a git folder that decides which objects are found in it."""
    parts = ("HEAD", "config", "config.worktree", "packed-refs", "shallow", "refs", "objects", "info", "reftable")
    waiting = [folder / part for part in parts if os.path.lexists(folder / part)]
    while waiting:
        path = waiting.pop()
        yield path
        if path.is_dir() and not path.is_symlink():
            waiting += path.iterdir()
