"""Read objects of a clone that may be hostile with the git program. Nothing is checked out or fetched.

The configuration of a clone can name programs that git then runs (hooks, fsmonitor, filters, ssh), and its files can
lead into another learner's clone. So only commands that read objects are run, with an explicit git folder, no
configuration but the clone's, and no access to remotes; and none at all if a file in that folder is a link or says that
the repository lies elsewhere.
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

from grader.files import read_bounded, resolved

SECONDS = 60.0  # for all git commands of one hand-in
MAX_MEMORY_BYTES = 512 << 20
MAX_LINE_BYTES = 1 << 16
MAX_CONFIG_BYTES = 1 << 20
MAX_FILES = 200_000  # in a git folder
MAX_COMMITS = 1_000  # whose dates are compared with their parents'
# GIT_ALLOW_PROTOCOL overrules the clone's configuration: without any transport, a missing object is not fetched from a
# promisor remote, which can be a command. With an explicit git folder, git does not check who owns it.
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
}
# Nothing that a clone holds beside its objects is believed: a commit-graph may give commits other dates and parents.
SETTINGS = ("fsmonitor=false", f"hooksPath={os.devnull}", "commitGraph=false", "multiPackIndex=false")
OPTIONS = ("--no-optional-locks", *(word for setting in SETTINGS for word in ("-c", f"core.{setting}")))
DAMAGED = "The repository is damaged, or not all of it was cloned."


class GitError(Exception):
    """The repository cannot be read; the text is a sentence for readers of the results."""


class Listing(NamedTuple):
    """A file, link or submodule of a commit; `size` is empty where git does not know it."""

    mode: str
    kind: str
    object: str
    size: str
    path: str


class Git:
    """One repository, read for a bounded time."""

    def __init__(self, path: Path) -> None:
        """Open a working copy or a bare repository. Raises GitError, OSError."""
        self.folder = _git_folder(path)
        self._deadline = time.monotonic() + SECONDS

    def query(self, *arguments: str) -> str | None:
        """Return the line that a command prints; None if it fails. Raises GitError."""
        with self._run(arguments) as output:
            line = output.line()
            return line.decode("ascii", "replace") if output.succeeded() else None

    @property
    def is_shallow(self) -> bool:
        """Return True if commits are taken to have no parents: their parents may lie outside of the clone, or not."""
        return (self.folder / "shallow").exists()

    def history(self, commit: str, *options: str) -> Iterator[tuple[str, int, list[str]]]:
        """Yield a commit and its newest ancestors, each with its date and its parents. Raises GitError."""
        words = ("rev-list", "--timestamp", "--parents", f"--max-count={MAX_COMMITS}", *options, commit)
        with self._run(words) as output:
            while line := output.line():
                date, name, *parents = line.decode("ascii", "replace").split()
                yield name, int(date), parents

    def tree(self, commit: str) -> Iterator[Listing]:
        """Yield everything in a commit, in git's order, its folders too. Raises GitError."""
        with self._run(("ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit)) as output:
            while line := output.line(b"\0"):
                about, _, path = line.partition(b"\t")
                fields = about.decode("ascii", "replace").split()
                if len(fields) != 4:
                    raise GitError(DAMAGED)
                size = fields[3] if fields[3].isdigit() else ""
                mode, kind, name = fields[:3]
                yield Listing(mode, kind, name, size, path.decode("utf-8", "surrogateescape"))
            if not output.succeeded():
                raise GitError(DAMAGED)

    def contents(self, objects: Iterable[str], limit: int) -> Iterator[bytes | None]:
        """Yield the content of each object, of at most *limit* bytes; None where it is missing. Raises GitError."""
        objects = list(objects)
        with self._run(("cat-file", "--batch"), "".join(f"{name}\n" for name in objects)) as output:
            for _ in objects:
                about = output.line().split()
                if len(about) != 3:
                    yield None
                    continue
                if not about[2].isdigit() or int(about[2]) > limit:
                    raise GitError(DAMAGED)
                yield output.exactly(int(about[2]) + 1)[:-1]

    @contextlib.contextmanager
    def _run(self, arguments: tuple[str, ...], standard_input: str = "") -> Iterator[_Output]:
        with tempfile.TemporaryFile() as stdin:  # a pipe could fill up while git waits for us to read
            stdin.write(standard_input.encode())
            stdin.seek(0)
            try:
                process = subprocess.Popen(
                    ["git", *OPTIONS, f"--git-dir={self.folder}", *arguments],
                    bufsize=0,
                    cwd=self.folder,
                    env={"PATH": os.environ.get("PATH", os.defpath), **ENVIRONMENT},
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except FileNotFoundError:
                raise GitError("The program git is not installed here.") from None
        with process:
            try:
                _limit_memory(process.pid)
                yield _Output(process, self._deadline)
            finally:
                process.kill()


class _Output:
    """The output of a git process, read until the deadline. Its methods raise GitError."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process, self._deadline = process, deadline
        self._read = bytearray()

    def line(self, end: bytes = b"\n") -> bytes:
        """Return the next line without its end; at the end of the output the rest, or nothing."""
        while (index := self._read.find(end)) < 0:
            if len(self._read) > MAX_LINE_BYTES:
                raise GitError(DAMAGED)
            if not self._more():
                break
        return self._take(index if index >= 0 else len(self._read), len(end))

    def exactly(self, size: int) -> bytes:
        """Return the next *size* bytes."""
        while len(self._read) < size and self._more():
            pass
        if len(self._read) < size:
            raise GitError(DAMAGED)
        return self._take(size, 0)

    def succeeded(self) -> bool:
        """Read to the end, and return True if the process ended with status 0."""
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


def _limit_memory(pid: int) -> None:
    """Limit a git process to MAX_MEMORY_BYTES, where the system can limit another process."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    except (ImportError, AttributeError, OSError):  # not Linux, or the process has ended already
        return


def _git_folder(path: Path) -> Path:
    """Return `.git`, or the path itself of a bare repository. Raises GitError."""
    if not path.is_dir():
        raise GitError(f"There is no folder {path.name} where the list says.")
    inner = resolved(path) / ".git"
    folder = inner if os.path.lexists(inner) else resolved(path)
    if folder.is_symlink() or folder.is_file():
        raise GitError("Its .git leads to another place: clone it anew.")
    if not ((folder / "HEAD").is_file() and (folder / "objects").is_dir()):
        raise GitError("It is no git repository.")
    _require_self_contained(folder)
    return folder


def _require_self_contained(folder: Path) -> None:
    """Refuse a repository of which a part lies elsewhere: it could pass off another learner's work."""
    for elsewhere in ("commondir", "gitdir", "objects/info/alternates", "objects/info/http-alternates"):
        if os.path.lexists(folder / elsewhere):
            raise GitError(f"It takes a part from another repository ({elsewhere}): clone it anew, without --shared.")
    for number, path in enumerate(_below(folder)):
        if path.is_symlink():
            how = ", with an empty --template=" if path.parent.name == "hooks" else ""
            raise GitError(f"{path.relative_to(folder)} in its git folder is a link: clone it anew{how}.")
        is_harmless = path.is_file() or path.is_dir() or path.is_socket()  # fsmonitor's cannot be read, or waited for
        if not is_harmless:
            raise GitError(f"{path.relative_to(folder)} in its git folder is no file: clone it anew.")
        if number >= MAX_FILES:
            raise GitError("Its git folder holds too many files: clone it anew.")
    for name in ("config", "config.worktree"):
        with contextlib.suppress(FileNotFoundError):
            text = read_bounded(folder / name, MAX_CONFIG_BYTES + 1)
            if len(text) > MAX_CONFIG_BYTES or re.search(rb"(?i)\[\s*include", text):
                raise GitError("Its configuration includes other files, or is far too large: clone it anew.")


def _below(folder: Path) -> Iterator[Path]:
    """Yield every file and folder of a git folder: HEAD may name any, as `ref: worktrees/a/HEAD` or `ref: hooks/a`.

    No link is followed.
    """
    waiting = [*folder.iterdir()]
    while waiting:
        path = waiting.pop()
        yield path
        if path.is_dir() and not path.is_symlink():
            waiting += path.iterdir()
