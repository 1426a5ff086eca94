"""A learner's .tar or .tar.gz: its Python files and notebooks, read in memory as the archive streams by.

A reader of our own, because `tarfile` believes a header: it reads extended headers and maps of holes as long as they
claim to be, and follows links. Format: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar".
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from grader.intake.formats.zip_member import ArchiveError, Note, is_own, leads_out, note_inner, parts_of
from grader.intake.limits import ARCHIVE_BYTES, KEPT, MOST_BYTES, MOST_ENTRIES, limit_for

BLOCK = 512
LONGEST_HEADER = 64 << 10  # of what an extended header may say; names are far shorter
FILES = (b"0", b"\0", b"7")
FOLDER, LONG_NAME, LONG_LINK, EXTENDED, FOR_ALL, SPARSE = b"5", b"L", b"K", b"x", b"g", b"S"
LINKS = (b"1", b"2")
NO_TAR = "The archive is damaged, or it is no .tar or .tar.gz"


@dataclass
class _Member:
    """What a header, with those before it that extend it, says of a member."""

    name: str
    type: bytes
    size: int


def read_tar(file: BinaryIO, note: Note) -> Iterator[tuple[str, bytes]]:
    """Name and content of each Python file and notebook, nearest the top first. Raises ArchiveError, OSError."""
    try:
        found = _found(_Stream(file), note)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ArchiveError(f"{NO_TAR}: {error}.") from error
    yield from sorted(found.items(), key=lambda one: (one[0].count("/"), one[0]))


class _Stream:
    """The archive unpacked, read forwards only, and never more than ARCHIVE_BYTES of it."""

    def __init__(self, file: BinaryIO) -> None:
        file.seek(0)
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        self._file: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=file) if packed else file
        self._left = ARCHIVE_BYTES

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes; fewer only at the end. Raises ArchiveError, EOFError."""
        self._left -= size
        if self._left < 0:
            raise ArchiveError(f"The archive unpacks to more than {ARCHIVE_BYTES >> 20} MB.")
        content = bytearray()
        while len(content) < size and (piece := self._file.read(size - len(content))):
            content += piece
        return bytes(content)

    def take(self, size: int, most: int) -> bytes:
        """The content of a member: at most `most` bytes of it are kept, and its padding is passed over."""
        kept = self.read(min(size, most))
        if len(kept) < min(size, most):
            raise EOFError("it ends in the middle of a file")
        left = size - len(kept) + -size % BLOCK
        while left:
            piece = self.read(min(left, 1 << 20))
            if not piece:  # the padding of the last member may be cut off
                break
            left -= len(piece)
        return kept


def _found(stream: _Stream, note: Note) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    room, seen = MOST_BYTES, 0
    for member in _members(stream):
        path = "/".join(parts_of(member.name))
        own = is_own(path)
        seen += own
        if seen > MOST_ENTRIES:
            raise ArchiveError(f"The archive holds more than {MOST_ENTRIES} files.")
        wanted = own and path.lower().endswith(KEPT) and _is_readable(member, note)
        if own and member.type in FILES:
            note_inner(path, note)
        content = stream.take(member.size, min(limit_for(path), room + 1) if wanted else 0)
        if wanted and len(content) <= room:
            files[path] = content  # a later member of the same name replaces an earlier one, as when it is unpacked
            room -= len(content)
        elif wanted:
            note(f"{path} was left out: the hand-in is too large.")
    return files


def _is_readable(member: _Member, note: Note) -> bool:
    if leads_out(member.name):
        why = "its name leads out of the archive"
    elif member.type in LINKS:
        why = "it is a link"
    elif member.type == SPARSE:
        why = "it is stored with holes"
    elif member.type not in FILES:
        why = "it is no ordinary file"
    else:
        return True
    note(f"{member.name} was left out: {why}.")
    return False


def _members(stream: _Stream) -> Iterator[_Member]:
    """Every member but folders; who asks for the next one has taken the content of the last. Raises ArchiveError."""
    extended: dict[str, str] = {}
    empty = True
    while (header := stream.read(BLOCK)).strip(b"\0"):
        if len(header) < BLOCK or not _is_header(header):
            raise ArchiveError(f"{NO_TAR}.")
        empty = False
        kind, size = header[156:157], _number(header[124:136])
        if kind in (LONG_NAME, LONG_LINK, EXTENDED, FOR_ALL):
            _extend(extended, kind, stream.take(size, min(size, LONGEST_HEADER)))
            continue
        if kind == SPARSE:
            _pass_map(header, stream)
        name = extended.get("path", _plain_name(header))
        size = int(extended.get("size", size))
        is_sparse = any(key.startswith("GNU.sparse.") for key in extended)
        extended = {}
        if kind == FOLDER or name.endswith("/"):
            stream.take(0 if kind == FOLDER else size, 0)
            continue
        has_content = kind not in LINKS and kind not in (b"3", b"4", b"6")
        yield _Member(name, SPARSE if is_sparse else kind, size if has_content else 0)
    if empty and len(header) < BLOCK:
        raise ArchiveError(f"{NO_TAR}.")


def _is_header(header: bytes) -> bool:
    """Whether the sum of its bytes is what it says, the field of the sum itself taken as spaces."""
    said = header[148:156].strip(b"\0 ")
    counted = sum(header) - sum(header[148:156]) + 8 * 0x20
    return bool(said) and not said.strip(b"01234567") and len(said) < 8 and int(said, 8) == counted


def _number(field: bytes) -> int:
    """A size: octal digits, or binary where the first bit is set. Raises ArchiveError."""
    if field[0] & 0x80:
        value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
    else:
        digits = field.strip(b"\0 ")
        if digits.strip(b"01234567"):
            raise ArchiveError(f"{NO_TAR}.")
        value = int(digits or b"0", 8)
    return value


def _plain_name(header: bytes) -> str:
    name = _text(header[:100])
    prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
    return f"{prefix}/{name}" if prefix else name


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "replace")


def _extend(extended: dict[str, str], kind: bytes, content: bytes) -> None:
    """Take what an extended header says of the next member: its name, its size, that it has holes."""
    if kind == LONG_NAME:
        extended["path"] = _text(content)
    elif kind == EXTENDED:
        extended.update(_records(content))


def _records(content: bytes) -> Iterator[tuple[str, str]]:
    """The records `LENGTH KEY=VALUE\\n` of a pax header that we need. Raises ArchiveError."""
    while content:
        length, space, _ = content[:12].partition(b" ")
        if not (space and length.isdigit() and len(length) < int(length) <= len(content)):
            raise ArchiveError(f"{NO_TAR}.")
        key, _, value = content[len(length) + 1 : int(length) - 1].partition(b"=")
        name = key.decode("utf-8", "replace")
        if name == "path" or name.startswith("GNU.sparse."):
            yield name, value.decode("utf-8", "replace")
        elif name == "size":
            if not value.isdigit() or len(value) > 20:
                raise ArchiveError(f"{NO_TAR}.")
            yield name, value.decode()
        content = content[int(length) :]


def _pass_map(header: bytes, stream: _Stream) -> None:
    """Read past the further blocks of a map of holes."""
    more = header[482:483]
    while more not in (b"", b"\0"):
        more = stream.read(BLOCK)[504:505]
