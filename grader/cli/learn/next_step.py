"""`learn` alone: say where the learner is and what to do next."""

from __future__ import annotations

from collections.abc import Iterable

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.standing.progress_quiz import waiting_lines
from grader.course.learner_copy import passed_words, release_of
from grader.files import is_file
from grader.model import Course, Lesson, LessonProgress, Track
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.text import bar, plural, score_text


def show_position(ctx: click.Context) -> None:
    """Print the learner's position and the next step."""
    context = find_context(ctx)
    progress = context.progress()
    put(paint(context.course.title, "strong"))
    if context.workspace is None:
        total = len(context.course.lessons)
        put(
            wrap(
                f"{plural(total, 'lesson')}. This folder is not a workspace yet: that is where your work will be kept."
            )
        )
        show_next(*next_step(context, progress))
        return
    tracks = [track for track in context.course.tracks if track.lessons]
    for track in tracks:
        drawn = solved_bar(context.course, track, progress)
        if len(tracks) > 1:
            drawn = drawn.removesuffix(passed_words(context.course)) + " "
            drawn += wrap(track.title, len(drawn)).lstrip()
        put(drawn)
    for line in waiting_lines(context):
        put(line)
    show_next(*next_step(context, progress))
    if context.workspace.course_version != context.course.version:
        put(wrap(f"The course has a new version, {context.course.version}: `learn start` adds what is new in it."))


def solved_bar(course: Course, track: Track, progress: dict[str, LessonProgress]) -> str:
    """Draw how many lessons of a track are solved."""
    solved, number = sum(progress[name].solved for name in track.lessons), len(track.lessons)
    return f"{bar(solved / number, 20, signs())}  {solved} of {plural(number, 'lesson')} {passed_words(course)}"


def show_next(says: str, command: str) -> None:
    """Print the next thing to do, with its command."""
    put()
    put("Next  " + wrap(says, 6).lstrip())
    put("      " + paint(command, "command"))


def progress_sign(known: LessonProgress) -> tuple[str, str]:
    """Return the sign of a lesson's progress, and its style."""
    if known.solved:
        return signs().passed, "good"
    return (signs().trouble, "strong") if known.attempts else (signs().skipped, "quiet")


def section(title: str, lines: Iterable[str]) -> list[str]:
    """Put an empty line and a heading before lines; nothing where there are none."""
    found = list(lines)
    return ["", paint(title, "strong"), *found] if found else []


def show_worth(course: Course) -> None:
    """Print, in a release for learners, what its scores are worth."""
    release = release_of(course)
    if release is not None and release.worth:
        put()
        put(wrap(release.worth))


def next_step(context: CourseContext, progress: dict[str, LessonProgress]) -> tuple[str, str]:
    """Return what to do next, and the command for it."""
    if context.workspace is None:
        return "make a workspace, here or in a new folder", "learn start my-transformer"
    lesson = context.current_lesson(progress)
    if lesson is None:
        is_release = release_of(context.course) is not None
        says = "all lessons pass the public checks" if is_release else "you have solved every lesson"
        return f"{says}; see all of it at a glance", "learn progress"
    known = progress[lesson.name]
    if not context.workspace.exercise_path(lesson).is_file():
        return f"{lesson.track}/{lesson.name}.py is missing; add it again", "learn start"
    if not context.edited_at(lesson):
        return _begin_lesson(context.course, lesson)
    return _continue_lesson(context, lesson, known)


def step_without_hints(lesson: Lesson, known: LessonProgress) -> tuple[str, str] | None:
    """Return what to do where every hint was taken, and the command for it; None while there are hints."""
    if known.hints_used < len(lesson.all_hints):
        return None
    if not is_file(lesson.solution_path):
        return "no hint is left: read the lesson again", f"learn read {lesson.name}"
    says = f"no hint is left: read the lesson again (`learn read {lesson.name}`), or give up and see the reference"
    return says, f"learn solution {lesson.name} --give-up"


def _begin_lesson(course: Course, lesson: Lesson) -> tuple[str, str]:
    number = list(course.lessons).index(lesson.name) + 1
    what = f"lesson {number}, {lesson.title} ({lesson.minutes} min)"
    return f"{what}: read it, then write {lesson.track}/{lesson.name}.py", f"learn read {lesson.name}"


def _continue_lesson(context: CourseContext, lesson: Lesson, known: LessonProgress) -> tuple[str, str]:
    command = f"learn check {lesson.name}"
    file = f"{lesson.track}/{lesson.name}.py"
    if known.last_when is None:
        return f"you have begun {file}; check it", command
    if context.edited_at(lesson) > known.last_when.timestamp():
        return f"you have changed {file} since its last check ({score_text(known.last_score)}); check it again", command
    score = f"{lesson.title}, {score_text(known.last_score)} of 10"
    if without := step_without_hints(lesson, known):
        return f"{score}; {without[0]}", without[1]
    if known.last_mistakes:
        return f"{score}. {known.last_mistakes[0].says.splitlines()[0]}", f"learn hint {lesson.name}"
    return f"{score}: take a hint", f"learn hint {lesson.name}"
