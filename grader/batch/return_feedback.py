"""Every learner's feedback page under the name by which their platform takes it back.

Canvas ("Re-upload Submissions") goes by the names that it gave to the downloaded files: the person's number and the
file's (infer_comment_context_from_filename). It shows what comes back under the name of the file, so it gets text.
Moodle ("Upload multiple feedback files in a zip") takes NAME_PARTICIPANT_assignfeedback_file_/ANY (importziplib.php).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from grader.batch.results import count_unfinished, read_results
from grader.errors import UsageError
from grader.files import PRIVATE_FOLDER, make_folder, read_bounded, refuse_link, replacing
from grader.intake.formats.zip_member import ArchiveError, list_members
from grader.intake.learner import shorten
from grader.intake.limits import MAX_DIRECTORY_BYTES
from grader.intake.platform_names import canvas, moodle
from grader.record import Record

MAX_PAGE_BYTES = 16 << 20
MAX_NAME_CHARS = 300  # of a page in a zip; platforms give files names of 255
_MORE_FILES = re.compile(r" and \d+ more$")  # of the name of a hand-in of several files


Mark = tuple[int, int]  # of a page: its length and CRC-32, as a zip has them


@dataclass
class Returned:
    """How many pages were written, and who got none.

    Args:
        same: So many pages were returned before as they are.
        unfinished: So many hand-ins are not graded yet; None: nobody knows.
        left: Who else got none, and why.
    """

    written: int = 0
    same: int = 0
    unfinished: int | None = 0
    left: list[tuple[str, str]] = field(default_factory=list)


def return_feedback(results: Path, platform: str, out: Path, since: Sequence[Path] = ()) -> Returned:
    """Write the feedback in *results* to a zip at *out*, or for "folder" into that folder; of attempts the last.

    Args:
        since: Zips that were returned before, the newest last; a page that is in them as it is now is not written.

    Raises UsageError if there is no feedback, or no such zip, OSError if it cannot be written.
    """
    before: dict[str, Mark] = {}
    for path in since:
        before |= _read_marks(path)
    head, records = read_results(results)
    newest: dict[str, Record] = {}
    for record in records:
        whose = record.id if platform == "folder" else record.learner
        if whose not in newest or newest[whose].attempt < record.attempt:
            newest[whose] = record
    returned = Returned(unfinished=count_unfinished(head))
    pages = _find_pages(results / "feedback", newest.values(), NAMES[platform], returned, before)
    if platform == "folder":
        _write_folder(out, pages)
    else:
        with replacing(out, private=True) as temporary, ZipFile(temporary, "w", ZIP_DEFLATED) as archive:
            for name, content in pages:
                archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
    return returned


def _read_marks(path: Path) -> dict[str, Mark]:
    """Return the mark of each page in a zip, by its name."""
    next_step = "name with --since the zip that you uploaded before"
    try:
        read_bounded(path, 1)  # refuses pipes
        with path.open("rb") as file:
            members = list_members(file, MAX_DIRECTORY_BYTES)
    except (OSError, ArchiveError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            "this cannot be read as a zip of feedback", where=f"{path}: {what}", next_step=next_step
        ) from None
    return {name: (info.file_size, info.CRC) for name, info in members}


def _find_pages(
    feedback: Path,
    records: Iterable[Record],
    name_of: Callable[[Record], str],
    returned: Returned,
    before: Mapping[str, Mark],
) -> Iterator[tuple[str, bytes]]:
    """Yield each page with its name, no name twice, that is not the same as *before*.

    Raises UsageError if one was not written.
    """
    taken: set[str] = set()
    for record in records:
        name = name_of(record)
        if len(name) > MAX_NAME_CHARS or not name.isprintable():  # somebody else's store may hold any
            name = ""
        if not name or name in taken:
            why = (
                f"{shorten(record.source)} has no name that the platform gave"
                if not name
                else f"{name} is another's, too"
            )
            returned.left.append((record.label, why))
            continue
        taken.add(name)
        path = feedback / f"{record.feedback}{'.html' if name.endswith('/feedback.html') else '.md'}"
        try:
            refuse_link(feedback)
            content = read_bounded(path, MAX_PAGE_BYTES)
        except OSError as error:
            what = f"the feedback for {record.label} cannot be read: {error.strerror or error}"
            raise UsageError(what, where=str(path), next_step=f"grader report {feedback.parent}") from None
        if before.get(name) == (len(content), zlib.crc32(content)):
            returned.same += 1
            continue
        returned.written += 1
        yield name, content


def _write_folder(out: Path, pages: Iterable[tuple[str, bytes]]) -> None:
    out.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    for name, content in pages:
        make_folder((out / name).parent, PRIVATE_FOLDER)
        with replacing(out / name, private=True) as temporary:
            temporary.write_bytes(content)


def _canvas_name(record: Record) -> str:
    """Return the name that Canvas gave to the first file, "" if it is none of Canvas's, or of no file."""
    name = re.sub(r"[/\\]", "_", _MORE_FILES.sub("", record.source)).lstrip(".")
    read = canvas(name)
    return name if read is not None and read.submitted is not None else ""


def _moodle_name(record: Record) -> str:
    """Return the folder of a participant and the page in it; "" without a participant's number."""
    read = moodle(_MORE_FILES.sub("", record.source))
    if read is None or not read.owner.isdigit():
        return ""
    full_name = re.sub(r"[_/\\\s]+", " ", read.owner_name).strip(" .~")
    return f"{full_name}_{read.owner}_assignfeedback_file_/feedback.html"


NAMES: dict[str, Callable[[Record], str]] = {
    "canvas": _canvas_name,
    "moodle": _moodle_name,
    "folder": lambda record: f"{record.feedback}/feedback.html",
}
