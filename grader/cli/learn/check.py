"""`learn check`: a learner's work, assessed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import CourseContext, current_folder, find_context, short_path
from grader.cli.learn.next_step import show_worth
from grader.cli.lesson_argument import lesson_argument
from grader.cli.main import OUR_FAULT
from grader.cli.options import course_option, json_option
from grader.course.learner_copy import release_of
from grader.errors import SubmissionError, UnknownLesson, UsageError, WorkspaceError
from grader.model import Lesson, LessonProgress, LessonResult, Submission, Suggestion
from grader.submission import read_submission
from grader.terminal.console import is_terminal, make_layout, put, warn, wrap

if TYPE_CHECKING:
    from grader.judge.examination import Judge

NOT_YET = 1
MISSING = 2


@dataclass(frozen=True)
class Request:
    """What was asked for, as options."""

    device: str
    seed: int
    as_json: bool
    verbose: bool


@dataclass
class Round:
    """One run of the command: what is judged, and what has come out."""

    place: CourseContext
    request: Request
    progress: dict[str, LessonProgress]
    jobs: list[tuple[Lesson, Submission, int]] = field(default_factory=list)
    results: list[LessonResult] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)  # why a result could not be kept


@click.command("check")
@lesson_argument(several=True)
@click.option("--file", type=click.Path(path_type=Path), metavar="PATH", help="Check this file, not the workspace's.")
@click.option("--all", "everything", is_flag=True, help="Check every lesson of the course.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True,
              help="Where your code runs; auto takes a GPU where there is one.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Repeat a run with the same random inputs.")
@click.option("--pdb", "debug", is_flag=True, help="Open the debugger at the first call that fails.")
@click.option("-v", "--verbose", is_flag=True, help="Show all of every message and of what your code printed.")
@json_option
@course_option
@click.pass_context
def command(
    ctx: click.Context, lessons: tuple[str, ...], file: Path | None, everything: bool, device: str, seed: int | None,
    debug: bool, verbose: bool, as_json: bool,
) -> None:  # fmt: skip
    """Check your work: a score, mistakes by name, what to do next.

    Without LESSON, your current lesson. In a workspace the result is kept. Your code runs in a process of its own,
    shut off from your files and the network as far as this system allows.

    With --json, one lesson prints the documented object, several print {"schema": 1, "lessons": {NAME: object}}.
    Exit code: 0 all passed, 1 not yet, 2 wrong usage or a missing file, 3 a fault of ours.

    In a release for learners only the public checks are here: the score is of those, and the object has "public": true.

    \b
    Example:
      learn check softmax
      learn check softmax --file elsewhere.py --seed 7
      learn check --all
    """
    _refuse_contradictions(lessons, file, everything, debug, as_json)
    place = find_context(ctx)
    request = Request(device, _seed(place, seed), as_json, verbose)
    this = Round(place, request, place.progress())
    chosen = list(place.course.lessons.values()) if everything else _chosen(this, lessons, file)
    for lesson in chosen:
        _add(this, lesson, _file_of(place, lesson, file, lessons), several=len(chosen) > 1)
    _judge(this, several=len(chosen) > 1)
    if debug:
        _debug(this)
    ctx.exit(_exit_code(this.results))


def _refuse_contradictions(
    lessons: Sequence[str], file: Path | None, everything: bool, debug: bool, as_json: bool
) -> None:  # fmt: skip
    if everything and (lessons or file):
        raise click.UsageError("--all takes no lesson and no file.")
    if file and len(lessons) > 1:
        raise click.UsageError("--file is the work on one lesson: name one.")
    if debug and (as_json or everything or len(lessons) > 1):
        raise click.UsageError("--pdb is for one lesson, and not for --json.")
    if debug and not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise click.UsageError("--pdb needs a terminal: the debugger asks what to do.")


def _seed(place: CourseContext, asked: int | None) -> int:
    """The seed asked for, or a fresh one. A release for learners has answers for its own only. Raises UsageError."""
    release = release_of(place.course)
    if release is not None:
        return release.seed(asked)
    from grader.judge.session import random_seed

    return random_seed() if asked is None else asked


# --- what to check ----------------------------------------------------------------------------------------------------


def _chosen(this: Round, lessons: Sequence[str], file: Path | None) -> list[Lesson]:
    place = this.place
    if lessons:
        return list({lesson.name: lesson for name in lessons for lesson in [place.lesson(name)]}.values())
    if file is not None:
        return [_lesson_of(place, file)]
    place.needed_workspace()  # elsewhere there is no lesson that one is at
    return [place.lesson(None, this.progress)]


def _lesson_of(place: CourseContext, file: Path) -> Lesson:
    """The lesson that a file is named after. Raises UsageError if it is named after none."""
    try:
        return place.lesson(file.name)
    except UnknownLesson:
        raise UsageError(
            f'"{file.name}" is not named after a lesson: say which lesson it is your work on',
            next_step=f"learn check LESSON --file {shlex.quote(str(file))}",
        ) from None


def _file_of(place: CourseContext, lesson: Lesson, file: Path | None, lessons: Sequence[str]) -> Path:
    """The file given, else the lesson if that was a file's path, else the workspace's."""
    if file is not None:
        return file
    named = [Path(name) for name in lessons if name.endswith(".py") and place.lesson(name) is lesson]
    if named and named[0].is_file():
        return named[0]
    if place.workspace is None:
        raise WorkspaceError(
            "this folder is not in a workspace",
            where=str(current_folder()),
            next_step=f"learn start, or learn check {lesson.name} --file YOUR_FILE.py",
        )
    return Path(short_path(place.workspace.exercise_path(lesson)))


def _add(this: Round, lesson: Lesson, path: Path, several: bool) -> None:
    """Read a file to be judged. Of several lessons, one whose file is missing does not stop the others."""
    root = this.place.workspace.root if this.place.workspace else None
    within = root if root and path.absolute().is_relative_to(root) else None
    try:
        submission = read_submission(path, lesson, this.place.course, within)
    except SubmissionError as error:
        if not several:
            raise
        this.results.append(_missing(lesson, this.request, str(path), error))
        return
    this.jobs.append((lesson, submission, this.progress[lesson.name].hints_used))


def _missing(lesson: Lesson, request: Request, path: str, error: SubmissionError) -> LessonResult:
    return LessonResult(
        lesson.name, "missing", None, False, "cpu", request.seed, 0.0, weaknesses=(error.what,), file=path
    )


# --- judging ----------------------------------------------------------------------------------------------------------


def _judge(this: Round, several: bool) -> None:
    from grader.judge.session import judge_with
    from grader.terminal.spinner import Spinner

    chosen = {lesson.name: lesson for lesson, _, _ in this.jobs}.values()
    with Spinner("Starting PyTorch" if this.place.course.arrays == "torch" else "Starting") as working:

        def take(result: LessonResult) -> None:
            this.results.append(result)
            _keep(this, result)
            if not several:
                working.stop()
                _show(this, several)

        def drive(judge: Judge) -> None:
            for number, (lesson, submission, hints_used) in enumerate(this.jobs, 1):
                now = f"Checking {lesson.name} ({number} of {len(this.jobs)})" if several else "Running your code"
                working.update(now)
                take(judge.examine(lesson, submission, this.request.seed, hints_used))

        if this.jobs:
            judge_with(this.place.course, chosen, drive, device=this.request.device)
    if several:
        order = list(this.place.course.lessons)
        this.results.sort(key=lambda result: order.index(result.lesson))
        _show(this, several)


def _keep(this: Round, result: LessonResult) -> None:
    """Record an attempt. If that fails, the verdict is shown all the same; what we spoiled ourselves is not counted."""
    if this.place.workspace is None or result.state == "grader-error":
        return
    import hashlib

    source = next(submission.source for lesson, submission, _ in this.jobs if lesson.name == result.lesson)
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    trouble = this.place.record(lambda store: store.record_attempt(result, digest, datetime.now(UTC)))
    this.troubles += filter(None, [trouble])


def _with_next_lesson(this: Round, result: LessonResult) -> LessonResult:
    """A verdict that passed, with the first lesson that this learner has not solved as the next; the judge, which
    knows no progress, suggested the one that follows in the syllabus."""
    if this.place.workspace is None or not result.passed:
        return result
    solved = {name for name, known in this.progress.items() if known.solved}
    solved |= {other.lesson for other in this.results if other.passed}
    name = next((name for name in this.place.course.lessons if name not in solved), None)
    first = Suggestion("Every lesson is solved. See where you stand.", "learn progress")
    if name is not None:
        first = Suggestion(f"Go on with {name}.", f"learn read {name}")
    return replace(result, suggestions=(first, *result.suggestions[1:]))


def _show(this: Round, several: bool) -> None:
    this.results = [_with_next_lesson(this, result) for result in this.results]
    if this.request.as_json:
        from grader.reports.formats.to_json import lessons_to_json, to_json

        click.echo(lessons_to_json(this.results) if several else to_json(this.results[0]))
    elif several:
        _show_several(this)
    else:
        _show_one(this, this.results[0])
    sys.stdout.flush()
    for trouble in this.troubles:
        warn(trouble)


def _show_several(this: Round) -> None:
    from grader.reports.formats.to_terminal import assessment, summary

    look = make_layout(this.request.verbose)
    if this.request.verbose:
        for result in this.results:
            title = this.place.course.lessons[result.lesson].title
            click.echo(assessment(result, look, title=title), color=True)
    click.echo(summary(this.results, look), nl=False, color=True)
    put()
    solved = sum(result.passed for result in this.results)
    what = " the public checks" if any(result.public for result in this.results) else ""
    put(f"{solved} of {len(this.results)} lessons passed{what}. Seed {this.request.seed}.")
    show_worth(this.place.course)


def _show_one(this: Round, result: LessonResult) -> None:
    from grader.reports.formats.to_terminal import assessment

    lesson = this.place.course.lessons[result.lesson]
    known = this.progress[lesson.name]
    text = assessment(result, make_layout(this.request.verbose), title=lesson.title, before=known.last_score)
    click.echo(text, nl=False, color=True)
    if result.passed and not known.solved and this.place.workspace is not None:
        solved = 1 + sum(other.solved for other in this.progress.values())
        put()
        word = "Public checks passed" if result.public else "Solved"
        put(f"{word}: {solved} of {len(this.progress)} lessons.")


def _exit_code(results: Sequence[LessonResult]) -> int:
    states = {result.state for result in results}
    if "grader-error" in states:
        return OUR_FAULT
    if "missing" in states:
        return MISSING
    return 0 if all(result.passed for result in results) else NOT_YET


# --- the debugger -----------------------------------------------------------------------------------------------------


def _debug(this: Round) -> None:
    from grader.judge.debug_check import debug_first_failure

    lesson, submission, _ = this.jobs[0]
    if this.results[0].passed:
        put("\nEvery check passed: there is no failing call to debug.")
        return
    put()
    debug_first_failure(this.place.course, lesson, submission, this.request.seed, say=lambda text: put(wrap(text)))
