"""Find a lesson by what a learner types."""

from __future__ import annotations

from grader.errors import UnknownLesson
from grader.model import Course, Lesson

NEAR = 0.8  # of names that differ by a letter or two
CUTOFFS = (NEAR, 0.6)


def aliases(course: Course) -> dict[str, str]:
    """Map former lesson names to the names of today."""
    return {alias: lesson.name for lesson in course.lessons.values() for alias in lesson.aliases}


def find_lesson(course: Course, name: str) -> Lesson:
    """Return the lesson with this name, alias, number or unambiguous beginning of a name, or with this function.

    Case and hyphens do not matter; a path in the workspace (`core/attention.py`) works too.
    Raises UnknownLesson with the nearest names.
    """
    key = _key(name)
    names = {known: known for known in course.lessons} | aliases(course)
    if key in names:
        return course.lessons[names[key]]
    if name.isascii() and name.isdecimal():
        return _lesson_by_number(course, name)
    matching = _beginning_with(key, course)
    if len(matching) == 1:
        return course.lessons[next(iter(matching))]
    having = [lesson for lesson in course.lessons.values() if find_function(lesson, name)]
    if len(having) == 1 and not matching:
        return having[0]
    for track in course.tracks:
        if track.name == key:
            what = f'"{name}" is a track: its lessons are {", ".join(track.lessons)}'
            raise UnknownLesson(what, next_step="learn list")
    is_path = "/" in name or "\\" in name
    guesses = matching or {guess: guess for guess in _nearest_names(key, names, (NEAR,) if is_path else CUTOFFS)}
    next_step = "learn check LESSON --file FILE" if is_path and not guesses else "learn list"
    raise UnknownLesson(_explain_unknown(name, guesses, ambiguous=bool(matching)), next_step=next_step)


def _beginning_with(key: str, course: Course) -> dict[str, str]:
    """Map the lessons meant by a beginning to the name that begins so: a former one only where none of today does."""
    for names in ({name: name for name in course.lessons}, aliases(course)):
        if matching := {lesson: known for known, lesson in names.items() if key and known.startswith(key)}:
            return matching
    return {}


def find_function(lesson: Lesson, name: str) -> str | None:
    """Return the function of a lesson that was typed in place of the lesson's name; None if that was typed."""
    key = _key(name)
    return None if key == lesson.name else next((each for each in lesson.kinds if each.lower() == key), None)


def _lesson_by_number(course: Course, number: str) -> Lesson:
    """Return the lesson with this number in the syllabus, counted from 1."""
    lessons = list(course.lessons.values())
    if not 1 <= int(number[-9:]) <= len(lessons) or len(number) > 9:
        says = f'there is no lesson "{number}": the lessons are 1 to {len(lessons)}'
        raise UnknownLesson(says, next_step="learn list")
    return lessons[int(number) - 1]


def _key(name: str) -> str:
    last = name.strip().replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last.lower().removesuffix(".py").replace("-", "_").replace(" ", "_")


def lesson_meant(course: Course, name: str) -> str:
    """Return the one lesson whose name is nearly this, as after a slip of the hand; empty if there is none."""
    near = _nearest_names(_key(name), {known: known for known in course.lessons}, (NEAR,))
    return near[0] if len(near) == 1 else ""


def _nearest_names(key: str, names: dict[str, str], cutoffs: tuple[float, ...] = CUTOFFS) -> list[str]:
    """Return the lessons with the nearest names; where some are very near, none of the others."""
    import difflib  # here: only a mistyped name needs it

    found = (difflib.get_close_matches(key, names, cutoff=cutoff) for cutoff in cutoffs)
    return list(dict.fromkeys(names[close] for close in next(filter(None, found), [])))


def _explain_unknown(name: str, guesses: dict[str, str], *, ambiguous: bool) -> str:
    """Say which lessons may be meant; one that was found by a former name says so."""
    former = {guess: f' (once "{known}")' for guess, known in guesses.items() if known != guess}
    choice = " or ".join(f'"{guess}"{former.get(guess, "")}' for guess in guesses)
    if ambiguous:
        return f'"{name}" could be {choice}'
    return f'there is no lesson "{name}"' + (f"; did you mean {choice}?" if guesses else "")
