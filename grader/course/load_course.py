"""Load a course: syllabus, front matter of each lesson, stub of each exercise."""

from __future__ import annotations

import os
from collections.abc import Container
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from grader.course.kept_files import CourseFiles, keeping_files
from grader.course.syllabus import check_name, read_limits, read_syllabus
from grader.course.tables import Table
from grader.errors import CourseError
from grader.files import AUDIT, is_file
from grader.model import KINDS, Course, Function, Lesson


def load_kept(root: Path) -> Course:
    """Read a course as `load` does, in a fraction of the time where it was read before. Raises CourseError."""
    try:
        with keeping_files(root) as files:
            return load(root, files=files)
    except (CourseError, TypeError, ValueError, KeyError, IndexError, AttributeError):
        return load(root)  # which says where what is wrong stands


def load(
    root: Path,
    may_be_empty: bool = False,
    faults: dict[str, CourseError] | None = None,
    files: CourseFiles = CourseFiles(),  # noqa: B008  it holds nothing
) -> Course:
    """Read the course in *root*; `solutions/` may be missing, as learners get the course without it.

    Args:
        faults: Takes, by name, why a lesson cannot be read; the course is without that lesson then.
        files: Reads what is parsed.

    Raises:
        CourseError: With the file and, where it is known, the line.
    """
    course, places = read_syllabus(Path(os.path.abspath(root), "course.toml"))  # noqa: PTH100  and without `..`
    heads: dict[str, Table] = {}
    for track in course.tracks:
        for name in track.lessons:
            try:
                _check_files(course.root, track.name, name, places[name])
                heads[name] = files.front_matter(course.root / "lessons" / track.name / f"{name}.md")
                course.lessons[name] = _lesson(course.root, track.name, name, heads[name], files)
            except CourseError as error:
                if faults is None:
                    raise
                faults[name] = error
    if not course.lessons and not faults and not may_be_empty:
        what = "this course has no lessons yet"
        raise CourseError(what, where=str(root / "course.toml"), next_step=f"grader new LESSON --course {root}")
    _check_aliases(course.lessons, heads)
    _check_needs(course.lessons, heads, faults or {})
    _check_ways(course)
    return course


def _check_files(root: Path, track: str, name: str, place: Table) -> None:
    for file in (f"lessons/{track}/{name}.md", f"exercises/{track}/{name}.py"):
        if not is_file(root / file):
            raise place.error(f'the lesson "{name}" is in the syllabus, but {file} is missing', "lessons", name)


def _lesson(root: Path, track: str, name: str, head: Table, files: CourseFiles) -> Lesson:
    head.only(
        "title", "minutes", "needs", "concepts", "forbids", "aliases", "hints", "traps", "formulas", "kind", "limits"
    )
    exercise = root / "exercises" / track / f"{name}.py"
    solutions = root / "solutions" / track
    functions = files.functions(exercise)
    return Lesson(
        name=name,
        track=track,
        title=head.text("title"),
        minutes=head.whole("minutes"),
        needs=head.texts("needs"),
        concepts=head.texts("concepts"),
        forbids=head.texts("forbids"),
        aliases=head.texts("aliases"),
        hints=_hints(head.table("hints"), functions),
        traps=_texts_by_key(head.table("traps")),
        formulas=_texts_by_key(head.table("formulas")),
        functions=functions,
        text_path=root / "lessons" / track / f"{name}.md",
        exercise_path=exercise,
        solution_path=solutions / f"{name}.py",
        checks_path=solutions / f"test_{name}.py",
        mistakes_path=solutions / f"{name}_mistakes.py",
        kind=_kind(head),
        limits=read_limits(head.table("limits")),
    )


def _kind(head: Table) -> str:
    kind = head.text("kind") if "kind" in head.data else KINDS[0]
    if kind not in KINDS:
        raise head.error(f'"kind" must be one of {", ".join(KINDS)}', "kind")
    return kind


def _hints(table: Table, functions: tuple[Function, ...]) -> dict[str, tuple[str, ...]]:
    """Return each function's hints in the order of the stub, whatever the order in the front matter."""
    names = [function.name for function in functions]
    table.only(*names)
    return {name: table.texts(name) for name in names if name in table.data}


def _texts_by_key(table: Table) -> dict[str, tuple[str, ...]]:
    return {key: table.texts(key) for key in table.data}


def _check_aliases(lessons: dict[str, Lesson], heads: dict[str, Table]) -> None:
    taken = dict.fromkeys(lessons, "a lesson's name")
    for lesson in lessons.values():
        for alias in lesson.aliases:
            check_name(heads[lesson.name], "aliases", alias)
            if alias in taken:
                what = f'the alias "{alias}" of "{lesson.name}" is already {taken[alias]}'
                raise heads[lesson.name].error(what, "aliases", alias)
            taken[alias] = f'an alias of "{lesson.name}"'


def _check_ways(course: Course) -> None:
    """Raise CourseError where a lesson stands on a way before one that it needs."""
    for way in course.shorter_ways:
        gone: set[str] = set()
        for name in course.ways[way.name].lessons:
            late = [need for need in course.lessons[name].needs if need not in gone and need in course.lessons]
            if late:
                what = f'on the way "{way.name}", "{name}" needs "{late[0]}", which does not come before it'
                raise CourseError(what, where=str(course.root / "course.toml"), next_step=AUDIT)
            gone.add(name)


def _check_needs(lessons: dict[str, Lesson], heads: dict[str, Table], faults: Container[str]) -> None:
    for lesson in lessons.values():
        for need in lesson.needs:
            if need not in lessons and need not in faults:
                what = f'"{lesson.name}" needs "{need}", which is no lesson of this course'
                raise heads[lesson.name].error(what, "needs", need)
    try:
        TopologicalSorter({name: lesson.needs for name, lesson in lessons.items()}).prepare()
    except CycleError as error:
        circle = error.args[1][:0:-1]  # each needs the next, the last one the first
        first = circle.index(min(circle, key=list(lessons).index))
        circle = [*circle[first:], *circle[: first + 1]]
        what = "the lessons need each other in a circle: " + " needs ".join(circle)
        raise heads[circle[0]].error(what, "needs", circle[1]) from None
