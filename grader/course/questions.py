"""Keep in a release the questions on its lessons, and nothing that leads out of it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from grader.course.tables import read_toml
from grader.files import is_file, read_file
from grader.model import Lesson

SUFFIX = ".quiz.toml"
SETTINGS = "quiz.toml"

_COMMAND = re.compile(r'^(command\s*=\s*")([^"\n]*)', re.MULTILINE)
_LINK = re.compile(r'^(?:counts_for|same_as)\s*=\s*"(\w+)[^\n]*\n', re.MULTILINE)  # to a topic, or a question of one


def topics_in(lessons: Path) -> dict[str, Path]:
    """Return the question files below a folder of lessons, by topic."""
    return {path.name.removesuffix(SUFFIX): path for path in sorted(lessons.glob(f"*/*{SUFFIX}"))}


def has_questions(lesson: Lesson) -> bool:
    """Return True if there is a topic of the lesson's name."""
    return is_file(lesson.text_path.with_name(f"{lesson.name}{SUFFIX}"))


def generators_of(topic: Path) -> Path:
    """Return the file with the functions that draw a topic's numbers; it need not exist."""
    return topic.with_name(f"{topic.name.removesuffix(SUFFIX)}_quiz.py")


def files_on(lessons: Path, left: Set[str]) -> set[Path]:
    """Return the files of the topics that are on one of these lessons. Raises CourseError."""
    found = [path for path in topics_in(lessons).values() if read_toml(path).data.get("lesson") in left]
    return {file for path in found for file in (path, generators_of(path))}


def prune_questions(whole: Path, released: Path, left: Set[str]) -> None:
    """Remove from the questions in *released* what needs a lesson in *left* or another missing topic.

    `quiz.toml` keeps the topics that are there, and gets the misconceptions that they share with missing ones.
    *whole* is the folder of lessons that the release was copied from. Raises CourseError.
    """
    topics, every = topics_in(released), topics_in(whole)
    if topics.keys() == every.keys():
        return
    others = [path for name, path in every.items() if name not in topics]
    missing = left | set(_names_in_commands(others))
    collections = _collections(released / SETTINGS)
    for name, path in topics.items():
        path.write_text(_prune_topic(read_file(path), name, {*topics, *collections}, missing), encoding="utf-8")
    settings = released / SETTINGS
    if settings.is_file():
        _prune_settings(settings, topics, others, missing)


def _collections(settings: Path) -> list[str]:
    """Return the topics without a file."""
    return [each["name"] for each in read_toml(settings).data.get("collections", ())] if settings.is_file() else []


def _names_in_commands(topics: Iterable[Path]) -> Iterator[str]:
    """Yield what commands call these topics: the name, and the number of the open question."""
    for path in topics:
        yield path.name.removesuffix(SUFFIX)
        opened = read_toml(path).data.get("open")
        if opened:
            yield str(opened["number"])


def _prune_topic(text: str, topic: str, topics: Container[str], missing: Set[str]) -> str:
    """Return a topic's text without what leads out of the release."""
    text = _COMMAND.sub(lambda found: found[1] + _usable_command(found[2], topic, missing), text)
    return _LINK.sub(lambda found: found[0] if found[1] in topics else "", text)


def _usable_command(command: str, topic: str, missing: Set[str]) -> str:
    """Return the command, or other questions on the topic if it needs what is left out."""
    return f"learn quiz {topic}" if missing & set(command.split()) else command


def _prune_settings(path: Path, topics: Mapping[str, Path], others: Iterable[Path], missing: Set[str]) -> None:
    from grader.course.toml_writer import toml_text  # here: a quiz is begun without it

    data = read_toml(path).data
    groups = [{**group, "topics": [name for name in group["topics"] if name in topics]} for group in data["groups"]]
    kept = {
        **data,
        "assessment": [name for name in data.get("assessment", ()) if name in topics],
        "groups": [group for group in groups if group["topics"]],
        "misconceptions": [*data.get("misconceptions", ()), *_shared_misconceptions(topics, others, missing)],
    }
    if not kept["groups"]:
        path.unlink()
        return
    text = toml_text({key: value for key, value in kept.items() if value or key == "assessment"})
    path.write_text(f"# The questions of this release.\n{text}", encoding="utf-8")


def _shared_misconceptions(
    topics: Mapping[str, Path], others: Iterable[Path], missing: Set[str]
) -> Iterator[dict[str, Any]]:
    """Yield the misconceptions that topics mention and that are defined in the files of others."""
    texts = {
        name: "".join(read_file(file) for file in (path, generators_of(path)) if file.is_file())
        for name, path in topics.items()
    }
    for other in others:
        for entry in read_toml(other).data.get("misconceptions", ()):
            quoted = [f"{mark}{entry['id']}{mark}" for mark in "\"'"]
            users = [name for name, text in texts.items() if any(each in text for each in quoted)]
            if users:
                yield {**entry, "command": _usable_command(entry["command"], users[0], missing)}
