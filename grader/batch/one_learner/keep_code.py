"""What is kept of the code of a lesson: what it is compared with others by, and what pages show of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from grader.batch.make_record import MAX_KEPT_CHARS
from grader.intake.answers.leave_out import leave_out
from grader.intake.match_lessons import defined_names
from grader.model import Lesson
from grader.model.picture import Picture, pack_pictures
from grader.similarity import fingerprint

MAX_KEPT_OF_ALL = 1 << 19  # of all lessons together: in JSON one character may take twelve bytes


def find_linked(
    lesson: Lesson, text: str, siblings: Mapping[str, str], elsewhere: Mapping[str, Set[str]]
) -> dict[str, str]:
    """Return the learner's files that *text* imports, by name, without what answers another lesson in them.

    Those that define what the lesson asks for and *text* does not come first; then the shortest: of very long code the
    end is not read. *siblings* are the texts of all, by module; *elsewhere* has, by text, the functions for which a
    file counts.
    """
    asked = {function.name for function in lesson.functions}
    missing = asked - defined_names(text)
    texts = {f"{name}.py": leave_out(each, elsewhere.get(each, set()) - asked) for name, each in siblings.items()}
    given = {name for name, each in texts.items() if missing & defined_names(each)} if missing else set()
    kept = filter(texts.get, texts)
    return {name: texts[name] for name in sorted(kept, key=lambda name: (name not in given, len(texts[name])))}


def keep_code(
    lesson: Lesson, path: str, text: str, linked: Mapping[str, str], pictures: Sequence[Picture], lessons: int
) -> dict[str, Any]:
    """Return it for one of so many lessons; lines are counted on from the file into those that are linked."""
    shown = [text, *(f"# {name}, which it imports:\n{each}" for name, each in linked.items())]
    compared = [text, *(f"\n{each}" for each in linked.values())]
    kept = {**fingerprint(lesson, *map(_ended, compared)), "source": _keep_source("".join(map(_ended, shown)), lessons)}
    return kept | ({"pictures": pack_pictures(pictures)} if pictures else {})


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _keep_source(source: str, lessons: int) -> str:
    """Return what is kept of a lesson's source for pages that show it: any text, of bounded size."""
    return source[: min(MAX_KEPT_CHARS, MAX_KEPT_OF_ALL // lessons)].encode("utf-8", "replace").decode()
