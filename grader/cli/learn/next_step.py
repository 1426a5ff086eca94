"""`learn` alone: say where the learner is and what to do next."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.standing.progress_quiz import quiz_standing, waiting_lines
from grader.course.learner_copy import passed_words, release_of
from grader.course.questions import topics_in
from grader.files import is_file
from grader.model import FULL_WAY, Course, Lesson, LessonProgress, Track, Way
from grader.terminal.console import beside, paint, put, signs, wrap
from grader.terminal.text import bar, capitalize, clean, plural, score_text


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
    _show_map(context, progress)
    for line in waiting_lines(context):
        put(line)
    show_next(*next_step(context, progress))
    if context.workspace.course_version != context.course.version:
        put(wrap(f"The course has a new version, {context.course.version}: `learn start` adds what is new in it."))


def _show_map(context: CourseContext, progress: dict[str, LessonProgress]) -> None:
    """Print how far the learner is on a shorter way, and in each track, with the tracks that come before it."""
    course, way = context.course, context.way
    tracks = [track for track in course.tracks if track.lessons]
    if len(tracks) == 1 and way.name == FULL_WAY:
        put(solved_bar(course, tracks[0], progress))
        return
    parts: list[tuple[Track | Way, str]] = [(track, track.title + _after(course, track, way)) for track in tracks]
    parts[:0] = [(way, capitalize(way.title))] if way.name != FULL_WAY else []
    bars = [solved_bar(course, part, progress, cells=10).removesuffix(passed_words(course)) + " " for part, _ in parts]
    longest = max(map(len, bars))
    for drawn, (part, title) in zip(bars, parts, strict=True):
        put(beside(f"{drawn:<{longest}}", title, below=2))
        if part is way:
            put()
    solved = [name for name, known in progress.items() if known.solved]
    if is_gone(way, solved) and len(solved) < len(progress):
        put()
        model = last_model(course, way)
        writes = f"`learn build {model}` lets it write, " if model else ""
        put(wrap(f"You have gone {way.title}: {writes}`learn quiz` is the assessment, and what is left comes next."))


def is_gone(way: Way, solved: Collection[str]) -> bool:
    """Return True if a learner is at the end of a shorter way."""
    return way.name != FULL_WAY and set(way.lessons) <= set(solved)


def last_model(course: Course, way: Way) -> str:
    """Name the last model on a way that can be built; "" if there is none."""
    models = [name for name in way.lessons if is_file(course.lessons[name].build_path)]
    return models[-1] if models else ""


def _after(course: Course, track: Track, way: Way) -> str:
    """Name the tracks of which this one's lessons need some; not those that already come before one that is named.

    Whoever goes a shorter way needs nothing for the lessons beside it, and no lesson that is beside it.
    """
    needed, earlier = _needed_tracks(course, track, way), set()
    for number, other in enumerate(course.tracks):
        if other.name in needed:  # two tracks may need each other: the first of them counts as the earlier one
            earlier |= _needed_tracks(course, other, way) & {before.name for before in course.tracks[:number]}
    titles = [f'"{other.title}"' for other in course.tracks if other.name in needed - earlier]
    return f" (after {', '.join(titles)})" if titles else ""


def _needed_tracks(course: Course, track: Track, way: Way) -> set[str]:
    on_way = [name for name in track.lessons if name in way.lessons]
    needs = {need for name in on_way or track.lessons for need in course.lessons[name].needs}
    needs = {need for need in needs if need in way.lessons} if on_way else needs
    return {course.lessons[need].track for need in needs} - {track.name}


def solved_bar(course: Course, track: Track | Way, progress: dict[str, LessonProgress], cells: int = 20) -> str:
    """Draw how many lessons of a track, or of a way, are solved."""
    solved, number = sum(progress[name].solved for name in track.lessons), len(track.lessons)
    return f"{bar(solved / number, cells, signs())}  {solved} of {plural(number, 'lesson')} {passed_words(course)}"


def way_length(course: Course, way: Way) -> str:
    """Say how long a way is: `15 lessons, about 8 hours`."""
    minutes = sum(course.lessons[name].minutes for name in way.lessons)
    return f"{plural(len(way.lessons), 'lesson')}, about {plural(round(minutes / 60) or 1, 'hour')}"


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
    is_begun = lesson is not None and context.edited_at(lesson)
    along = context.course.lessons_along(context.way)
    step = step_at_end(context, [each.name for each in along if not progress[each.name].solved])
    if step and not is_begun:
        return step
    assert lesson is not None  # while none is left, there is a step
    known = progress[lesson.name]
    if not context.workspace.exercise_path(lesson).is_file():
        return f"{lesson.track}/{lesson.name}.py is missing; add it again", "learn start"
    if not context.edited_at(lesson):
        return _begin_lesson(context.course, lesson)
    return _continue_lesson(context, lesson, known)


def step_at_end(context: CourseContext, unsolved: Sequence[str]) -> tuple[str, str] | None:
    """Return what comes after the lessons, and the command for it: the assessment, then reviews, then the report.

    None while an exercise is left, and after the assessment while a capstone is.
    """
    if any(context.course.lessons[name].kind != "capstone" for name in unsolved):
        return None
    passed = "all lessons pass the public checks" if release_of(context.course) else "you have solved every lesson"
    says = "what is left is put together of your own pieces" if unsolved else passed
    if not topics_in(context.course.root / "lessons"):
        return None if unsolved else (f"{says}; see all of it at a glance", "learn progress")
    is_assessed, due = quiz_standing(context)
    if not is_assessed:
        return f"{says}; the assessment shows how much of it you know", "learn quiz"
    if unsolved:
        return None
    if due:
        return f"{says}; {plural(due, 'question')} due for review", "learn review"
    return f"{says}; see how much you know, and how surely", "learn report"


def command_beside(context: CourseContext, lesson: Lesson) -> str:
    """Return the command that comes after a look at one's work: its check, or what is next where that has passed."""
    progress = context.progress()
    known = progress[lesson.name]
    is_checked = known.last_when is not None and context.edited_at(lesson) <= known.last_when.timestamp()
    has_passed = known.solved and known.last_score == known.best_score and is_checked
    return next_step(context, progress)[1] if has_passed else f"learn check {lesson.name}"


def step_without_hints(lesson: Lesson, known: LessonProgress) -> tuple[str, str] | None:
    """Return what to do where every hint was taken, and the command for it; None while there are hints."""
    if known.hints_taken < len(lesson.all_hints):
        return None
    if not is_file(lesson.solution_path):
        return "no hint is left: read the lesson again", f"learn read {lesson.name}"
    if known.solved:
        return "no hint is left: compare with the reference", f"learn solution {lesson.name}"
    says = f"no hint is left: read the lesson again; `{give_up(lesson)}` shows the reference"
    return says, f"learn read {lesson.name}"


def give_up(lesson: Lesson) -> str:
    """Return the command that shows the reference before the lesson is solved."""
    return f"learn solution {lesson.name} --give-up"


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
        # the progress may be somebody else's, and would control the terminal
        says = clean(known.last_mistakes[0].says).partition("\n")[0]
        is_unread = known.last_mistakes[0].id == "syntax-error"  # for which no hint is meant
        return f"{score}. {says}", command if is_unread else f"learn hint {lesson.name}"
    return f"{score}: take a hint", f"learn hint {lesson.name}"
