"""What is known of a hand-in before it is read: where its files lie, whose they are, which attempt they make."""

from __future__ import annotations

import errno
import hashlib
import stat
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from grader.errors import SubmissionError
from grader.files import blaming_the_machine
from grader.intake.formats.class_zip import open_class
from grader.intake.limits import suffix_of

MAX_SHOWN_CHARS = 300  # of a name or a note with names, which learners choose
NOT_PRINTED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # of Unicode's categories
STAMP = "stamp:"  # before what stands in the place of a digest
MAX_DATED_FILES = 1_000  # of a folder, to find when it was last changed


@dataclass(frozen=True)
class Entry:
    """A file or folder that was handed in, and what its name says about it.

    It lies at `path`, or in the archive there under the name `inside` (a folder's ends with "/"). `kind` is "folder",
    "git", a value of `limits.KINDS`, or empty for what is not read. `file` is its name inside the hand-in, and `commit`
    the one asked for of a repository.

    The other fields come from the name, a list or the platform's metadata. `owner` is the person's id, empty if it is
    not known; `address` is the e-mail address of the account, which nobody writes for another. Entries with `joins` and
    the same owner and attempt are one hand-in. `renamed` files may have had a number added to their names. `submitted`
    orders attempts without a number; it is a time, in seconds since 1970, or with `is_numbered` a platform's number.
    `together` are the ids of the others of a group. `attempt_name` tells attempts apart that have no number.
    """

    name: str
    path: Path = Path()
    kind: str = ""
    inside: str = ""
    file: str = ""
    commit: str = ""
    owner: str = ""
    owner_name: str = ""
    address: str = ""
    attempt: int | None = None
    attempt_name: str = ""
    late: bool = False
    joins: bool = False
    renamed: bool = False
    submitted: float | None = None
    is_numbered: bool = False
    together: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """The name without the suffix of its kind."""
        return self.name if self.kind in ("folder", "git") else self.name.removesuffix(suffix_of(self.name))

    @blaming_the_machine()
    def own_path(self) -> Path:
        """Return where it lies. Raises OSError for a link, which could lead to another's work, or to the answers."""
        if not self.inside and self.path.is_symlink():
            raise OSError(errno.ELOOP, "it is a link, and links are not followed", str(self.path))
        return self.path

    def modified_at(self) -> float:
        """Return when it was last changed, comparable within one folder or archive; 0.0 if unknown.

        Of a link that is the time of the link: where it leads is not looked at.
        """
        if self.inside:
            return open_class(self.path).modified_at(self.inside)
        try:
            with blaming_the_machine():
                found = self.path.lstat()
                times = [found.st_mtime]
                if self.kind == "folder" and stat.S_ISDIR(found.st_mode):
                    children = zip(self.path.iterdir(), range(MAX_DATED_FILES), strict=False)
                    times += [child.lstat().st_mtime for child, _ in children]
                return max(times)
        except OSError:
            return 0.0


@dataclass(frozen=True)
class Learner:
    """One hand-in and its owner. `id` is unique in a run; `feedback` names its files there.

    With `known`, the id is a person's, so that several hand-ins of one id are attempts of theirs. `owner` is the
    person's id where the hand-in has another, and `account` a digest of the account's address, empty where none is
    known. Of several attempts `several` says what becomes of them, as `--attempts` does; `earlier` are the other ones,
    newest first, from which lessons are taken that this one lacks, or for "best" those that score higher. Of a
    repository the newest commit not later than `before` is read (0: no limit). `together` are the ids of the other
    members of a group, each of whom is a learner with the same hand-in.
    """

    id: str
    entries: tuple[Entry, ...]
    feedback: str = ""
    owner: str = ""
    name: str = ""
    attempt: int = 1
    late: bool = False
    before: int = 0
    together: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    known: bool = False
    earlier: tuple[Learner, ...] = ()
    several: str = ""
    account: str = ""
    submitted: float | None = None  # orders hand-ins of one person, as the entries' does
    when: float | None = None  # it was handed in, in seconds since 1970; None if that is not known

    def __post_init__(self) -> None:
        """Raise SubmissionError for one that is nobody's, or holds nothing."""
        if not (self.id and self.entries):
            what = "a hand-in has no name that says whose it is"
            raise SubmissionError(what, where=self.id, next_step="rename it, or leave it out")

    @property
    def learner(self) -> str:
        """The learner's id, the same for all their attempts."""
        return self.owner or self.id

    @property
    def first(self) -> Entry:
        """The entry that names the hand-in."""
        return self.entries[0]

    @property
    def all_entries(self) -> tuple[Entry, ...]:
        """The entries of this attempt and of the earlier ones."""
        return sum((one.entries for one in self.earlier), self.entries)

    @property
    def kind(self) -> str:
        """The kind of its only entry; "files" for several, or for one of no known kind."""
        return (self.first.kind if len(self.entries) == 1 else "") or "files"

    @property
    def is_whole(self) -> bool:
        """Whether one entry is the whole hand-in, under its own name."""
        kept_name = self.first.kind in ("folder", "git", "zip", "tar") or self.first.file in ("", self.first.name)
        return len(self.entries) == 1 and kept_name

    @property
    def source(self) -> str:
        """The name of the first entry as it was found, and how many more there are."""
        name = self.first.inside.rstrip("/").rpartition("/")[2] or self.first.path.name
        return printable(name) + (f" and {len(self.entries) - 1} more" if len(self.entries) > 1 else "")

    @property
    def folder(self) -> str:
        """Where the files of this attempt lie in a hand-in that holds a newer one, too."""
        return f"attempt {self.attempt}/"

    def mark(self, digest: str) -> str:
        """Return the digest of its content for the results: how several attempts were read stands before it."""
        return f"{self.several}:{digest}" if self.several else digest

    @property
    def stamp(self) -> str:
        """What tells it from a later hand-in without reading it, as far as names and times do: no digest."""
        dated = [(one.name, one.inside, one.modified_at()) for one in self.all_entries]
        return STAMP + hashlib.sha256(repr(dated).encode("utf-8", "replace")).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for another process; `from_dict` reads it back."""
        entries = [(one.name, str(one.path), one.kind, one.inside, one.file, one.commit) for one in self.entries]
        earlier = [one.to_dict() for one in self.earlier]
        return {**asdict(replace(self, earlier=())), "entries": entries, "earlier": earlier}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Learner:
        """Read what `to_dict` returned; all but the id and the entries may be left out."""
        entries = tuple(Entry(name, Path(path), *rest) for name, path, *rest in data["entries"])
        lists = {key: tuple(data.get(key, ())) for key in ("together", "notes")}
        earlier = tuple(map(cls.from_dict, data.get("earlier", ())))
        return cls(**{**data, **lists, "entries": entries, "earlier": earlier})


def content_of(digest: str) -> str:
    """Return the digest without how several attempts were read."""
    return digest.rpartition(":")[2]


def read_alike(*digests: str) -> bool:
    """Return True unless the digests of one learner's hand-ins differ in how several attempts were read."""
    return len({digest.rpartition(":")[0] for digest in digests} - {"", STAMP[:-1]}) < 2


def join_some(names: Sequence[str], limit: int) -> str:
    """Return the first *limit* names, and how many more there are."""
    return ", ".join(names[:limit]) + (f" and {len(names) - limit} more" if len(names) > limit else "")


def shorten(text: str) -> str:
    """Return a text of at most MAX_SHOWN_CHARS: of a longer one the beginning and the end."""
    half = MAX_SHOWN_CHARS // 2 - 3
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:half]} ... {text[-half:]}"


def printable(name: str) -> str:
    """Return *name* as one line that any terminal, CSV and JSON can show: no control characters, no invalid bytes."""
    if name.isspace():
        return "?"  # of blanks alone nobody could tell whose it is
    if name.isprintable():
        return name
    name = name.encode("utf-8", "replace").decode("utf-8")
    return "".join("?" if unicodedata.category(letter) in NOT_PRINTED else letter for letter in name)
