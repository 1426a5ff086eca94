"""What `run_autograder` runs in Gradescope's container: grade the one submission there, and write results.json.

    python -m grader.gradescope.autograde /autograder

Standard output is what the instructor sees, and nobody else. Whatever goes wrong here, results.json is written: it says
that the grader failed, and has no score.
"""

from __future__ import annotations

import json
import os
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
from grader.gradescope.settings import BundleSettings
from grader.judge.processes.isolation_policy import lacking
from grader.record import Record
from grader.reports.formats.to_gradescope import make_failure, to_gradescope
from grader.reports.formats.to_markdown import feedback_markdown
from grader.reports.redaction import redact

SUBMISSION = "submission"  # what the hand-in is called in paths that learners see


def main(root: Path) -> int:
    """Grade what lies in `root`/submission; always 0."""
    signal.signal(signal.SIGTERM, _stop)
    result, told = make_failure(), ""
    try:
        result, told = autograde(root)
    except SelfattendError as error:
        told = f"The grader itself failed.\n{error}"
    except BaseException:  # whatever it is, the instructor reads it and the learner gets an answer
        told = f"The grader itself failed.\n{traceback.format_exc()}"
    _write(root / "results" / "results.json", result)
    print(told)
    return 0


def _stop(_number: int, _frame: FrameType | None) -> None:
    """`timeout` ends us like Ctrl-C does, so that our processes end with us."""
    raise KeyboardInterrupt("the time for this submission was used up")


def autograde(root: Path) -> tuple[dict[str, Any], str]:
    """The object of results.json, and what only the instructor may read. Raises SelfattendError."""
    settings = BundleSettings.read(root / "source")
    with tempfile.TemporaryDirectory(prefix="selfattend-") as folder:
        place = Path(folder)
        _take(root / "submission", place / "in" / SUBMISSION)
        head, record = _graded(root / "source" / "course", settings, place)
    shown = (head, record) if settings.reveal else ({**head, "seed": None}, redact(record))
    result = to_gradescope(
        *shown, out_of=settings.out_of, missing_as_zero=settings.missing_as_zero, visibility=settings.visibility
    )
    return result, _for_the_instructor(head, record)


def _take(submission: Path, target: Path) -> None:
    """Copy the hand-in to where it is the only one. Links are copied as links; what cannot be copied is left out."""
    target.mkdir(parents=True)
    try:
        if submission.is_dir():
            shutil.copytree(submission, target, symlinks=True, dirs_exist_ok=True)
    except shutil.Error as error:
        for source, _, why in error.args[0]:
            print(f"Left out: {source}: {why}")


def _graded(course_root: Path, settings: BundleSettings, place: Path) -> tuple[Mapping[str, Any], Record]:
    """Grade with the strongest protection there is. Where learners' code cannot be kept from files and network, that is
    found out before any of it runs."""
    try:
        return _run(course_root, settings, place, "required")
    except GraderError as error:
        print(f"Trying again, without asking for full isolation. {error}", flush=True)
        return _run(course_root, settings, place, "available")


def _run(course_root: Path, settings: BundleSettings, place: Path, isolation: str) -> tuple[Mapping[str, Any], Record]:
    course = load(course_root)
    lessons = [course.lessons[name] for name in settings.lessons]
    out = place / isolation
    run = Run(course, Plan(place / "in", out, lessons, settings.engine, settings.seed, isolation=isolation, jobs=1))
    try:
        run.grade(lambda _record: None)
    finally:
        run.close()
    head, records = read_results(out)
    return head, next(iter(records))


def _for_the_instructor(head: Mapping[str, Any], record: Record) -> str:
    """Which protection was in force, and everything that is known of the submission."""
    layers = list(head["isolation"])
    said = [f"Protection in force: {', '.join(layers) or 'none: no code was run'}."]
    if layers and (missing := lacking(layers)):
        said.append(f"Learners' code was not isolated {' and '.join(missing)}.")
    return "\n".join([*said, f"Seed {head['seed']}.", "", feedback_markdown(head, record)])


def _write(path: Path, result: Mapping[str, Any]) -> None:
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(result, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
