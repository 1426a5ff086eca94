"""Zip archives, of a learner or of a whole class, which are not trusted and are read in memory.

No member is written to disk, so no name can lead out; names that try to are left out all the same. What is read of each
member and of the list of members is bounded whatever size they claim, so a zip bomb does no harm.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import BinaryIO, TypeVar

from grader.intake.limits import (
    MAX_HAND_IN_BYTES,
    Looked,
    in_reading_order,
    is_own,
    is_read,
    limit_for,
    why_too_long,
)

T = TypeVar("T")

ENCRYPTED, UTF8 = 0x1, 0x800
CHUNK_BYTES = 1 << 16  # unpacks to a thousand times as much at most, and never to more than asked for
MAX_LEARNER_DIRECTORY_BYTES = 8 << 20  # the list of members of one learner's archive: some 100,000 of them
DAMAGED = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    OverflowError,
    ValueError,
    RuntimeError,
)

ON_WINDOWS = os.name == "nt"
BYTES_A_MEMBER = 1 << 10  # listing a member takes as long as passing over so many of a .tar.gz ...
SLOWER_THAN_TAR = 2  # ... and unpacking a byte as long as passing over two
NAMELESS = "A file of the archive was left out: it has no name."
TWICE = "{} is in the archive more than once: the last one was read, as unpacking leaves it."
Note = Callable[[str], None]
Spend = Callable[[int], None]
PassOver = Callable[[str], None]  # is called with the name of what is not read


class ArchiveError(Exception):
    """The archive cannot be used; the text is a sentence for readers of the results."""


def read_zip(file: BinaryIO, note: Note, spend: Spend, pass_over: PassOver) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each Python file and notebook, of weights and archives: in reading order.

    *spend* is called with what is going to be unpacked, kept or not. Raises ArchiveError, OSError, and what it raises.
    """
    members = list_members(file, MAX_LEARNER_DIRECTORY_BYTES)
    spend(len(members) * BYTES_A_MEMBER)
    own = [(name, info) for name, info in members if is_own(name)]
    looked = Looked()
    for name, _ in own:
        looked.add(name)
    if looked.full:
        raise ArchiveError(f"The archive holds more than {looked.full}.")
    wanted = [(name, info) for name, info in own if is_read(name)]
    for name, _ in members:
        if not (is_read(name) and is_own(name)):
            pass_over(name)
    if any(info.flag_bits & ENCRYPTED for _, info in wanted):
        raise ArchiveError("The archive is encrypted: it has to be handed in without a password.")
    if any(not name for name, _ in own):
        note(NAMELESS)
    last, twice = last_of_each(wanted)
    for name, info in in_reading_order(by_depth(last), lambda one: one[0], lambda one: one[1].file_size):
        limit = min(limit_for(name), MAX_HAND_IN_BYTES + 1)
        spend(SLOWER_THAN_TAR * bytes_read(info, limit))
        content = read_member(file, info, limit, note)
        if content is not None:
            if name in twice:
                note(TWICE.format(name))
            yield name, content


def list_members(file: BinaryIO, limit: int) -> list[tuple[str, zipfile.ZipInfo]]:
    """Read the files that the list of members names, if it has at most *limit* bytes. Raises ArchiveError, OSError."""
    try:
        if _directory_bytes(file) > limit:
            raise ArchiveError("The archive holds far too many entries.")
        with zipfile.ZipFile(file) as archive:
            members = [(member_name(info), info) for info in archive.infolist()]
            return [(name, info) for name, info in members if not name.endswith("/")]
    except DAMAGED as error:
        raise ArchiveError(f"The archive is damaged, or it is no .zip: {error}.") from error


def bytes_read(info: zipfile.ZipInfo, limit: int) -> int:
    """Return how many bytes are gone through at most for the first *limit* of a member, packed or unpacked.

    The packed ones count by themselves: any number of members may lie over one stream that unpacks to nothing.
    """
    packed = packed_room(info, limit) if info.compress_type == zipfile.ZIP_DEFLATED else 0
    return max(min(info.file_size, limit), packed)


def packed_room(info: zipfile.ZipInfo, limit: int) -> int:
    """Return how many packed bytes may lead to the first *limit* of a member; beyond that it is damaged.

    What cannot be made smaller may stand in blocks of its own length (RFC 1951, 3.2.4), but quick programs write it in
    fixed codes, nine bits for eight, or in short blocks: a quarter more was seen.
    """
    most = min(limit, info.file_size + 1)
    return min(info.compress_size, most + most // 2 + CHUNK_BYTES)


def last_of_each(
    members: Iterable[tuple[str, zipfile.ZipInfo]],
) -> tuple[dict[str, zipfile.ZipInfo], set[str]]:
    """Return the last member of each path, which unpacking leaves, and the paths that several have."""
    last: dict[str, zipfile.ZipInfo] = {}
    twice: set[str] = set()
    for name, info in members:
        path = "/".join(parts_of(name))
        if path in last:
            twice.add(path)
        last[path] = info
    return last, twice


def by_depth(members: Mapping[str, T]) -> list[tuple[str, T]]:
    """Sort members by name, those nearest the top first."""
    return sorted(members.items(), key=lambda one: (one[0].count("/"), one[0]))


def member_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name with `/` between folders; many programs write backslashes, or UTF-8 without its flag."""
    name = info.filename
    if not info.flag_bits & UTF8 and not name.isascii():
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:  # it is what the format says: code page 437
            name = info.filename
    return name.replace("\\", "/")


def parts_of(name: str) -> list[str]:
    """Split a member's name into folders and file, without "." and empty parts; of a root the empty name is left."""
    return [part for place, part in enumerate(name.split("/")) if part != "." and (part or not place)]


def why_refused(name: str) -> str:
    """Return why no file of an archive is read under this name; empty if one may be."""
    parts = parts_of(name.removesuffix("/"))
    if not any(parts):
        return "it has no name"
    if _is_drive(parts[0]) or "\0" in name or any(part in ("", "..") for part in parts):
        return "its name leads out of the archive"
    return why_too_long(name)


def _is_drive(part: str) -> bool:
    """Return True for what a name begins with that leads to a drive: "C:" alone, and on Windows what "C:hw" does.

    Elsewhere a folder may be called "A: sums".
    """
    return part[1:2] == ":" and (ON_WINDOWS or len(part) == 2)


def read_member(file: BinaryIO, info: zipfile.ZipInfo, limit: int, note: Note) -> bytes | None:
    """Read at most *limit* bytes of a member; None, and a note, if it cannot be read. Raises OSError."""
    name = member_name(info)
    if why := why_refused(name):
        note(f"{name} was left out: {why}.")
    elif stat.S_ISLNK(info.external_attr >> 16):
        note(f"{name} was left out: it is a link.")
    elif info.flag_bits & ENCRYPTED:
        note(f"{name} was left out: it is encrypted.")
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        note(f"{name} was left out: it is compressed in an unusual way.")
    else:
        try:
            return _unpack(file, info, limit)
        except DAMAGED as error:
            note(f"{name} was left out: it is damaged ({error}).")
    return None


def _unpack(file: BinaryIO, info: zipfile.ZipInfo, limit: int) -> bytes:
    """Read the first *limit* bytes of a member without `zipfile`, which would keep the archive open.

    APPNOTE.TXT 4.3.7: 30 bytes, a name and an extra field stand before the content. Raises what DAMAGED holds, OSError.
    """
    file.seek(max(0, info.header_offset))
    header = file.read(30)
    if header[:4] != b"PK\3\4" or len(header) < 30:
        raise zipfile.BadZipFile("it is not where the list of members says")
    file.seek(sum(struct.unpack_from("<HH", header, 26)), 1)
    unpack = zlib.decompressobj(-zlib.MAX_WBITS) if info.compress_type == zipfile.ZIP_DEFLATED else None
    most = min(limit, info.file_size + 1)
    left, content = packed_room(info, limit), bytearray()
    while left and len(content) < most and (packed := file.read(min(left, CHUNK_BYTES))):
        left -= len(packed)
        content += unpack.decompress(packed, most - len(content)) if unpack else packed[: most - len(content)]
    if len(content) < limit and (zlib.crc32(content) != info.CRC or len(content) != info.file_size):
        raise zipfile.BadZipFile("its checksum is wrong")
    return bytes(content)


def _directory_bytes(file: BinaryIO) -> int:
    """Return the length that the list of members claims; `zipfile` would read all of it at once.

    APPNOTE.TXT 4.3.16: the last record is 22 bytes and a comment; 4.3.14 and 4.3.15: in large archives 20 bytes that
    point to another record of 56 stand before it.
    """
    length = file.seek(0, 2)
    file.seek(max(0, length - 22 - 0xFFFF - 76))
    tail = file.read()
    end = tail.rfind(b"PK\5\6") if tail[-22:-18] != b"PK\5\6" else len(tail) - 22
    if end < 0 or len(tail) < end + 22:
        raise zipfile.BadZipFile("it has no list of members")
    (size,) = struct.unpack_from("<L", tail, end + 12)
    large = tail[end - 76 : end] if end >= 76 else b""
    if large[:4] == b"PK\6\6" and large[56:60] == b"PK\6\7":
        (size,) = struct.unpack_from("<Q", large, 40)
    return int(size)
