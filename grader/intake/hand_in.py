"""What one learner handed in, as bytes in memory: their Python files and notebooks, and nothing else.

Links are never followed, nothing is unpacked to disk, nothing is run, and every size is bounded before it is read.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from grader.errors import MachineError
from grader.files import blaming_the_machine
from grader.intake.explain_unreadable import explain_unreadable
from grader.intake.folder_listing import open_file, read_file
from grader.intake.formats.class_zip import open_class
from grader.intake.formats.folder import walk
from grader.intake.formats.git import GitError
from grader.intake.formats.repositories import read_repository
from grader.intake.formats.tar import read_tar
from grader.intake.formats.zip_member import ArchiveError, bytes_read, read_zip, why_refused
from grader.intake.learner import Entry, Learner, printable, shorten
from grader.intake.limits import (
    MAX_FILES,
    MAX_HAND_IN_BYTES,
    MAX_UNPACKED_BYTES,
    MAX_UNREAD,
    Looked,
    in_reading_order,
    is_archive,
    is_artefact,
    is_own,
    is_read,
    is_source,
    kind_of,
    limit_for,
    may_be_meant,
    plain_name,
    why_too_long,
)
from grader.intake.name_patterns import JUDGED
from grader.intake.notebook.notebook_to_module import NotebookError
from grader.intake.notebook.written_files import written_files

MORE_NOTES = "There is more to say of this hand-in than is kept: it has too many files of which something is noted."
MAX_NOTES = 20
TAR_BEGINS = 257  # where POSIX's word for it stands
ZIP_BEGINS = (b"PK\3\4", b"PK\5\6")
OTHER_KINDS = {b"7z\xbc\xaf\x27\x1c": ".7z", b"Rar!\x1a\x07": ".rar", b"\xfd7zXZ\0": ".xz", b"BZh91AY&SY": ".bz2"}
NEWEST = "handed in/"  # before folders of the newest attempt that are called as an earlier one's is


class HandInFull(Exception):
    """No more of the hand-in is read; the text says from where on."""


@dataclass
class HandIn:
    """Files by their path inside the hand-in, `/` between folders. `problem` says why nothing of it can be read.

    `when` is the time of a repository's commit.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problem: str = ""
    when: float | None = None
    bytes_left: int = MAX_HAND_IN_BYTES
    unpacked_left: int = MAX_UNPACKED_BYTES
    reading: str = ""  # what of it is read now
    unread: list[str] = field(default_factory=list)  # paths of what the learner may have meant, and is not read

    @property
    def digest(self) -> str:
        """SHA-256 of everything in it that can change a verdict."""
        sha = hashlib.sha256(self.problem.encode("utf-8", "replace"))
        for path, content in sorted(self.files.items()):
            name = path.encode("utf-8", "surrogateescape")
            sha.update(b"%d %d " % (len(name), len(content)) + name + content)
        return sha.hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for another process; names, which need not be text, are in hexadecimal."""
        files = {
            path.encode("utf-8", "surrogateescape").hex(): base64.b64encode(content).decode()
            for path, content in self.files.items()
        }
        rest = {"notes": self.notes, "problem": self.problem, "when": self.when, "unread": self.unread}
        return {"files": files, **rest}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> HandIn:
        """Read what `to_dict` returned; the digest is the same."""
        files = {
            bytes.fromhex(name).decode("utf-8", "surrogateescape"): base64.b64decode(content)
            for name, content in data["files"].items()
        }
        return cls(files, data["notes"], data["problem"], data["when"], unread=data["unread"])

    def keep(self, path: str, content: bytes) -> None:
        """Add a file, under its name without .txt, beside one that has it. Raises HandInFull if there is no room."""
        written, path = path, plain_name(path)
        if written != path and path in self.files:
            stem, dot, suffix = path.rpartition(".")
            path = f"{stem} (copy){dot}{suffix}"
        if len(self.files) >= MAX_FILES or len(content) > self.bytes_left:
            raise HandInFull(f"{path} and what comes after it were left out: the hand-in is too large.")
        self.bytes_left -= len(content)
        if why := why_too_long(path):
            self.note(f"{path} was left out: {why}.")
        elif path in self.files:
            self.note(f"{path} was handed in twice; one of them was left out.")
        else:
            self.files[path] = content
            if written != path:
                self.note(f"{written} was read as {path}.")

    def date(self, when: float | None) -> None:
        """Set the time of a repository's commit."""
        self.when = when

    def spend(self, size: int) -> None:
        """Count what is unpacked, kept or not. Raises HandInFull if that is too much."""
        self.unpacked_left -= size
        if self.unpacked_left < 0:
            what = f"{self.reading} and what comes after it were left out" if self.reading else "A part was left out"
            raise HandInFull(f"{what}: its archives hold more than {MAX_UNPACKED_BYTES >> 20} MB.")

    @contextmanager
    def takes_the_blame(self, source: str) -> Iterator[None]:
        """Turn whatever is raised while it is read into its own problem: one hand-in never stops a class.

        Raises MachineError.
        """
        try:
            with blaming_the_machine():
                yield
        except MachineError:
            raise
        except HandInFull as full:
            self.note(str(full))
        except (ArchiveError, GitError) as error:
            self.problem = printable(shorten(str(error)))
        except Exception as error:
            self.problem = printable(f"{source} cannot be read: {reason_of(error)}.")

    def note(self, text: str) -> None:
        """Add something that readers of the results should know, once; the last one kept says that there is more."""
        if len(self.notes) < MAX_NOTES and (text := printable(shorten(text))) not in self.notes:
            self.notes.append(text if len(self.notes) < MAX_NOTES - 1 else MORE_NOTES)

    def pass_over(self, path: str) -> None:
        """Keep the path of a file that is not read, if its author may have meant it, up to MAX_UNREAD."""
        if len(self.unread) < MAX_UNREAD and may_be_meant(path):
            self.unread.append(printable(shorten(path)))

    def pass_over_in(self, prefix: str) -> Callable[[str], None]:
        """Return `pass_over` for the files of an archive."""
        return lambda path: self.pass_over(prefix + path)

    def note_of(self, path: str) -> Callable[[str], None]:
        """Return `note` for texts about one file."""
        return lambda text: self.note(f"{path}: {text}")


def read_hand_in(learner: Learner, empty: HandIn | None = None) -> HandIn:
    """Read everything that may be judged into `empty`. Never raises because of what a learner handed in."""
    hand_in = empty or HandIn()
    for text in learner.notes:
        hand_in.note(text)
    with hand_in.takes_the_blame(learner.source):
        if learner.kind == "git":
            first = learner.first
            tell = hand_in.date, hand_in.keep, hand_in.note, hand_in.pass_over
            read_repository(first.path, first.commit, learner.before, *tell)
        elif learner.is_whole:
            _read_whole(learner, hand_in)
        else:
            _read_parts(learner.entries, hand_in)
    with hand_in.takes_the_blame(learner.source):
        _add_written(hand_in)
    has_weights = False
    if all(map(is_artefact, hand_in.files)) and not hand_in.problem:
        has_weights = bool(hand_in.files)
        with hand_in.takes_the_blame(learner.source):
            hand_in.problem = explain_unreadable(learner, hand_in.notes)
    _keep_apart(hand_in, tuple(earlier.folder for earlier in learner.earlier))
    for earlier in learner.earlier:
        _add_earlier(earlier, hand_in, has_weights)
    return hand_in


def _add_written(hand_in: HandIn) -> None:
    """Add the files that cells of its notebooks write, each beside its notebook. Raises HandInFull.

    One whose path others have as well lies in a folder named after its notebook: any of them could be meant.
    """
    written = list(_written(hand_in))
    paths = Counter(map(plain_name, (*hand_in.files, *(path for *_, path, _ in written))))
    for notebook, number, name, path, text in written:
        own = path if paths[plain_name(path)] == 1 else f"{notebook} cells/{name}"
        hand_in.note_of(notebook)(f"Code cell {number} was read as {own}.")
        hand_in.keep(own, text.encode("utf-8", "replace"))


def _written(hand_in: HandIn) -> Iterator[tuple[str, int, str, str, str]]:
    """Yield each file that cells write: its notebook, cell, name, path beside the notebook, and text."""
    for notebook in [path for path in hand_in.files if is_source(path)]:
        note, is_exported = hand_in.note_of(notebook), kind_of(notebook) == "python"
        with suppress(NotebookError):  # which is told where its own code is read
            for name, (number, text) in written_files(hand_in.files[notebook], note, is_exported=is_exported).items():
                if why_refused(name) or not is_own(name):
                    note(f"Code cell {number} was left out: it writes {name}, which is no file beside the notebook.")
                else:
                    yield notebook, number, name, f"{notebook.rpartition('/')[0]}/{name}".lstrip("/"), text


def _keep_apart(hand_in: HandIn, folders: tuple[str, ...]) -> None:
    """Move what lies in folders that are called as an earlier attempt's is: it would count as that, and as in time."""
    for path in [path for path in hand_in.files if path.casefold().startswith(folders)]:
        hand_in.files[f"{NEWEST}{path}"] = hand_in.files.pop(path)


def _add_earlier(learner: Learner, hand_in: HandIn, has_weights: bool) -> None:
    """Add the files of an earlier attempt, in a folder of its own; a newer one that cannot be read is told of.

    *has_weights* says that the newest one holds weights, and nothing else; they go with an earlier source.
    """
    earlier = read_hand_in(learner, HandIn(bytes_left=hand_in.bytes_left, unpacked_left=hand_in.unpacked_left))
    hand_in.unpacked_left = earlier.unpacked_left
    with hand_in.takes_the_blame(learner.source):
        for path, content in earlier.files.items():
            hand_in.keep(learner.folder + path, content)
    for path in earlier.unread:
        hand_in.pass_over(learner.folder + path)
    for note in earlier.notes:
        hand_in.note(f"Attempt {learner.attempt}: {note}")
    if hand_in.problem and not all(map(is_artefact, earlier.files)):
        problem, hand_in.problem = hand_in.problem, ""
        why = "the newest one holds weights alone" if has_weights else f"a newer one was not: {problem}"
        hand_in.note(f"Attempt {learner.attempt}{JUDGED}{why.removesuffix('.')}.")


def reason_of(error: Exception) -> str:
    """Return why something cannot be read, in the system's words where there are some."""
    return getattr(error, "strerror", None) or shorten(str(error)) or type(error).__name__


def _read_whole(learner: Learner, hand_in: HandIn) -> None:
    """Read a hand-in that is one folder or one file. Raises OSError, ArchiveError."""
    path = learner.first.own_path()
    if learner.kind == "folder":
        _read_folder(path, learner.first.inside, hand_in)
    elif learner.kind in ("zip", "tar"):
        _read_archive(path, learner.first.inside, learner.source, "", hand_in)
    else:
        _read_file(path, learner.first.inside, learner.source, hand_in)


def _read_parts(entries: tuple[Entry, ...], hand_in: HandIn) -> None:
    """Read a hand-in of several files or folders, each of which may be unreadable without harm to the others."""
    for entry in in_reading_order(entries, lambda one: one.file, lambda one: _size(one.path, one.inside)):
        try:
            path = entry.own_path()
            if entry.inside.endswith("/") or (not entry.inside and path.is_dir()):
                _read_folder(path, entry.inside, hand_in)
            elif is_read(entry.file):
                _read_one(path, entry.inside, entry.file, hand_in)
            else:
                hand_in.pass_over(entry.file)
        except OSError as error:
            hand_in.note(f"{entry.file} cannot be read: {reason_of(error)}.")


def _read_folder(path: Path, inside: str, hand_in: HandIn) -> None:
    """Read the folder at *path*, or *inside* the archive there. Raises OSError if it cannot be listed."""
    if not inside:
        files = walk(path, hand_in.note, hand_in.pass_over)
        for file, name in in_reading_order(files, lambda one: one[1], lambda one: _size(one[0])):
            _read_one(file, "", name, hand_in)
        return
    archive = open_class(path)
    for member in archive.below(inside, may_be_meant):
        if not (is_read(member) and is_own(member[len(inside) :])):
            hand_in.pass_over(member[len(inside) :])
    members = in_reading_order(archive.below(inside), str, lambda one: _size(path, one))
    looked = Looked()
    for member in members:
        name = member[len(inside) :]
        looked.add(name)
        if looked.full:
            hand_in.note(f"Only the first {looked.full} were looked at.")
            return
        if is_read(name):
            _read_one(path, member, name, hand_in)


def _size(path: Path, inside: str = "") -> int:
    """Return how large an archive is; 0 if that is not known."""
    with suppress(OSError, ArchiveError, KeyError):
        return open_class(path).members[inside].file_size if inside else path.lstat().st_size
    return 0


def _read_one(path: Path, inside: str, name: str, hand_in: HandIn) -> None:
    """Read one of several files. Raises HandInFull."""
    hand_in.reading = name
    if inside:
        hand_in.spend(bytes_read(open_class(path).members[inside], limit_for(name)))
    try:
        if is_archive(name):
            _read_archive(path, inside, name, f"{name}/", hand_in)
        else:
            _read_file(path, inside, name, hand_in)
    except ArchiveError as error:
        hand_in.note(f"{name}: {error}")
    except OSError as error:
        hand_in.note(f"{name} cannot be read: {reason_of(error)}.")


def _read_file(path: Path, inside: str, name: str, hand_in: HandIn) -> None:
    content = read_file(path, inside, limit_for(name), hand_in.note)
    if content is not None:
        hand_in.keep(name, content)


def _read_archive(path: Path, inside: str, name: str, prefix: str, hand_in: HandIn) -> None:
    """Read the files of an archive, and of the archives in it. Raises OSError, ArchiveError, HandInFull."""
    with open_file(path, inside, hand_in.note) as file:
        for member, content in _members(file, name, prefix, hand_in):
            if is_archive(member):
                _read_inner(prefix + member, content, hand_in)
            else:
                hand_in.keep(prefix + member, content)


def _members(file: BinaryIO, name: str, prefix: str, hand_in: HandIn) -> Iterator[tuple[str, bytes]]:
    """Read an archive as what it is, whatever its name says. Raises ArchiveError, OSError, HandInFull."""
    begin = file.read(TAR_BEGINS + 5)
    # a tar begins with a name, which may be any; so does a zip's first member, behind its sign
    is_tar = begin[TAR_BEGINS:] == b"ustar" and not begin.startswith(ZIP_BEGINS)
    tell = hand_in.note, hand_in.spend, hand_in.pass_over_in(prefix)
    if begin.startswith(b"\x1f\x8b") or is_tar:
        return read_tar(file, *tell)
    if other := next((kind for sign, kind in OTHER_KINDS.items() if begin.startswith(sign)), ""):
        raise ArchiveError(f"The archive is a {other}: hand in a .zip or a .tar.gz.")
    is_zip = begin.startswith(ZIP_BEGINS) or name.lower().endswith(".zip")
    return (read_zip if is_zip else read_tar)(file, *tell)


def _read_inner(name: str, content: bytes, hand_in: HandIn) -> None:
    """Read the files of an archive that lay in another. Raises HandInFull."""
    outer, hand_in.reading = hand_in.reading, name
    try:
        for member, inner in _members(io.BytesIO(content), name, f"{name}/", hand_in):
            if is_archive(member):
                hand_in.note(f"{name}/{member} was left out: it is an archive inside two others.")
            else:
                hand_in.keep(f"{name}/{member}", inner)
    except ArchiveError as error:
        hand_in.note(f"{name}: {error}")
    hand_in.reading = outer
