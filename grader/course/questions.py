"""The questions that go along with a release: those on its lessons, and nothing that leads to what is not in it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from grader.course.tables import TomlText
from grader.files import read_file

SUFFIX = ".quiz.toml"
SETTINGS = "quiz.toml"

_COMMAND = re.compile(r'^(command\s*=\s*")([^"\n]*)', re.MULTILINE)
_COUNTS_FOR = re.compile(r'^counts_for\s*=\s*"(\w+)"[^\n]*\n', re.MULTILINE)


def topics_in(lessons: Path) -> dict[str, Path]:
    """The files of questions below a folder of lessons, by topic."""
    return {path.name.removesuffix(SUFFIX): path for path in sorted(lessons.glob(f"*/*{SUFFIX}"))}


def generators_of(topic: Path) -> Path:
    """The file of the functions that draw the numbers of a topic; not every topic has one."""
    return topic.with_name(f"{topic.name.removesuffix(SUFFIX)}_quiz.py")


def left_out(lessons: Path, left: Set[str]) -> set[Path]:
    """The files of the topics that are on one of these lessons. Raises CourseError."""
    found = [path for path in topics_in(lessons).values() if _data(path).get("lesson") in left]
    return {file for path in found for file in (path, generators_of(path))}


def prune_questions(whole: Path, released: Path, left: Set[str]) -> None:
    """Make the questions in the folder of lessons `released` fit together, which were copied from `whole` without
    those on the lessons in `left`.

    `quiz.toml` names the topics that are there, and holds the misconceptions that they share with others. No command
    leads to a lesson that is not there, and no answer counts for a topic that is not. Raises CourseError.
    """
    topics, every = topics_in(released), topics_in(whole)
    if topics.keys() == every.keys():
        return
    others = [path for name, path in every.items() if name not in topics]
    gone = left | set(_words_for(others))
    for name, path in topics.items():
        path.write_text(_fitting(read_file(path), name, topics, gone), encoding="utf-8")
    settings = released / SETTINGS
    if settings.is_file():
        _fit_settings(settings, topics, others, gone)


def _words_for(topics: Iterable[Path]) -> Iterator[str]:
    """What commands call these topics: by name, and by the number of the open question."""
    for path in topics:
        yield path.name.removesuffix(SUFFIX)
        opened = _data(path).get("open")
        if opened:
            yield str(opened["number"])


def _fitting(text: str, topic: str, topics: Container[str], gone: Set[str]) -> str:
    """The text of a topic's file, without what leads out of the release."""
    text = _COMMAND.sub(lambda found: found[1] + _usable(found[2], topic, gone), text)
    return _COUNTS_FOR.sub(lambda found: found[0] if found[1] in topics else "", text)


def _usable(command: str, topic: str, gone: Set[str]) -> str:
    """A command of a misconception; other questions on the topic where it needs a lesson or topic that is left out."""
    return f"learn quiz {topic}" if gone & set(command.split()) else command


def _fit_settings(path: Path, topics: Mapping[str, Path], others: Iterable[Path], gone: Set[str]) -> None:
    from grader.course.toml_writer import toml_text  # here: a quiz is begun without it

    data = _data(path)
    groups = [{**group, "topics": [name for name in group["topics"] if name in topics]} for group in data["groups"]]
    kept = {
        **data,
        "assessment": [name for name in data.get("assessment", ()) if name in topics],
        "groups": [group for group in groups if group["topics"]],
        "misconceptions": [*data.get("misconceptions", ()), *_shared(topics, others, gone)],
    }
    if not kept["groups"]:
        path.unlink()
        return
    text = toml_text({key: value for key, value in kept.items() if value or key == "assessment"})
    path.write_text(f"# The questions of this release.\n{text}", encoding="utf-8")


def _shared(topics: Mapping[str, Path], others: Iterable[Path], gone: Set[str]) -> Iterator[dict[str, Any]]:
    """The misconceptions that topics speak of, but that are told in the files of others."""
    texts = {
        name: "".join(read_file(file) for file in (path, generators_of(path)) if file.is_file())
        for name, path in topics.items()
    }
    for other in others:
        for told in _data(other).get("misconceptions", ()):
            users = [name for name, text in texts.items() if re.search(rf"""["']{re.escape(told["id"])}["']""", text)]
            if users:
                yield {**told, "command": _usable(told["command"], users[0], gone)}


def _data(path: Path) -> dict[str, Any]:
    return TomlText(read_file(path), path).parse().data
