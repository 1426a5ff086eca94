"""The program as a wheel that carries a release as its course, and no solutions: what a class of learners installs.

The wheel on the package index holds the course with its solutions, as everybody may learn from it. Whoever wants to
keep them from a class gives it this one.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from grader.errors import UsageError

DISTRIBUTION = "selfattend"
LABEL = "learner"  # of the version: `selfattend 0.1.0+learner`
COURSE = "grader/_course"
TAG = "py3-none-any"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same content makes the same file
ABOUT = "The program with a course for learners: public checks with recorded answers, and no solutions."
WHEEL = f"Wheel-Version: 1.0\nGenerator: {DISTRIBUTION}\nRoot-Is-Purelib: true\nTag: {TAG}\n"


def wheel_name() -> str:
    """What the wheel for learners is called. Raises UsageError where the program is not installed."""
    return f"{DISTRIBUTION}-{_version(_installed())}-{TAG}.whl"


def write_wheel(release: Path, folder: Path) -> Path:
    """Pack the program that runs now, with `release` as its course, into a wheel in `folder`; its path.

    Raises UsageError where the program is not installed, or the file cannot be written.
    """
    path = folder / wheel_name()
    contents = dict(sorted({**dict(engine_files()), **dict(_course(release)), **_information(_installed())}.items()))
    record = next(name for name in contents if name.endswith("/WHEEL")).replace("/WHEEL", "/RECORD")
    contents[record] = _record(contents, record)
    temporary = path.with_name(f".{path.name}.new")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in contents.items():
                entry = zipfile.ZipInfo(name, LONG_AGO)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, content)
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"the wheel cannot be written: {error.strerror or error}", where=str(path),
                         next_step="name another place with --out DIR") from None  # fmt: skip
    finally:
        temporary.unlink(missing_ok=True)
    return path


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
    """The program's own files, by their names from `grader/` on. The course that came with it is not among them."""
    for name, content in files_below(_package(), "grader"):
        if not name.startswith(f"{COURSE}/"):
            yield name, content


def _course(release: Path) -> Iterator[tuple[str, bytes]]:
    return files_below(release, COURSE)


def files_below(folder: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    """The files in a folder; hidden ones and what Python leaves behind are not."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        unwanted = path.suffix == ".pyc" or any(part.startswith((".", "__pycache__")) for part in parts)
        if path.is_file() and not path.is_symlink() and not unwanted:
            yield "/".join((prefix, *parts)), path.read_bytes()


def _information(distribution: metadata.Distribution) -> dict[str, bytes]:
    """The folder that describes the wheel, from that of the installed program."""
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
    """The list of all files with their digests, itself without."""
    lines = []
    for name, content in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{record},,\n"]).encode()
