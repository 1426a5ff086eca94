"""Record the reference's answers to the public checks, for learners who do not get the reference.

Every public check is run on the reference, in place of a submission too, once for each seed. What was drawn, asked
and answered is kept (judge/transcript), and proved in a dry run.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.authoring.release.copy_course import staged_folder, write_course
from grader.authoring.release.dry_run import NOT_PUBLIC, dry_run, first_line
from grader.authoring.release.excerpt import excerpt
from grader.authoring.release.lock_names import lock_names
from grader.course.learner_copy import (
    PUBLIC_FOLDER,
    RELEASE_FILE,
    Release,
    public_answers,
    public_checks,
    public_names,
    release_text,
)
from grader.course.load_course import load
from grader.errors import CourseError
from grader.files import at, read_file
from grader.judge.checks.check import Check
from grader.judge.course_files import load_file
from grader.judge.examination import Judge, with_judge
from grader.judge.processes.launcher import Launcher
from grader.judge.processes.remote_module import LocalModule
from grader.judge.transcript.transcript import RecordedRand, Recorder, Transcript
from grader.judge.transcript.transcript_file import Key, write_transcripts
from grader.judge.values.random_inputs import derive
from grader.model import Course, Lesson

DEFAULT_SEEDS = 4
DOCSTRING = "The public checks of `{}`: they compare with recorded answers, and there are hidden ones beside them."


def make_release(
    course: Course,
    lessons: Sequence[Lesson],
    out: Path,
    launcher: Launcher,
    *,
    seeds: int = DEFAULT_SEEDS,
    force: bool = False,
    prove: Callable[[Course], None] = lambda _: None,
) -> Iterator[str]:
    """Write the release of these lessons to the folder *out*; yield in words what is done next.

    Args:
        seeds: How many seeds are recorded.
        force: Replace a release that is there.
        prove: Raises for what else is wrong with the released course.

    Nothing is at *out* before all is proved. Raises UsageError for a place that is taken, CourseError for what
    cannot be released.
    """
    numbers = seeds_of(course, seeds)
    with staged_folder(out, force) as folder:
        write_course(course, lessons, folder)
        counts = {}
        for lesson in lessons:
            yield f"Recording {lesson.name}"
            counts[lesson.name] = _write_lesson(course, lesson, folder, launcher, numbers)
        (folder / PUBLIC_FOLDER / RELEASE_FILE).write_text(release_text(Release(numbers, counts)), encoding="utf-8")
        released = load(folder)
        for lesson in lessons:
            yield f"Trying {lesson.name}"
            dry_run(lesson, released, launcher, numbers)
        prove(released)
        for cache in list((folder / PUBLIC_FOLDER).rglob("__pycache__")):
            shutil.rmtree(cache)


def seeds_of(course: Course, number: int) -> tuple[int, ...]:
    """Return the seeds of a release: the same for a version of a course, and not what an instructor would type."""
    return tuple(sorted(random.Random(derive("release", course.id, course.version)).sample(range(1_000_000), number)))


def _write_lesson(
    course: Course, lesson: Lesson, folder: Path, launcher: Launcher, seeds: Sequence[int]
) -> tuple[int, int]:
    """Write a lesson's public checks and their answers; return the numbers of public and of all checks."""
    counts: list[tuple[int, int]] = []

    def drive(judge: Judge) -> None:
        transcripts = record(judge, lesson, seeds)
        checks = judge.checks_of(lesson)
        public = {check.test for check in checks if check.public}
        counts.append((len(public), len({check.test for check in checks})))
        path = public_checks(folder, lesson)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = excerpt(read_file(lesson.checks_path), public, DOCSTRING.format(lesson.name))
        path.write_text(text, encoding="utf-8")
        write_transcripts(public_answers(folder, lesson), transcripts)
        functions = {check.item.name: check.function_in(lesson) for check in checks if check.public}
        lock_names(course, lesson, functions, transcripts, seeds).write(public_names(folder, lesson))

    with_judge(course, [lesson], launcher, "cpu", drive)
    return counts[0]


def record(judge: Judge, lesson: Lesson, seeds: Sequence[int]) -> dict[Key, Transcript]:
    """Record what public checks of a lesson ask and are answered. Raises CourseError if that is not possible."""
    checks = [check for check in judge.checks_of(lesson) if check.public]
    if not checks:
        next_step = "mark one with @pytest.mark.check(..., public=True), or name other lessons with --lessons"
        raise CourseError(f'"{lesson.name}" has no public check', where=str(lesson.checks_path), next_step=next_step)
    reference = vars(load_file(lesson.solution_path))
    runs = [(check, seed) for check in checks for seed in seeds]
    return {(check.item.name, seed): _record(judge, lesson, check, seed, reference) for check, seed in runs}


def unrecordable(judge: Judge, lesson: Lesson) -> Iterator[CourseError]:
    """Yield what is wrong with the marks of a lesson's public checks, if it has any."""
    if any(check.public for check in judge.checks_of(lesson)):
        try:
            with tempfile.TemporaryDirectory(prefix="selfattend-") as folder:
                write_transcripts(Path(folder, "answers"), record(judge, lesson, seeds_of(judge.course, 1)))
        except CourseError as error:
            yield error


def _record(judge: Judge, lesson: Lesson, check: Check, seed: int, reference: dict[str, Any]) -> Transcript:
    if check.plain_arguments is None:
        raise _cannot_be_public(check, "it uses other fixtures than submission, reference and rand, or is in a class")
    _forget_earlier_runs(check)
    transcript = Transcript()
    submission, answering = (
        Recorder(LocalModule(reference, lesson.kinds), lesson.kinds, exchanges)
        for exchanges in (transcript.submission, transcript.reference)
    )
    rand = judge.answers.rand(lesson, check.item.name, seed)
    failure = judge.runner.run(check, submission, answering, lambda _: RecordedRand(rand, transcript.draws))
    if failure is not None:
        raise _cannot_be_public(check, f"the reference itself fails it ({first_line(failure)})")
    return transcript


def _forget_earlier_runs(check: Check) -> None:
    """Run the file of the check again in its module.

    What it remembers of an earlier check has to be asked and recorded again: a learner may run this one alone.
    """
    path = Path(check.item.path)
    exec(compile(read_file(path), str(path), "exec"), vars(check.item.module))


def _cannot_be_public(check: Check, why: str) -> CourseError:
    return CourseError(
        f"{check.item.name} cannot be public: {why}",
        where=at(check.path, check.line),
        next_step=NOT_PUBLIC,
    )
