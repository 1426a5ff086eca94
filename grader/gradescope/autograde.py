"""Main program in Gradescope's container: grade the one submission there, and write results.json.

    python -m grader.gradescope.autograde /autograder

Only the instructor sees standard output. If anything fails here, results.json says so, without a score.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from grader.batch.results import read_results
from grader.batch.run import Plan, Run
from grader.course import load
from grader.errors import GraderError, SelfattendError
from grader.files import write_whole
from grader.gradescope.settings import BundleSettings
from grader.intake.limits import MAX_ARCHIVE_BYTES, MAX_DEPTH, MAX_UNPACKED_BYTES
from grader.judge.processes.isolation_policy import lacking
from grader.record import Record
from grader.reports.formats.to_gradescope import make_failure, to_gradescope
from grader.reports.formats.to_markdown import feedback_markdown
from grader.reports.redact_record import redact

MAX_COPIED_BYTES = 2 * MAX_UNPACKED_BYTES
MAX_TOLD = 20  # of a folder
SUBMISSION = "submission"  # the name of the hand-in in paths that learners see


def main(root: Path) -> int:
    """Grade *root*/submission, and return 0 in every case."""
    signal.signal(signal.SIGTERM, _stop)
    result, output = make_failure(), ""
    try:
        result, output = autograde(root)
    except SelfattendError as error:
        output = f"The grader itself failed.\n{error}"
    except BaseException:  # of any kind: the instructor reads it, and the learner gets an answer
        output = f"The grader itself failed.\n{traceback.format_exc()}"
    (root / "results").mkdir(exist_ok=True)
    write_whole(root / "results" / "results.json", [json.dumps(result, allow_nan=False), "\n"])
    print(output)
    return 0


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Treat the signal of `timeout` like Ctrl-C, so that all processes end."""
    raise KeyboardInterrupt("the time for this submission was used up")


def autograde(root: Path) -> tuple[dict[str, Any], str]:
    """Return the object of results.json, and what only the instructor may read. Raises SelfattendError."""
    settings = BundleSettings.read(root / "source")
    with tempfile.TemporaryDirectory(prefix="selfattend-") as folder:
        work = Path(folder)
        _copy_submission(root / "submission", work / "in" / SUBMISSION)
        head, record = _grade(root / "source" / "course", settings, work)
    shown = (head, record) if settings.reveal else ({**head, "seed": None}, redact(record))
    result = to_gradescope(
        *shown, out_of=settings.out_of, missing_as_zero=settings.missing_as_zero, visibility=settings.visibility
    )
    return result, _describe_for_instructor(head, record)


def _copy_submission(submission: Path, target: Path) -> None:
    """Copy the hand-in into a folder where it is the only one; what cannot be copied, or is no work, is left out."""
    target.mkdir(parents=True)
    room = MAX_COPIED_BYTES

    def leave_out(folder: str, names: list[str]) -> list[str]:
        nonlocal room
        found = []
        for path in (Path(folder, name) for name in names):
            size = path.lstat().st_size  # as it says: a sparse file is copied whole
            is_too_deep = len(path.relative_to(submission).parts) > MAX_DEPTH + 1
            if is_too_deep or size > min(room, MAX_ARCHIVE_BYTES):
                found.append(path.name)
            else:
                room -= size
        for name in found[:MAX_TOLD]:
            print(f"Left out: {folder}/{name}: too large, or in too many folders")
        return found

    try:
        if submission.is_dir():
            shutil.copytree(submission, target, symlinks=True, ignore=leave_out, dirs_exist_ok=True)
    except shutil.Error as error:
        for source, _, why in error.args[0]:
            print(f"Left out: {source}: {why}")


def _grade(course_root: Path, settings: BundleSettings, work: Path) -> tuple[Mapping[str, Any], Record]:
    """Grade with full isolation, or without requiring it; that it is missing is known before any code runs."""
    try:
        return _run(course_root, settings, work, "required")
    except GraderError as error:
        print(f"Trying again, without asking for full isolation. {error}", flush=True)
        return _run(course_root, settings, work, "available")


def _run(course_root: Path, settings: BundleSettings, work: Path, isolation: str) -> tuple[Mapping[str, Any], Record]:
    course = load(course_root)
    lessons = [course.lessons[name] for name in settings.lessons]
    out = work / isolation
    run = Run(course, Plan(work / "in", out, lessons, settings.engine, settings.seed, isolation=isolation, jobs=1))
    try:
        run.grade(lambda _record: None)
    finally:
        run.close()
    head, records = read_results(out)
    return head, next(iter(records))


def _describe_for_instructor(head: Mapping[str, Any], record: Record) -> str:
    """Say which protection was in force, and everything about the submission."""
    layers = list(head["isolation"])
    lines = [f"Protection in force: {', '.join(layers) or 'none: no code was run'}."]
    if layers and (missing := lacking(layers)):
        lines.append(f"Learners' code was not isolated {' and '.join(missing)}.")
    return "\n".join([*lines, f"Seed {head['seed']}.", "", feedback_markdown(head, record)])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
