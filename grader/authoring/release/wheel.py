"""Pack the installed program and a release into a wheel, without solutions, for a class of learners.

The wheel on the package index holds the course with its solutions. Build tools make wheels of a source tree and need a
build backend; this packs what is installed, offline, with nothing more than the standard library.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator
from importlib import metadata
from pathlib import Path

from grader.errors import UsageError
from grader.files import explain_unwritable, files_below, replacing

DISTRIBUTION = "selfattend"
LABEL = "learner"  # of the version: `selfattend 0.1.0+learner`
COURSE = "grader/_course"
TAG = "py3-none-any"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # the same content makes the same file
ABOUT = "The program with a course for learners: public checks with recorded answers, and no solutions."
WHEEL = f"Wheel-Version: 1.0\nGenerator: {DISTRIBUTION}\nRoot-Is-Purelib: true\nTag: {TAG}\n"


def wheel_name() -> str:
    """Return the file name of the wheel. Raises UsageError if the program is not installed."""
    return f"{DISTRIBUTION}-{_version(_installed())}-{TAG}.whl"


def write_wheel(release: Path, folder: Path) -> Path:
    """Write the running program, with *release* as its course, as a wheel into *folder*; return its path.

    Raises UsageError if the program is not installed, or the file cannot be written.
    """
    path = folder / wheel_name()
    contents = dict(
        sorted({**dict(engine_files()), **dict(read_below(release, COURSE)), **_dist_info(_installed())}.items())
    )
    record = next(name for name in contents if name.endswith("/WHEEL")).replace("/WHEEL", "/RECORD")
    contents[record] = _record(contents, record)
    with explain_unwritable("the wheel", path, "name another place with --out DIR"):
        write_zip(path, contents.items())
    return path


def write_zip(path: Path, contents: Iterable[tuple[str, bytes]], scripts: Collection[str] = ()) -> None:
    """Write a zip of these files, of which *scripts* can be run, whole or not at all. Raises OSError."""
    with replacing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents:
            entry = zipfile.ZipInfo(name, FIXED_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name in scripts else 0o644) << 16
            archive.writestr(entry, content)


def _installed() -> metadata.Distribution:
    try:
        return metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        what = "this program was not installed, so it has no description that a wheel needs"
        raise UsageError(what, where=str(_package().parent), next_step="pip install -e . (in that folder)") from None


def _version(distribution: metadata.Distribution) -> str:
    return f"{distribution.version.partition('+')[0]}+{LABEL}"


def _package() -> Path:
    return Path(__file__).resolve().parents[2]


def engine_files() -> Iterator[tuple[str, bytes]]:
    """Yield the program's own files, named from `grader/` on, without the bundled course."""
    for name, content in read_below(_package(), "grader"):
        if not name.startswith(f"{COURSE}/"):
            yield name, content


def read_below(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the files in a folder."""
    for path in files_below(folder):
        yield f"{prefix}/{path.relative_to(folder).as_posix()}", path.read_bytes()


def _dist_info(distribution: metadata.Distribution) -> dict[str, bytes]:
    """Return the files that describe the wheel, made from those of the installed program."""
    version = _version(distribution)
    folder = f"{DISTRIBUTION}-{version}.dist-info"
    headers = (distribution.read_text("METADATA") or "").split("\n\n", 1)[0]  # the README has an answer in it
    headers = re.sub(r"(?m)^Version: .*$", f"Version: {version}", headers, count=1)
    found = {f"{folder}/METADATA": f"{headers}\n\n{ABOUT}\n".encode(), f"{folder}/WHEEL": WHEEL.encode()}
    for path in distribution.files or ():
        inside = path.parts[1:] if path.parts[0].endswith(".dist-info") else ()
        if inside == ("entry_points.txt",) or inside[:1] == ("licenses",):
            found["/".join((folder, *inside))] = Path(str(path.locate())).read_bytes()
    return found


def _record(contents: dict[str, bytes], record: str) -> bytes:
    """Return the list of all files and their digests, itself without one."""
    lines = []
    for name, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{record},,\n"]).encode()
