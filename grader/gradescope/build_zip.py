"""Build the zip of a Gradescope autograder: this engine, the course, and two scripts.

setup.sh, run_autograder     what Gradescope calls (its "Autograder Specifications")
engine/, course/             the program's source, and the course with its hidden checks
requirements.txt, constraints.txt    what setup.sh installs, in the versions that are installed here
settings.json, seconds, failed.json  what to grade, the time limit, and the result if everything else fails
README.md                    for the instructor
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template

from grader.authoring.release.pack_program import program_files, require_checks
from grader.authoring.release.wheel import write_zip
from grader.files import explain_unwritable
from grader.gradescope.settings import FILE, BundleSettings
from grader.model import Course, Lesson
from grader.reports.formats.to_gradescope import make_failure
from grader.reports.record_view import number_text

FILES = Path(__file__).parent / "files"
SCRIPTS = ("setup.sh", "run_autograder")
SPARE_SECONDS = 60  # before Gradescope's own limit, after which it gives a zero
SHOWN = {
    True: "Learners see everything, the inputs of hidden checks and what was expected too.",
    False: "Learners see each check's sentence, how it ended and what to do next, never a hidden input.",
}
MISSING = {True: "a lesson that was not handed in counts as 0", False: "a lesson that was not handed in does not count"}


def write_bundle(course: Course, lessons: Sequence[Lesson], out: Path, settings: BundleSettings, minutes: int) -> None:
    """Write the zip to *out*; *minutes* is the timeout that is set in Gradescope.

    Raises UsageError for a course without checks, a program that was not installed, or if it cannot be written.
    """
    require_checks(course, lessons)
    seconds = minutes * 60 - SPARE_SECONDS
    with explain_unwritable("the file", out):
        write_zip(out, _contents(course, settings, minutes, seconds), SCRIPTS)


def _contents(course: Course, settings: BundleSettings, minutes: int, seconds: int) -> Iterator[tuple[str, bytes]]:
    for script in SCRIPTS:
        yield script, (FILES / script).read_bytes()
    yield "README.md", _readme(course, settings, minutes, seconds).encode()
    yield FILE, settings.to_json().encode()
    yield "seconds", f"{seconds}\n".encode()
    yield "failed.json", (json.dumps(make_failure(), indent=2) + "\n").encode()
    yield from program_files(course)


def _readme(course: Course, settings: BundleSettings, minutes: int, seconds: int) -> str:
    return Template((FILES / "README.md").read_text(encoding="utf-8")).substitute(
        course=course.title,
        lessons=", ".join(settings.lessons),
        out_of=number_text(settings.out_of),
        engine=settings.engine,
        minutes=minutes,
        seconds=seconds,
        missing=MISSING[settings.missing_as_zero],
        shown=SHOWN[settings.reveal],
    )
