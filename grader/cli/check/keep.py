"""Keep what a check found: as an attempt, and of a notebook what passes in the lesson's file, too."""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from grader.cli.check.notebook_file import as_file
from grader.cli.check.show_results import CheckRun
from grader.cli.context import short_path
from grader.files import read_file
from grader.model import Lesson, LessonResult, Submission
from grader.submission import read_submission


def store_attempt(run: CheckRun, submission: Submission, result: LessonResult) -> None:
    """Store an attempt, but none of an empty exercise, nor one that failed by our own fault.

    Whoever looks at an exercise of which nothing is written has not tried it. If storing fails, the result is shown all
    the same.
    """
    if result.state == "grader-error" or not run.is_kept(result.lesson):
        return
    stub = read_file(run.context.course.lessons[result.lesson].exercise_path)
    if submission.source == stub or run.notebooks.get(result.lesson) == as_file([stub]):
        return
    source = source_digest(submission.source)
    trouble = run.context.try_store(lambda store: store.record_attempt(result, source, datetime.now(UTC)))
    run.troubles += filter(None, [trouble])


def fill_file(run: CheckRun, lesson: Lesson, source: str, examine: Callable[[Submission], LessonResult | None]) -> str:
    """Write what passes in a notebook into the lesson's file, if that is empty; return what is to be said.

    Args:
        source: What the notebook's cells define, as a file of Python.
        examine: Judges the file, which must pass, too.
    """
    context = run.context
    if context.workspace is None:
        return ""
    path = short_path(context.workspace.exercise_path(lesson))
    if context.edited_at(lesson):
        own = read_submission(Path(path), lesson, context.course, context.workspace.root)
        if _is_same(own.source, source):
            return ""
        return f"`{path}` holds other work, and that is handed in and built with."
    submission = Submission(lesson.name, path, source)
    verdict = examine(submission)
    if verdict is None or not verdict.passed:
        return ""
    context.workspace.fill(lesson, source)
    store_attempt(run, submission, verdict)
    return f"Written to `{path}` as well, which is handed in and built with."


def _is_same(first: str, second: str) -> bool:
    """Return True for sources that do the same: a notebook has comments for its magics, and no text of the module."""
    try:
        return _statements(first) == _statements(second)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return first == second


def _statements(source: str) -> list[str]:
    return [
        ast.dump(node)
        for node in ast.parse(source).body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]


def find_passing(run: CheckRun, submission: Submission) -> frozenset[str] | None:
    """Return the lessons that a submission imports and that passed as they are now; None if that is not known."""
    sources = {name: source_digest(source) for name, (_, source) in submission.siblings.items() if name in run.progress}
    if run.context.workspace is None or not sources:
        return None
    found: list[str] = []
    trouble = run.context.try_store(
        lambda store: found.extend(name for name, digest in sources.items() if store.is_passing(name, digest))
    )
    return None if trouble else frozenset(found)


def source_digest(source: str) -> str:
    """Return what a source is known by in the store."""
    import hashlib

    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
