"""`grader release`: make the course for learners, without its solutions."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.context import load_course, short_path
from grader.cli.lesson_parameters import choose_lessons, lessons_option
from grader.cli.options import WholeNumber, course_option, json_option
from grader.cli.output import put_json
from grader.course.learner_copy import Release, public_answers, public_checks, public_names
from grader.course.questions import topics_in
from grader.errors import CourseError, UsageError
from grader.model import SCHEMA, Course, Lesson
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.text import plural

MAX_SEEDS = 50


@click.command("release")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="The folder to make.")
@lessons_option
@click.option(
    "--seeds",
    type=WholeNumber(1, MAX_SEEDS),
    default=4,
    show_default=True,
    metavar="N",
    help="How many different inputs of each check to record.",
)
@click.option("--wheel", is_flag=True, help="Also make a wheel of the program that carries this release.")
@click.option("--force", is_flag=True, help="Replace a release that is there.")
@json_option
@course_option
@click.pass_context
def command(
    ctx: click.Context, out: Path, lessons: str | None, seeds: int, wheel: bool, force: bool, as_json: bool
) -> None:
    """Make the course for learners, without the solutions.

    It has the lessons, the exercises, the questions of the quiz on these lessons, with their answers, and the public
    checks. A check is public if its mark says so:
    @pytest.mark.check(..., public=True). In the release it compares with inputs and answers that are recorded now; the
    reference, hidden checks, known mistakes and right alternatives are not in it. The name of a known mistake is told
    to whoever gives its answers, and cannot be read otherwise. Before the folder is there, it is tried: the reference
    passes, the stub does not, whatever a known mistake answers, no check asks for what was not recorded, and none is
    taken for another.

    The published program carries the bundled course with its solutions. With --wheel you get, beside DIR, one to give
    to a class instead: it carries this release, and no solutions.

    \b
    Example:
      grader release --out for-learners
      grader release --out week-1 --lessons softmax,attention --wheel
    """
    course = load_course(ctx)
    chosen = choose_lessons(course, lessons)
    if wheel:
        _check_wheel(out, force)
    release = make_with_spinner(course, chosen, out, seeds, force, quiet=as_json)
    built = None
    if wheel:
        from grader.authoring.release.wheel import write_wheel

        built = write_wheel(out.absolute(), out.absolute().parent)
    if as_json:
        _print_object(out, chosen, release, built)
    else:
        _print_report(out, chosen, release, built)


def _check_wheel(out: Path, force: bool) -> None:
    """Find out before the work whether a wheel can be made."""
    from grader.authoring.release.wheel import wheel_name

    path = out.absolute().parent / wheel_name()
    if path.exists() and not force:
        raise UsageError("there is a wheel here already", where=str(path), next_step="--force replaces it")


def make_with_spinner(
    course: Course, lessons: list[Lesson], out: Path, seeds: int = 4, force: bool = False, quiet: bool = False
) -> Release:
    """Make the release, and show what is done. Raises UsageError, CourseError, GraderError."""
    if not course.has_solutions:
        what = "this course has no solutions, so nothing can be recorded"
        next_step = "name the course itself with --course DIR, not a release of it"
        raise CourseError(what, where=str(course.root), next_step=next_step)
    from grader.judge.session import with_workers
    from grader.terminal.spinner import Spinner

    with Spinner("Starting") as spinner, with_workers(course, "cpu") as (launcher, _):
        from grader.authoring.release.record_answers import (
            make_release,  # not before the launcher has started: it imports pytest
        )

        for now in make_release(course, lessons, out, launcher, seeds=seeds, force=force, prove=_prove_questions):
            spinner.update(now)
    from grader.course import load
    from grader.course.learner_copy import release_of

    release = release_of(load(out.absolute()))
    assert release is not None
    return release


def _prove_questions(released: Course) -> None:
    from grader.quiz.bank.lint import require_questions

    require_questions(released.root / "lessons")


def _kilobytes(*paths: Path) -> int:
    """Return the size in kB of files, and of all files in folders."""
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return (sum(file.stat().st_size for file in files if file.is_file()) + 1023) // 1024


def _count_names(out: Path, lesson: Lesson) -> int:
    """Return how many mistakes of a lesson can be told by name."""
    from grader.judge.mistakes.locked_names import read_locked_names

    return len(read_locked_names(public_names(out, lesson)).texts)


def _print_object(out: Path, lessons: list[Lesson], release: Release, wheel: Path | None) -> None:
    released = []
    for lesson in lessons:
        public, every = release.checks[lesson.name]
        sizes = {"answers_bytes": public_answers(out, lesson), "names_bytes": public_names(out, lesson)}
        told = {"lesson": lesson.name, "public": public, "checks": every, "names": _count_names(out, lesson)}
        released.append(told | {name: path.stat().st_size for name, path in sizes.items()})
    content = {"schema": SCHEMA, "out": str(out), "wheel": str(wheel) if wheel else None, "seeds": list(release.seeds)}
    put_json(content | {"lessons": released, "topics": list(topics_in(out / "lessons"))})


def _print_report(out: Path, lessons: list[Lesson], release: Release, wheel: Path | None) -> None:
    longest = max(len(lesson.name) for lesson in lessons)
    for lesson in lessons:
        public, every = release.checks[lesson.name]
        size = _kilobytes(public_answers(out, lesson), public_checks(out, lesson), public_names(out, lesson))
        names = plural(_count_names(out, lesson), "mistake")
        counts = f"{public} of {plural(every, 'check')} public, {names} told by name, {size} kB"
        put(f"{paint(signs().passed, 'good')} {lesson.name:<{longest}}  {counts}")
    put()
    where = f"{short_path(out.absolute())} ({_kilobytes(out)} kB), without solutions"
    proof = f"on {plural(len(release.seeds), 'seed')} the reference passes and no stub does."
    put(wrap(f"{plural(len(lessons), 'lesson')} in {where}: {proof}"))
    topics = len(topics_in(out / "lessons"))
    if topics:
        put(wrap(f"The quiz goes along, with its answers: {plural(topics, 'topic')}."))
    if wheel is not None:
        put(wrap(f"{short_path(wheel)} is the program with this release in it, and without solutions."))
    else:
        published = "The published one carries the bundled course with its solutions"
        put(wrap(f"Learners need the program too. {published}; --wheel makes one for them that does not."))
    put()
    put("Next  " + paint(f"learn start --course {out} my-work", "command"))
