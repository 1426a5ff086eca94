"""Read a learner's file, and the learner's own files that it imports, as text. Nothing is run."""

from __future__ import annotations

from pathlib import Path

from grader.errors import SubmissionError
from grader.model import Course, Lesson, Submission
from grader.submission.own_files import ON_DISK, FilesOfHandIn, FilesOnDisk
from grader.submission.own_modules import (
    COPY_NUMBER,
    OF_PACKAGE,
    RESERVED,
    OwnModules,
    imported_beside,
    imported_modules,
    why_unread,
    without_number,
)
from grader.submission.source_text import (
    MAX_BYTES,
    NAME_IT,
    START,
    UTF8_BOM,
    UTF16_BOMS,
    decode_source,
    encode_source,
    read_bytes,
    read_source,
    to_source,
)

__all__ = [
    "ARTEFACT_SUFFIX",
    "COPY_NUMBER",
    "MAX_ARTEFACT_BYTES",
    "MAX_BYTES",
    "NAME_IT",
    "OF_PACKAGE",
    "RESERVED",
    "START",
    "UTF8_BOM",
    "UTF16_BOMS",
    "FilesOfHandIn",
    "artefact_path",
    "decode_source",
    "encode_source",
    "imported_beside",
    "imported_modules",
    "read_artefact",
    "read_bytes",
    "read_source",
    "read_submission",
    "why_unread",
    "without_number",
]  # fmt: skip

ARTEFACT_SUFFIX = ".safetensors"  # of weights that a learner trained
MAX_ARTEFACT_BYTES = 8 << 20


def read_submission(
    path: Path,
    lesson: Lesson,
    course: Course,
    root: Path | None = None,
    workspace: Path | None = None,
    files: FilesOnDisk = ON_DISK,
) -> Submission:
    """Return the submission of *lesson* in the file at *path*, with the learner's own modules that it imports.

    Modules are looked for beside the file and, if it lies in the folder of a track, in those of the other tracks, then
    in the folders above and `src` in each, but never outside *root*: the learner's folder, or the file itself where it
    is all that was handed in. What is not there is taken from the tracks of *workspace*, whose owner checks a file from
    elsewhere. The learner's packages, and modules of these, get plain names, in the source as well.
    Raises SubmissionError if the file itself cannot be read, or a link leads out of *root* to it: in somebody else's
    folder it may be any file of the user's. A fault of another file is a note.
    """
    if root and not files.resolved(path).is_relative_to(files.resolved(root)):
        what = "a link leads from here to a file outside of the workspace"
        next_step = "put the file itself there, then repeat the command"
        raise SubmissionError(what, where=str(path), next_step=next_step)
    in_workspace = path.absolute().parent.name == lesson.track
    source = to_source(files.read_bytes(path, START if in_workspace else NAME_IT), path)
    siblings = OwnModules(path, lesson, course, root, workspace, files)
    source = siblings.follow(source)
    artefact = read_artefact(path, files) if lesson.kind == "capstone" else None
    notes = tuple(siblings.notes)
    beside = artefact_path(path)
    if lesson.kind == "capstone" and artefact is None and beside.name in files.names_in(beside.parent):
        why = "it is a link" if beside.is_symlink() else "it is no file that can be read"
        notes += (f"{beside.name} is left out: {why}",)
    return Submission(lesson.name, str(path), source, siblings.found, notes, artefact=artefact)


def artefact_path(path: Path) -> Path:
    """Return where the weights lie that belong to a submission."""
    return path.with_suffix(ARTEFACT_SUFFIX)


def read_artefact(path: Path, files: FilesOnDisk = ON_DISK) -> bytes | None:
    """Return the weights beside a submission, cut at one byte more than is allowed; None without an ordinary file."""
    artefact = artefact_path(path)
    try:
        return files.read_bounded(artefact, MAX_ARTEFACT_BYTES + 1) if files.is_file(artefact) else None
    except OSError:
        return None
