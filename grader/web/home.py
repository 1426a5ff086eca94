"""The first page: the transformer, drawn from its lessons, and what is due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.course.learner_copy import passed_words
from grader.course.tables import read_toml
from grader.files import is_file
from grader.model import FULL_WAY, Course, LessonProgress
from grader.quiz.bank.bank import Bank
from grader.quiz.session.schedule import due, to_review
from grader.store.quiz_log import QuizLog
from grader.web.site import Site

DIAGRAM = "diagram.toml"
SECONDS_A_QUESTION = 25


def home_view(site: Site) -> dict[str, Any]:
    """Return what the page shows."""
    progress = site.read_progress()
    drawn = _rows(site.course, _read_diagram(site.course))
    way = site.read_way()
    along = site.course.lessons_along(way)
    capstones = [lesson.name for lesson in along if lesson.kind == "capstone"]
    named = {*_names(drawn), *capstones}
    others = [
        {"title": track.title, "lessons": [name for name in track.lessons if name not in named]}
        for track in site.course.tracks
    ]
    unsolved = [lesson for lesson in along if not progress[lesson.name].solved]
    return {
        "course": site.course,
        "rows": drawn,
        "others": [each for each in others if each["lessons"]],
        "boxes": {name: _box(known) for name, known in progress.items()},
        "words": passed_words(site.course),
        "solved": len(progress) - len(unsolved),
        "ways": [each for each in site.course.ways.values() if each != way],
        "way": None if way.name == FULL_WAY else way,
        "gone": sum(progress[name].solved for name in way.lessons),
        "next": next(iter(unsolved), None),
        "capstones": [{"name": name, "builds": is_file(site.course.lessons[name].build_path)} for name in capstones],
        **_questions(site),
    }


def _box(known: LessonProgress) -> dict[str, Any]:
    state = "solved" if known.solved else "begun" if known.attempts else "new"
    return {"state": state, "score": known.best_score}


def _questions(site: Site) -> dict[str, Any]:
    """Count the questions to ask again today, with the minutes that they take, and the topics of the assessment."""
    bank = Bank(site.course.root / "lessons")
    with site.open_store() as store:
        answers = QuizLog(store.database).answers()
    count = len(due(to_review(bank, answers), datetime.now().astimezone())) if answers else 0
    minutes = -(-count * SECONDS_A_QUESTION // 60)
    return {"due": {"questions": count, "minutes": minutes}, "assessed": len(bank.assessed)}


def _read_diagram(course: Course) -> Sequence[Mapping[str, Any]]:
    path: Path = course.root / "lessons" / DIAGRAM
    return read_toml(path).data.get("rows", ()) if path.is_file() else ()


def _rows(course: Course, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Keep of the drawing what is in this course; a frame whose own lesson is not has no name."""
    found = []
    for row in rows:
        inner = _rows(course, row.get("rows", ()))
        lessons = [name for name in row.get("lessons", ()) if name in course.lessons]
        if inner or lessons:
            frame = row.get("frame", "")
            found.append({**row, "rows": inner, "lessons": lessons, "frame": frame if frame in course.lessons else ""})
    return found


def _names(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield from row["lessons"]
        yield row["frame"]
        yield from _names(row["rows"])
