"""A learner's .zip: its Python files and notebooks, read in memory. Whoever made the archive is not trusted.

No member is written to disk, so no name can lead anywhere; names that try to are left out all the same. What is read
of each member is bounded whatever size it claims, so a bomb does not go off.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.batch.bounds import ARCHIVE_BYTES, KEPT, LIBRARIES, MOST_ENTRIES, limit_for, read_bounded
from grader.batch.discover import is_noise

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile gives the others no bound on what one read unpacks
ENCRYPTED = 0x1


class ArchiveError(Exception):
    """The archive as a whole cannot be used; the text is a sentence for the reader of the results."""


def read_members(path: Path, note: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    """Name and content of each Python file and notebook, nearest the top first. Raises ArchiveError, OSError."""
    read_bounded(path, 1)  # refuses links, pipes and what may not be read
    if path.stat().st_size > ARCHIVE_BYTES:
        raise ArchiveError(f"The archive is larger than {ARCHIVE_BYTES >> 20} MB.")
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if _is_wanted(info)]
            if len(archive.infolist()) > MOST_ENTRIES:
                raise ArchiveError(f"The archive holds more than {MOST_ENTRIES} entries.")
            if any(info.flag_bits & ENCRYPTED for info in members):
                raise ArchiveError("The archive is encrypted: it has to be handed in without a password.")
            for info in sorted(members, key=lambda info: (info.filename.count("/"), info.filename)):
                content = _read(archive, info, note)
                if content is not None:
                    yield info.filename, content
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, EOFError, IndexError) as error:
        raise ArchiveError(f"The archive is damaged, or it is no .zip: {error}.") from error


def _is_wanted(info: zipfile.ZipInfo) -> bool:
    parts = info.filename.split("/")
    is_kept = not info.is_dir() and parts[-1].lower().endswith(KEPT)
    return is_kept and not any(map(_is_foreign, parts))


def _is_foreign(part: str) -> bool:
    return part in LIBRARIES or (is_noise(part) and part not in (".", ".."))


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, note: Callable[[str], None]) -> bytes | None:
    name = info.filename
    parts = name.split("/")
    if name.startswith("/") or ":" in parts[0] or "\\" in name or any(part in ("", ".", "..") for part in parts):
        note(f"{name} was left out: its name leads out of the archive.")
    elif stat.S_ISLNK(info.external_attr >> 16):
        note(f"{name} was left out: it is a link.")
    elif info.compress_type not in METHODS:
        note(f"{name} was left out: it is compressed in an unusual way.")
    else:
        try:
            with archive.open(info) as member:
                return member.read(limit_for(name))
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            note(f"{name} was left out: it is damaged ({error}).")
    return None
