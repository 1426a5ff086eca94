"""`learn check`: assess a learner's work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.check.keep import fill_file, find_passing, store_attempt
from grader.cli.check.missing_file import require_there
from grader.cli.check.notebook_file import SUFFIX, lessons_in, notebook_as_file, read_notebook, tell_cells
from grader.cli.check.show_results import CheckRun, show_results
from grader.cli.context import CourseContext, current_folder, find_context, short_path
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import WholeNumber, course_option, json_option
from grader.cli.run_command import NOT_YET, OUR_FAULT
from grader.course.course_files import digest, require_unchanged
from grader.course.find_lesson import lesson_meant
from grader.course.learner_copy import release_of
from grader.errors import SelfattendError, SubmissionError, UnknownLesson, UsageError, WorkspaceError
from grader.files import is_file, is_same_file
from grader.judge.own_limits import end_after
from grader.model import Lesson, LessonResult
from grader.submission import read_submission
from grader.terminal.console import is_terminal, put, wrap
from grader.terminal.text import command_line, unexplained_score

if TYPE_CHECKING:
    from grader.judge.examination import Judge
    from grader.terminal.spinner import Spinner

MISSING = 2
SHORT_SEEDS = 1_000_000  # their number: one is typed again, and is no secret from whoever checks their own work
DEVICE = click.Choice(["auto", "cpu", "cuda"])
DEVICE_HELP = "Where your code must run beside the CPU; auto takes a GPU where there is one."


@click.command("check")
@lesson_argument(several=True)
@click.option("--file", type=click.Path(path_type=Path), metavar="PATH", help="Check this file, not the workspace's.")
@click.option("--all", "everything", is_flag=True, help="Check every lesson; of optional tracks those begun.")
@click.option("--device", type=DEVICE, default="auto", show_default=True, help=DEVICE_HELP)
@click.option("--seed", type=WholeNumber(min=0), metavar="N", help="Repeat a run with the same random inputs.")
@click.option("--pdb", "debug", is_flag=True, help="Open the debugger at the first call that fails.")
@click.option("-v", "--verbose", is_flag=True, help="Show all of every message and of what your code printed.")
@json_option
@course_option
@click.pass_context
def command(
    ctx: click.Context,
    lessons: tuple[str, ...],
    file: Path | None,
    everything: bool,
    device: str,
    seed: int | None,
    debug: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Check your work: a score, mistakes by name, what to do next.

    Without LESSON, your current lesson. In a workspace the result is kept, that of the notebook beside an exercise too,
    but not that of another file. Your code runs in a process of its own, shut off from your files and the network as
    far as this system allows.

    With --json, one lesson prints the documented object, several print {"schema": 1, "lessons": {NAME: object}}.
    Exit code: 0 all passed, 1 not yet, 2 wrong usage or a missing file, 3 a fault of ours.

    In a release for learners only the public checks are here: the score is of those, and the object has "public": true.

    \b
    Example:
      learn check softmax
      learn check softmax --file elsewhere.py --seed 7
      learn check my-notebook.ipynb
      learn check --all
    """
    _refuse_contradictions(lessons, file, everything, debug, as_json)
    context = find_context(ctx)
    if file is None and len(lessons) == 1 and lessons[0].endswith(SUFFIX):
        file = Path(lessons[0])
        lessons = ()
    if file is not None:
        require_there(context, file, "check")
    run = CheckRun(context, context.progress(), device, choose_seed(context, seed), as_json, verbose, debug)
    chosen = _every_lesson(context) if everything else _choose_lessons(run, lessons, file)
    for lesson in chosen:
        _add(run, lesson, _file_of(context, lesson, file, lessons), several=len(chosen) > 1)
    _check(run, several=len(chosen) > 1)
    if debug:
        _debug(run)
    ctx.exit(_exit_code(run.results))


def _refuse_contradictions(
    lessons: Sequence[str], file: Path | None, everything: bool, debug: bool, as_json: bool
) -> None:
    if everything and (lessons or file):
        raise click.UsageError("--all takes no lesson and no file.")
    if file and len(lessons) > 1:
        raise click.UsageError("--file is the work on one lesson: name one.")
    if debug and (as_json or everything or len(lessons) > 1):
        raise click.UsageError("--pdb is for one lesson, and not for --json.")
    if debug and not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise click.UsageError("--pdb needs a terminal: the debugger asks what to do.")


def choose_seed(context: CourseContext, asked: int | None) -> int:
    """Return the seed asked for, or a random one; a release for learners has its own. Raises UsageError."""
    release = release_of(context.course)
    if release is not None:
        return release.seed(asked)
    from grader.judge.session import random_seed

    return random_seed(SHORT_SEEDS) if asked is None else asked


# --- what to check ----------------------------------------------------------------------------------------------------


def _every_lesson(context: CourseContext) -> list[Lesson]:
    """Return the required lessons, and of the others those that are begun."""
    required = context.course.required_lessons
    return [lesson for lesson in context.course.lessons.values() if lesson in required or context.edited_at(lesson)]


def _choose_lessons(run: CheckRun, lessons: Sequence[str], file: Path | None) -> list[Lesson]:
    context = run.context
    if lessons:
        return list({lesson.name: lesson for name in lessons for lesson in [_lesson_named(context, name)]}.values())
    if file is not None:
        return lessons_in(file, context.course) if file.suffix == SUFFIX else [_lesson_of(context, file)]
    context.require_workspace()  # elsewhere there is no lesson that one is at
    return [context.lesson(None, run.progress)]


def _lesson_named(context: CourseContext, name: str) -> Lesson:
    """Find a lesson by its name or its file's path. Raises UsageError; SubmissionError for a file that is not there."""
    path = Path(name)
    if path.suffix.lower() != ".py":
        return context.lesson(name)
    if is_file(path):
        return _lesson_of(context, path)
    try:
        lesson = context.lesson(name)
    except UnknownLesson:
        require_there(context, path, "check")
        raise
    if len(path.parts) > 1 and path.parent.name != lesson.track:  # core/softmax.py is known in every folder
        require_there(context, path, "check")
    return lesson


def _lesson_of(context: CourseContext, file: Path) -> Lesson:
    """Find the lesson that a file is named after. Raises UsageError."""
    try:
        return context.lesson(file.name)
    except UnknownLesson:
        raise UsageError(
            f'"{file.name}" is not named after a lesson: say which lesson it is your work on',
            next_step=command_line(
                "learn", "check", lesson_meant(context.course, file.name) or "LESSON", "--file", str(file)
            ),
        ) from None


def _file_of(context: CourseContext, lesson: Lesson, file: Path | None, lessons: Sequence[str]) -> Path:
    """Return the file given, else the lesson if that was a file's path, else the workspace's file."""
    if file is not None:
        return file
    named = [Path(name) for name in lessons if name.lower().endswith(".py") and context.lesson(name) is lesson]
    if named and named[0].is_file():
        return named[0]
    if context.workspace is None:
        raise WorkspaceError(
            "this folder is not in a workspace",
            where=str(current_folder()),
            next_step=f"learn start, or learn check {lesson.name} --file YOUR_FILE.py",
        )
    return Path(short_path(context.workspace.exercise_path(lesson)))


def _add(run: CheckRun, lesson: Lesson, path: Path, several: bool) -> None:
    """Read a file to check. Of several lessons, one whose file is missing does not stop the others."""
    workspace = run.context.workspace
    own = workspace.exercise_path(lesson) if workspace else None
    if own is None or not is_same_file(path, own):
        run.elsewhere[lesson.name] = path
    root = workspace.root if workspace else None
    within = root if root and path.absolute().is_relative_to(root) else None
    try:
        with end_after(run.context.course.limits.judging_seconds, f"Reading {path}"):
            submission = (
                read_notebook(path, lesson)
                if path.suffix == SUFFIX
                else read_submission(path, lesson, run.context.course, within, workspace=root)
            )
    except SubmissionError as error:
        if not several:
            raise
        missing = LessonResult(lesson.name, "missing", None, False, "cpu", run.seed, 0.0, weaknesses=(error.what,))
        run.results.append(replace(missing, file=str(path)))
        return
    if own is not None and path.suffix == SUFFIX and is_same_file(path, own.with_suffix(SUFFIX)):
        run.notebooks[lesson.name] = notebook_as_file(path, lesson)
    run.jobs.append((lesson, submission, run.progress[lesson.name].hints_used))


# --- checking ---------------------------------------------------------------------------------------------------------


def _check(run: CheckRun, several: bool) -> None:
    from grader.judge.session import judge_with
    from grader.terminal.spinner import Spinner

    chosen = {lesson.name: lesson for lesson, _, _ in run.jobs}.values()
    before = digest(run.context.course)
    with Spinner("Starting PyTorch" if run.context.course.arrays == "torch" else "Starting") as working:

        def drive(judge: Judge) -> None:
            judge.workers.on_progress = working.train
            judge.keep_fingerprints()
            for number, (lesson, submission, hints_used) in enumerate(run.jobs, 1):
                now = f"Checking {lesson.name} ({number} of {len(run.jobs)})" if several else "Running your code"
                working.update(now)
                judge.on_score = partial(_show_score, working, lesson if several else None)
                submission = replace(submission, passing=find_passing(run, submission))
                with end_after(run.context.course.limits_for(lesson).judging_seconds, f"Checking {lesson.name}"):
                    result = judge.examine(lesson, submission, run.seed, hints_used)
                require_unchanged(run.context.course, before)
                store_attempt(run, submission, result)
                if lesson.name in run.notebooks and result.passed:
                    run.says += filter(None, [_fill_file(run, judge, lesson, hints_used)])
                if number == len(run.jobs):
                    judge.launcher.hang_up()  # the processes end while the verdict is shown
                is_told = submission.path.endswith(SUFFIX) and not run.as_json
                run.results.append(tell_cells(result, submission) if is_told else result)
                if not several:
                    working.stop()
                    show_results(run, several)

        if run.jobs:
            judge_with(run.context.course, chosen, drive, device=run.device)
    if several:
        order = list(run.context.course.lessons)
        run.results.sort(key=lambda result: order.index(result.lesson))
        show_results(run, several)


def _show_score(working: Spinner, lesson: Lesson | None, result: LessonResult) -> None:
    """Show a score while its mistake is looked for, and whose, if that is not the only lesson."""
    working.update((f"{lesson.name}: " if lesson else "") + unexplained_score(result.score))


def _fill_file(run: CheckRun, judge: Judge, lesson: Lesson, hints_used: int) -> str:
    """Write the notebook's work into the lesson's file; return what is to be said. The verdict stands in any case."""
    source = run.notebooks[lesson.name]
    try:
        with end_after(run.context.course.limits_for(lesson).judging_seconds, f"Checking {lesson.name}"):
            return fill_file(run, lesson, source, lambda file: judge.examine(lesson, file, run.seed, hints_used))
    except SelfattendError as error:
        return str(error)


def _exit_code(results: Sequence[LessonResult]) -> int:
    states = {result.state for result in results}
    if "grader-error" in states:
        return OUR_FAULT
    if "missing" in states:
        return MISSING
    return 0 if all(result.passed for result in results) else NOT_YET


# --- the debugger -----------------------------------------------------------------------------------------------------


def _debug(run: CheckRun) -> None:
    from grader.judge.debug_check import debug_first_failure

    lesson, submission, _ = run.jobs[0]
    if run.results[0].passed:
        put("\nEvery check passed: there is no failing call to debug.")
        return
    put()
    debug_first_failure(run.context.course, lesson, submission, run.seed, say=lambda text: put(wrap(text)))
