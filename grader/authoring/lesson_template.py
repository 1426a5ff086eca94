"""Write the files of a new lesson: a skeleton that works, of which the audit says what is missing."""

from __future__ import annotations

import keyword
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from grader.authoring.derive_lesson import derive_texts
from grader.course.find_course import COURSE_FILE
from grader.course.find_lesson import aliases
from grader.course.load_course import load
from grader.course.tables import TomlText
from grader.errors import CourseError, UsageError
from grader.files import at, make_folders, read_file, resolved
from grader.model import Course

TEXT = """\
+++
title = "{title}"
minutes = 20
needs = []
concepts = []
forbids = []

[hints]
{name} = []
+++
# {title}

Say here why anybody needs this: what cannot be done without it.

## The formula

Give the formula in a fenced block, then the shapes that go through it.

## By hand

Compute one small example step by step, in numbers that fit on paper.

## Traps

Describe what people really get wrong here, and what one sees when it happens.

## Your task

Write `{name}` in `{track}/{name}.py`, then run `learn check {name}`.
"""

STUB = '''\
"""{title}.

The lesson: learn read {name}        Your work, checked: learn check {name}
"""

{import_line}


def {name}(x):
    """State here what it computes: the formula, every argument's shape, what is returned."""
    raise NotImplementedError("{name}: not written yet")
'''

SOLUTION = '''\
"""{title}, the reference: short, with a comment on every line that changes a shape."""


def {name}(x):
    """Say in one sentence what it gives back."""
    return x  # step: compute
'''

CHECKS = '''\
"""The hidden checks of `{name}`. Each docstring is the sentence that the learner sees."""

import pytest

from grader.api.checks import assert_matches, assert_shape, assert_unchanged


@pytest.mark.check(skill="shape", points=1, public=True)
def test_shape(submission, rand):
    """Gives back the shape of its input."""
    x = rand(3, 5)
    assert_shape(submission.{name}(x), x.shape)


@pytest.mark.check(skill="values", points=3, needs="test_shape")
def test_values(submission, reference, rand):
    """Equals the reference."""
    x = rand(*rand.sizes(2))  # from the seed: nobody knows them by heart
    assert_matches(submission.{name}(x), reference.{name}(x))


@pytest.mark.check(skill="hygiene", points=1)
def test_input_unchanged(submission, rand):
    """Leaves its input alone."""
    x = rand(3, 5)
    assert_unchanged(submission.{name}.observe(x), x)
'''

MISTAKES = '''\
"""What people write in `{name}` in place of the reference's lines; and other right ways to write it.

A line of {name}.py that ends in `# step: NAME` is a step. A mistake names steps and what people write there, so that
two mistakes at once can be recognised too, by what the checks ask:

    mistake("short-id", "What the code does, and what follows.", "The edit.", compute="x + 1")
    right("another right way", compute="x.clone()")
    {name}.example(...)     arguments small enough to retype, smallest first
    {name}.ask("with one row", ...)     what the checks do not ask
"""

from grader.api.checks import MistakeSet

{name} = MistakeSet("{name}", globals())
mistake, right = {name}.mistake, {name}.alternative
MISTAKE_SETS = [{name}]
'''

SYLLABUS = """\
format = 1
id = "{id}"
title = "{title}"
version = "0.1.0"
arrays = "torch"  # what the functions take and return: "torch" or "numpy"

[[tracks]]
name = "{track}"
title = "{title}"
lessons = []
"""

IMPORTS = {
    "torch": "import torch  # noqa: F401  the answer will need it",
    "numpy": "import numpy as np  # noqa: F401  the answer will need it",
}


def write_lesson(root: Path, name: str, track: str | None = None, solution: Path | None = None) -> list[Path]:
    """Write the files of a new lesson into the course at *root*, and add it to the end of its track.

    Where there is no course yet, one is begun. Nothing is overwritten, and nothing is left behind after a failure.

    Args:
        solution: A solution from which stub and reference are derived.

    Returns:
        The files, the syllabus last.

    Raises:
        UsageError: The name is taken or no name, or a file is in the way.
        CourseError: The course, or the solution, cannot be read.
    """
    _check_location(root)
    begun = not os.path.lexists(root / COURSE_FILE)
    if begun:
        _begin_course(root, track or "core")
    try:
        return _write_lesson(load(root, may_be_empty=True), name, track, solution)
    except BaseException:
        if begun:
            (root / COURSE_FILE).unlink()
        raise


def _begin_course(root: Path, track: str) -> None:
    name = re.sub(r"[^a-z0-9]+", "-", resolved(root).name.lower()).strip("-") or "course"
    text = SYLLABUS.format(id=name, title=name.replace("-", " ").capitalize(), track=track)
    try:
        root.mkdir(parents=True, exist_ok=True)
        (root / COURSE_FILE).write_text(text, encoding="utf-8")
    except OSError as error:
        what = f"no course can be begun here: {error.strerror or error}"
        raise UsageError(what, where=str(root), next_step="name a folder of your own with --course DIR") from None


def _write_lesson(course: Course, name: str, track: str | None, solution: Path | None) -> list[Path]:
    root = course.root
    track = _choose_track(course, track)
    _check_name(course, name)
    texts = _texts(course, name, track)
    if solution is not None:
        texts.update(_derived(course, name, track, solution))
    there = [path for path in texts if os.path.lexists(path)]
    if there:
        what = f"there is a file already for a lesson {name}; nothing was written"
        raise UsageError(what, where=str(there[0]), next_step="choose another name, or move the file away")
    syllabus = root / COURSE_FILE
    text = add_to_syllabus(TomlText(read_file(syllabus), syllabus), course, name, track)
    _write_all({**texts, syllabus: text}, syllabus)
    return [*texts, syllabus]


def _check_location(root: Path) -> None:
    """Raise UsageError for the course inside an installed program: it is lost with the next version."""
    if resolved(root).is_relative_to(Path(__file__).resolve().parents[1]):
        next_step = "copy it to a folder of your own, and name that with --course DIR"
        raise UsageError("this course belongs to the installed program", where=str(root), next_step=next_step)


def _texts(course: Course, name: str, track: str) -> dict[Path, str]:
    solutions = course.root / "solutions" / track
    templates = {
        course.root / "lessons" / track / f"{name}.md": TEXT,
        course.root / "exercises" / track / f"{name}.py": STUB,
        solutions / f"{name}.py": SOLUTION,
        solutions / f"test_{name}.py": CHECKS,
        solutions / f"{name}_mistakes.py": MISTAKES,
    }
    title = name.replace("_", " ").capitalize()
    words = {"name": name, "track": track, "title": title, "import_line": IMPORTS[course.arrays]}
    return {path: template.format(**words) for path, template in templates.items()}


def _derived(course: Course, name: str, track: str, solution: Path) -> dict[Path, str]:
    """Return the files that come from a solution."""
    title = name.replace("_", " ").capitalize()
    heading = f"{title}.\n\nThe lesson: learn read {name}        Your work, checked: learn check {name}\n"
    try:
        derived = derive_texts(read_file(solution), heading)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", 0) or 0
        what = f"no lesson can be made from this file: {getattr(error, 'msg', error)}"
        raise CourseError(what, where=at(solution, line), next_step="give a file with the functions to write") from None
    files = course.root / "exercises" / track, *[course.root / "solutions" / track] * 3
    names = f"{name}.py", f"{name}.py", f"test_{name}.py", f"{name}_mistakes.py"
    return {folder / file: text for folder, file, text in zip(files, names, derived, strict=True)}


def _choose_track(course: Course, track: str | None) -> str:
    names = [known.name for known in course.tracks]
    if track is None and len(names) == 1:
        return names[0]
    if track not in names:
        what = f'there is no track "{track}"' if track else "this course has several tracks"
        what += f"; they are {', '.join(names)}"
        next_step = "name one with --track, or add a [[tracks]] table to course.toml"
        raise UsageError(what, where=str(course.root / COURSE_FILE), next_step=next_step)
    return track


def _check_name(course: Course, name: str) -> None:
    next_step = "choose another name: small letters, digits and underscores, as for a module"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UsageError(f'"{name}" is no name for a file and a function', next_step=next_step)
    if name in sys.stdlib_module_names:
        raise UsageError(f'"{name}" is a module of Python: a lesson cannot have its name', next_step=next_step)
    if name in course.lessons or name in aliases(course):
        raise UsageError(f'there is a lesson "{name}" already, or one was called so', next_step=next_step)


# --- the syllabus -----------------------------------------------------------------------------------------------------


def add_to_syllabus(source: TomlText, course: Course, name: str, track: str) -> str:
    """Return the text of `course.toml` with *name* at the end of *track*; comments and layout stay.

    Raises CourseError if the list is written in a way that is not understood.
    """
    import tomllib

    index = [known.name for known in course.tracks].index(track)
    expected = tomllib.loads(source.text)
    expected["tracks"][index]["lessons"].append(name)
    line = source.line_of("tracks", index, "lessons")
    start = sum(map(len, source.text.splitlines(keepends=True)[: line - 1]))
    changed = _append_to_array(source.text, source.text.find("[", start), name)
    try:
        if changed and tomllib.loads(changed) == expected:
            return changed
    except tomllib.TOMLDecodeError:
        pass
    what = f'where to put "{name}" in the syllabus was not understood; nothing was written'
    next_step = f'write the list of lessons one to a line, or add "{name}" by hand'
    raise CourseError(what, where=f"{source.path}:{line}", next_step=next_step)


def _append_to_array(text: str, opening: int, name: str) -> str:
    """Insert the string *name* at the end of the array that opens at *opening*; return "" if its end is not found."""
    last, comma = 0, False  # where the last item ends, and whether a comma stands behind it
    for token in re.finditer(r"""(?P<item>"[^"\n]*"|'[^'\n]*')|(?P<comment>\#[^\n]*)|[,\]]""", text[opening:]):
        if token["item"]:
            last, comma = opening + token.end(), False
        elif token[0] == ",":
            comma = True
        elif token[0] == "]":
            closing = opening + token.start()
            return _insert(text, last, comma, closing, name) if last else f'{text[:closing]}"{name}"{text[closing:]}'
    return ""


def _insert(text: str, last: int, comma: bool, closing: int, name: str) -> str:
    if "\n" not in text[last:closing]:  # the bracket closes on the line of the last item
        return f'{text[:last]}, "{name}"{text[last:]}'
    line_start = text.rfind("\n", 0, last) + 1
    line_end = text.index("\n", last)
    indent = re.match(r"[ \t]*", text[line_start:])
    assert indent is not None
    separator = "" if comma else ","
    return f'{text[:last]}{separator}{text[last:line_end]}\n{indent[0]}"{name}",{text[line_end:]}'


def _write_all(texts: dict[Path, str], syllabus: Path) -> None:
    """Write the new files, then replace the syllabus: all or nothing."""
    written: list[Path] = []
    try:
        for path, text in texts.items():
            target = path.with_name(f".{path.name}.{os.getpid()}.tmp") if path == syllabus else path
            make_folders(syllabus.parent, target.parent)
            with target.open("x", encoding="utf-8") as file:
                written.append(target)
                file.write(text)
        written[-1].replace(syllabus)
    except OSError as error:
        for path in written:
            with suppress(OSError):
                path.unlink()
        what = f"the lesson cannot be written here: {error.strerror or error}"
        next_step = "work on a copy of the course that is yours: --course DIR"
        raise UsageError(what, where=str(error.filename or syllabus.parent), next_step=next_step) from None
