"""A learner's .tar or .tar.gz: its Python files, notebooks and archives, read into memory as a stream.

Not with `tarfile`, which believes headers: it reads extended headers and sparse maps as long as they claim to be, and
follows links. Format: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar".
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, BinaryIO

from grader.intake.formats.zip_member import (
    BYTES_A_MEMBER,
    NAMELESS,
    TWICE,
    ArchiveError,
    Note,
    PassOver,
    Spend,
    by_depth,
    parts_of,
    why_refused,
)
from grader.intake.limits import (
    MAX_ARCHIVE_BYTES,
    MAX_HAND_IN_BYTES,
    Looked,
    in_reading_order,
    is_archive,
    is_own,
    is_read,
    is_source,
    limit_for,
)

BLOCK = 512
PACKED_AT_ONCE = 8 << 10  # copied for each member that begins in it
UNPACKED_AT_ONCE = 128 << 10
MAX_RECORDS = 200  # of an extended header
MAX_HEADER_BYTES = 64 << 10  # of an extended header; names are far shorter
FILES = (b"0", b"\0", b"7")
FOLDER, LONG_NAME, LONG_LINK, EXTENDED, FOR_ALL, SPARSE = b"5", b"L", b"K", b"x", b"g", b"S"
LINKS = (b"1", b"2")
ODD_TYPES = {**dict.fromkeys(LINKS, "it is a link"), SPARSE: "it is stored with holes"}
TOO_LARGE = "{} was left out: the hand-in is too large."
NO_TAR = "The archive is damaged, or it is no .tar or .tar.gz"


_Droppable = tuple[int, int, str]  # how dispensable and how large a file is, both below zero, and its path


@dataclass
class _Member:
    """A member as its header, and the extended headers before it, describe it."""

    name: str
    type: bytes
    size: int


def read_tar(file: BinaryIO, note: Note, spend: Spend, pass_over: PassOver) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each Python file, notebook and archive, and of weights: in reading order.

    *spend* is called with what is going to be unpacked, kept or not. Raises ArchiveError, OSError, and what it raises.
    """
    try:
        found = _read_files(_Stream(file, spend), note, pass_over)
    except (EOFError, zlib.error) as error:
        raise ArchiveError(f"{NO_TAR}: {error}.") from error
    yield from in_reading_order(by_depth(found), lambda one: one[0], lambda one: len(one[1]))


class _Gunzip(io.RawIOBase):
    """What a .gz unpacks to. Each of its members, which may be empty, is spent as one of an archive is.

    Not with `gzip`, which goes through any number of empty members in one call.
    """

    def __init__(self, file: BinaryIO, spend: Spend) -> None:
        self._file, self._spend = file, spend
        self._packed = b""
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._spend(BYTES_A_MEMBER)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Unpack some bytes; none at the end. Raises EOFError, zlib.error, and what *spend* raises."""
        while not (self._member.eof and not self._begin_member()):
            self._packed = self._packed or self._file.read(PACKED_AT_ONCE)
            if not self._packed:
                raise EOFError("it ends in the middle")
            piece = self._member.decompress(self._packed, len(buffer))
            self._packed = self._member.unconsumed_tail or self._member.unused_data
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)
        return 0

    def _begin_member(self) -> bool:
        """Go to the next member, behind zeros that fill up a block; False if there is none."""
        while not (rest := self._packed.lstrip(b"\0")):
            self._packed = self._file.read(PACKED_AT_ONCE)
            if not self._packed:
                return False
        self._spend(BYTES_A_MEMBER)
        self._packed, self._member = rest, zlib.decompressobj(zlib.MAX_WBITS | 16)
        return True


class _Stream:
    """The unpacked archive, read forwards only, up to MAX_ARCHIVE_BYTES."""

    def __init__(self, file: BinaryIO, spend: Spend) -> None:
        self.spend = spend
        file.seek(0)
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        self._file: BinaryIO = io.BufferedReader(_Gunzip(file, spend), UNPACKED_AT_ONCE) if packed else file
        self._left = MAX_ARCHIVE_BYTES

    def read(self, size: int) -> bytes:
        """Read exactly *size* bytes; fewer only at the end. Raises ArchiveError, EOFError."""
        self._left -= size
        if self._left < 0:
            raise ArchiveError(f"The archive unpacks to more than {MAX_ARCHIVE_BYTES >> 20} MB.")
        self.spend(size)
        content = bytearray()
        while len(content) < size and (piece := self._file.read(size - len(content))):
            content += piece
        return bytes(content)

    def take(self, size: int, limit: int) -> bytes:
        """Read a member and its padding, and return at most *limit* bytes of its content."""
        kept = self.read(min(size, limit))
        if len(kept) < min(size, limit):
            raise EOFError("it ends in the middle of a file")
        left = size - len(kept) + -size % BLOCK
        while left:
            piece = self.read(min(left, 1 << 20))
            if not piece:  # the padding of the last member may be cut off
                break
            left -= len(piece)
        return kept


def _read_files(stream: _Stream, note: Note, pass_over: PassOver) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    heap: list[_Droppable] = []
    bytes_left, looked = MAX_HAND_IN_BYTES, Looked()
    for member in _members(stream):
        path = "/".join(parts_of(member.name))
        own = is_own(path)
        if own:
            looked.add(path)
        if looked.full:
            raise ArchiveError(f"The archive holds more than {looked.full}.")
        wanted = own and is_read(path) and _is_readable(member, note)
        if own and not path and member.type in FILES:
            note(NAMELESS)
        if not (own and is_read(path)) and member.type in FILES:
            pass_over(path)
        limit = limit_for(path) if wanted else 0
        if wanted and path in files:  # of several with one name the last counts
            note(TWICE.format(path))
            bytes_left += len(files.pop(path))
        bytes_left += _make_room(files, heap, path, min(member.size, limit) - bytes_left, note)
        content = stream.take(member.size, min(limit, bytes_left + 1) if wanted else 0)
        if wanted and len(content) <= bytes_left:
            files[path] = content
            bytes_left -= len(content)
            heappush(heap, (-_dispensable(path), -len(content), path))
        elif wanted:
            note(TOO_LARGE.format(path))
    return files


def _make_room(files: dict[str, bytes], heap: list[_Droppable], path: str, lacking: int, note: Note) -> int:
    """Drop what may rather be lacking than this file, the largest first, and return how many bytes that gives."""
    given = 0
    while given < lacking and heap and -heap[0][0] > _dispensable(path):
        _, size, dropped = heappop(heap)
        if len(files.get(dropped, b"")) == -size:  # or a later one of its name stands there
            del files[dropped]
            given -= size
            note(TOO_LARGE.format(dropped))
    return given


def _dispensable(path: str) -> int:
    """Return 0 for a source, 1 for weights, 2 for an archive."""
    return 2 if is_archive(path) else int(not is_source(path))


def _is_readable(member: _Member, note: Note) -> bool:
    why = "" if member.type in FILES else ODD_TYPES.get(member.type, "it is no ordinary file")
    if why := why_refused(member.name) or why:
        note(f"{member.name} was left out: {why}.")
    return not why


def _members(stream: _Stream) -> Iterator[_Member]:
    """Yield every member but folders; take its content before asking for the next. Raises ArchiveError."""
    extended: dict[str, str] = {}
    empty = True
    while (header := stream.read(BLOCK)).strip(b"\0"):
        if len(header) < BLOCK or not _is_header(header):
            raise ArchiveError(f"{NO_TAR}.")
        empty = False
        stream.spend(BYTES_A_MEMBER)
        kind, size = header[156:157], _number(header[124:136])
        if kind in (LONG_NAME, LONG_LINK, EXTENDED, FOR_ALL):
            _extend(extended, kind, stream.take(size, min(size, MAX_HEADER_BYTES)))
            continue
        if kind == SPARSE:
            _skip_sparse_map(header, stream)
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
    """Return True if the sum of its bytes is the stored one, with the field of the sum read as spaces."""
    stored = header[148:156].strip(b"\0 ")
    counted = sum(header) - sum(header[148:156]) + 8 * 0x20
    return bool(stored) and not stored.strip(b"01234567") and len(stored) < 8 and int(stored, 8) == counted


def _number(field: bytes) -> int:
    """Parse a size: octal digits, or binary where the first bit is set. Raises ArchiveError."""
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
    """Add what an extended header says of the next member: its name, its size, that it is sparse."""
    if kind == LONG_NAME:
        extended["path"] = _text(content)
    elif kind == EXTENDED:
        extended.update(_parse_pax(content))


def _parse_pax(content: bytes) -> Iterator[tuple[str, str]]:
    """Yield the records `LENGTH KEY=VALUE\\n` of a pax header that matter here. Raises ArchiveError."""
    start = 0
    for _ in range(MAX_RECORDS):
        if start == len(content):
            return
        length, space, _ = content[start : start + 12].partition(b" ")
        if not (space and length.isdigit() and len(length) < int(length) <= len(content) - start):
            break
        key, _, value = content[start + len(length) + 1 : start + int(length) - 1].partition(b"=")
        name = key.decode("utf-8", "replace")
        if name == "path" or name.startswith("GNU.sparse."):
            yield name, value.decode("utf-8", "replace")
        elif name == "size":
            if not value.isdigit() or len(value) > 20:
                break
            yield name, value.decode()
        start += int(length)
    raise ArchiveError(f"{NO_TAR}.")


def _skip_sparse_map(header: bytes, stream: _Stream) -> None:
    """Skip the further blocks of a map of holes."""
    more = header[482:483]
    while more not in (b"", b"\0"):
        more = stream.read(BLOCK)[504:505]
