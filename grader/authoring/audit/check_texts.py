"""What an audit finds without running a check: in files, statements, hints, examples; and what the template left."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grader.authoring import lesson_template
from grader.course.frontmatter import read_parts
from grader.course.stubs import read_functions
from grader.errors import SelfattendError
from grader.files import read_file
from grader.judge.course_files import load_file
from grader.model import Lesson
from grader.source.parse import parse

MIN_WORDS = 20  # of a statement
MIN_HINTS = 3
MIN_TEMPLATE_WORDS = 5  # of a line that nobody writes by chance

Add = Callable[..., None]  # (what, path, line)


def check_texts(lesson: Lesson, add: Add) -> bool:
    """Note what is wrong with a lesson's texts; return True if its checks can be run.

    Raises CourseError where an answer in the text is half hidden.
    """
    paths = (lesson.text_path, lesson.exercise_path, lesson.solution_path, lesson.checks_path, lesson.mistakes_path)
    missing = [path for path in paths if not path.is_file()]
    for path in missing:
        add("This file is missing.", path)
    for path in paths:
        if path not in missing:
            _check_template(path, add)
    _check_statements(lesson, add)
    if lesson.solution_path not in missing:
        _check_signatures(lesson, add)
        _check_examples(lesson, add)
    if lesson.text_path not in missing:
        read_parts(lesson)
    return lesson.checks_path not in missing and lesson.solution_path not in missing


def _check_statements(lesson: Lesson, add: Add) -> None:
    for function in lesson.functions:
        if len(function.statement.split()) < MIN_WORDS:
            what = f"{function.name}: the docstring of the stub is no complete statement."
            add(what, lesson.exercise_path, function.line)
        rungs = lesson.hints.get(function.name, ())
        if len(rungs) < MIN_HINTS:
            add(f"{function.name}: {len(rungs)} hints; a ladder has three or four.", lesson.text_path)


def _check_signatures(lesson: Lesson, add: Add) -> None:
    written = {each.name: each for each in read_functions(lesson.solution_path)}
    for function in lesson.functions:
        found = written.get(function.name)
        if found is None or found.signature != function.signature:
            what = f"{function.name}: the stub says {function.signature}, the reference "
            add(
                what + (f"{found.signature}." if found else "nothing."),
                lesson.solution_path,
                found.line if found else 0,
            )


# --- examples ---------------------------------------------------------------------------------------------------------


def _check_examples(lesson: Lesson, add: Add) -> None:
    """Note every `>>>` example of the stub whose answer the reference does not give."""
    try:
        # what the stub imports, and the reference's functions in place of the stub's
        names = {**vars(load_file(lesson.exercise_path)), **vars(load_file(lesson.solution_path))}
    except SelfattendError:
        return  # it is told where the checks are run
    runner = _Examples(lambda what, line: add(what, lesson.exercise_path, line))
    for docstring, line in _docstrings(lesson.exercise_path):
        try:
            test = doctest.DocTestParser().get_doctest(docstring, names, lesson.name, None, line - 1)
        except ValueError as error:
            add(f"The examples cannot be read: {error}.", lesson.exercise_path, line)
            continue
        runner.run(test, out=lambda _: None)


class _Examples(doctest.DocTestRunner):
    """Runs examples and passes on each that fails."""

    def __init__(self, add: Callable[[str, int], None]) -> None:
        super().__init__(verbose=False)
        self.add = add

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        self._add(test, example, got.strip() or "nothing")

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        self._add(test, example, f"{exc_info[0].__name__}: {exc_info[1]}")

    def _add(self, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        expected = example.want.strip() or "nothing"
        what = f"The example `{example.source.strip()}` says {expected}; the reference gives {got}."
        self.add(what, (test.lineno or 0) + example.lineno + 1)


def _docstrings(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the docstrings of a file's functions and classes, each with its first line."""
    for node in ast.walk(parse(read_file(path))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            text = node.body[0].value  # type: ignore[attr-defined]  # it is an expression
            yield text.value, text.lineno


# --- the template -----------------------------------------------------------------------------------------------------


def _template_lines() -> set[str]:
    """Return the sentences of the template that an author replaces."""
    texts = (lesson_template.TEXT, lesson_template.STUB, lesson_template.SOLUTION, lesson_template.MISTAKES)
    lines = {_plain(line) for text in texts for line in text.splitlines() if "{" not in line}
    return {line for line in lines if len(line.split()) >= MIN_TEMPLATE_WORDS and re.match(r"[A-Z].*\.$", line)}


def _check_template(path: Path, add: Add) -> None:
    left = _template_lines()
    for number, line in enumerate(read_file(path).splitlines(), 1):
        if _plain(line) in left:
            add(f"This line is the template's: “{_plain(line)}”", path, number)


def _plain(line: str) -> str:
    return line.strip().strip('"')
