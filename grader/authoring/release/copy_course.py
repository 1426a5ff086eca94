"""Copy a course for learners: everything that may be read, and nothing of `solutions/`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from grader.course.find_course import COURSE_FILE
from grader.course.learner_copy import PUBLIC_FOLDER, RELEASE_FILE
from grader.course.questions import files_on, prune_questions
from grader.course.toml_writer import toml_text
from grader.errors import CourseError, UsageError
from grader.files import files_below, read_file, replacing_folder
from grader.model import Course, Lesson

README = "README.md"
RELEASE_ENTRIES = frozenset({README, COURSE_FILE, PUBLIC_FOLDER, "lessons", "exercises"})


# --- the place --------------------------------------------------------------------------------------------------------


@contextmanager
def staged_folder(out: Path, force: bool) -> Iterator[Path]:
    """Give a new folder to write to, which is put at *out* unless an exception ends the `with`.

    With *force* a release that is there is replaced; anything else that is there is never touched. Raises UsageError.
    """
    out = out.absolute()
    _check_location(out, force)
    with replacing_folder(out) as folder:
        try:
            (folder / PUBLIC_FOLDER).mkdir(parents=True)
        except OSError as error:
            what = f"no folder can be made here: {error.strerror or error}"
            raise UsageError(what, where=str(out.parent), next_step="name another place with --out DIR") from None
        yield folder


def _check_location(out: Path, force: bool) -> None:
    if not os.path.lexists(out):
        return
    there = {entry.name for entry in out.iterdir()} if out.is_dir() and not out.is_symlink() else {""}
    if not there:
        return
    if not (out / PUBLIC_FOLDER / RELEASE_FILE).is_file() or there - RELEASE_ENTRIES:
        odd = ", ".join(sorted(there - RELEASE_ENTRIES)[:3])
        what = f"there is something else here already ({odd})" if odd else "there is something else here already"
        raise UsageError(what, where=str(out), next_step="name a new folder with --out DIR")
    if not force:
        raise UsageError("there is a release here already", where=str(out), next_step="--force replaces it")


# --- the parts that are read ------------------------------------------------------------------------------------------


def write_course(course: Course, lessons: Sequence[Lesson], folder: Path) -> None:
    """Write the syllabus, lessons, exercises and questions of these lessons only, and a README.

    Raises UsageError if a lesson needs one that is left out.
    """
    _check_needs(course, lessons)
    (folder / COURSE_FILE).write_text(_syllabus(course, lessons), encoding="utf-8")
    (folder / README).write_text(_readme(course, lessons), encoding="utf-8")
    for lesson in lessons:
        _copy(lesson.exercise_path, folder / lesson.exercise_path.relative_to(course.root))
    chosen = {lesson.name for lesson in lessons}
    whole, left = course.root / "lessons", course.lessons.keys() - chosen
    questions = files_on(whole, left)
    for path in _lesson_files(course, chosen):
        if path not in questions:
            _copy(path, folder / path.relative_to(course.root))
    prune_questions(whole, folder / "lessons", left)


def _check_needs(course: Course, lessons: Sequence[Lesson]) -> None:
    names = {lesson.name for lesson in lessons}
    for lesson in lessons:
        if left_out := [need for need in lesson.needs if need not in names]:
            wanted = [name for name in course.lessons if name in names | set(left_out)]
            what = f'"{lesson.name}" needs "{left_out[0]}", which is not to be released'
            raise UsageError(what, next_step=f"--lessons {','.join(wanted)}")


def _lesson_files(course: Course, chosen: Set[str]) -> Iterator[Path]:
    """Yield the files in `lessons/` that belong to the chosen lessons or to no lesson.

    A file of a track belongs to the lesson that its name begins with, or to the whole track (a picture).
    """
    folder = course.root / "lessons"
    tracks = {track.name: track for track in course.tracks}
    for path in files_below(folder):
        first, *rest = path.relative_to(folder).parts
        lessons = tracks[first].lessons if first in tracks and rest else ()
        longest_first = sorted(lessons, key=len, reverse=True)
        owners = [name for name in longest_first if re.match(rf"{name}([._-]|\Z)", rest[0])][:1] or lessons
        if not owners or chosen & set(owners):
            yield path


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.write_bytes(source.read_bytes())
    except OSError as error:
        what = f"a file of the course cannot be read ({error.strerror})"
        raise CourseError(what, where=str(source), next_step="grader audit") from None


# --- the syllabus -----------------------------------------------------------------------------------------------------


def _syllabus(course: Course, lessons: Sequence[Lesson]) -> str:
    """Return `course.toml` for these lessons, with its other settings and without its comments."""
    import tomllib

    data = tomllib.loads(read_file(course.root / COURSE_FILE))
    names = {lesson.name for lesson in lessons}
    tracks = [{**track, "lessons": [name for name in track["lessons"] if name in names]} for track in data["tracks"]]
    data["tracks"] = [track for track in tracks if track["lessons"]]
    if ways := [way for way in data.pop("ways", []) if names.issuperset(way["lessons"])]:
        data["ways"] = ways
    return "# A release for learners: the course without its solutions.\n" + toml_text(data)


# --- the README -------------------------------------------------------------------------------------------------------

WELCOME = """\
# {title}

{number} to read, fill in and check yourself against. You need Python 3.11 or newer and the program `selfattend`, from
the wheel that your instructor gave you or from the package index:

```sh
pip install selfattend
```

Make a folder of your own to work in, from here:

```sh
learn start --course . ../my-work
cd ../my-work
learn
```

`learn` says what is next: `learn read {first}` shows the lesson, `learn check {first}` checks what you wrote in
`{track}/{first}.py`, `learn hint {first}` gives a little away.

| lesson | about |
| --- | --- |
{table}

## What a score means here

The checks in `public/` compare your work with answers that were recorded from the reference solution, on a few fixed
inputs. They tell you that you are on the way. Your instructor's run has more checks, other inputs, and names mistakes:
a 10.0 here is a 10.0 on the public checks, not your mark. The reference is not here; your instructor has it.
"""


def _readme(course: Course, lessons: Sequence[Lesson]) -> str:
    table = "\n".join(f"| `{lesson.name}` | {lesson.title} |" for lesson in lessons)
    number = "One lesson" if len(lessons) == 1 else f"{len(lessons)} lessons"
    first = lessons[0]
    return WELCOME.format(title=course.title, number=number, first=first.name, track=first.track, table=table)
