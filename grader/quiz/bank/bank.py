"""Load the questions of a course from `lessons/<track>/<topic>.quiz.toml` and the generators beside it.

Nothing from the TOML is ever run. A generator is a function in `lessons/<track>/<topic>_quiz.py`, named in the TOML; it
takes a `random.Random` and returns the values of one variant. A topic is read when it is first needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from grader.course.questions import SETTINGS, SUFFIX, generators_of, topics_in
from grader.course.tables import Table, read_toml
from grader.errors import CourseError, UsageError
from grader.files import read_file
from grader.quiz.kinds import KINDS
from grader.quiz.model import FACETS, Family, Generator, KeyPoint, Misconception, OpenQuestion, Topic, Trap

NO_FIELDS = ("id", "kind", "facet", "counts_for", "same_as", "few", "generator", "audits")
TOPIC = ("title", "lesson", "counts_for", "misconceptions", "families", "open")
COMMON = (*NO_FIELDS, "text", "explain", "feedback", "prove")
AUDIT = "grader audit"

_FAMILY = re.compile(r"^\[\[families\]\]\s*\n((?:[^\[\n].*\n|\n)*)", re.M)
_KEY = re.compile(r'^(id|kind|facet|counts_for|same_as)\s*=\s*"([^"\\]+)"\s*$', re.M)
_COUNTS_FOR = re.compile(r'\A[^\[]*^counts_for\s*=\s*"([^"\\]+)"', re.M)


class Outline(NamedTuple):
    """The part of a family that a plan needs."""

    id: str
    kind: str
    facet: str = ""
    counts_for: str = ""
    same_as: str = ""

    @property
    def idea(self) -> str:
        """The id that families which ask the same thing share."""
        return self.same_as or self.id


class Bank:
    """The topics of a course by name, which is the stem of a topic's file."""

    def __init__(self, lessons: Path) -> None:
        """Read `quiz.toml` in the course's folder of lessons. Raises CourseError where it is wrong."""
        self.lessons = lessons
        self.paths = topics_in(lessons)
        self._topics: dict[str, Topic] = {}
        self._generators: dict[str, dict[str, Any]] = {}
        self._misconceptions: dict[str, Misconception] = {}
        self.collections: tuple[str, ...] = ()  # topics without a file, which collect families that count for them
        self.assessed, self.groups = self._read_settings()

    @property
    def names(self) -> list[str]:
        """The names of all topics: those of the assessment in its order, then the others by group."""
        return list(dict.fromkeys([*self.assessed, *(name for group in self.groups.values() for name in group)]))

    def topic(self, name: str) -> Topic:
        """Return a topic. Raises UsageError for an unknown name, CourseError for a wrong file."""
        if name not in self._topics:
            if name not in self.paths:
                raise UsageError(f'there is no topic "{name}"', next_step="learn quiz list")
            self._topics[name] = _read_topic(name, self.paths[name])
            self._misconceptions |= {each.id: each for each in self._topics[name].misconceptions}
        return self._topics[name]

    def topics(self) -> Iterator[Topic]:
        """Yield all topics; reads every file."""
        return map(self.topic, self.names)

    def outline(self, name: str) -> list[Outline]:
        """Return a topic's families by id and kind, without parsing its whole file where possible.

        Raises as `topic` does.
        """
        if name in self.collections:
            return [_outline(each) for topic in self.topics() for each in topic.families if each.counts_for == name]
        if name not in self._topics and name in self.paths:
            found = _scan_outline(name, read_file(self.paths[name]))
            if found:
                return found
        return [_outline(family) for family in self.topic(name).families]

    def find_family(self, family_id: str) -> Family | None:
        """Return a family; None if the course does not have it. Raises CourseError."""
        topic = family_id.partition(".")[0]
        families = self.topic(topic).families if topic in self.paths else ()
        return next((family for family in families if family.id == family_id), None)

    def family(self, family_id: str) -> Family:
        """Return a family. Raises UsageError if the course does not have it, CourseError."""
        family = self.find_family(family_id)
        if family is None:
            raise UsageError(f'there is no question "{family_id}"', next_step="learn quiz list")
        return family

    def misconception(self, tag: str) -> Misconception | None:
        """Return the misconception of a tag, searching the topics that were read before the others."""
        if tag not in self._misconceptions:
            for _ in self.topics():
                if tag in self._misconceptions:
                    break
        return self._misconceptions.get(tag)

    def generator(self, family: Family) -> Generator:
        """Return the function that draws a family's numbers. Raises CourseError."""
        path = generators_of(self.paths[family.topic])
        if family.topic not in self._generators:
            self._generators[family.topic] = _run_generators_file(path)
        function = self._generators[family.topic].get(family.generator)
        if not callable(function):
            what = f'{family.id} names a generator "{family.generator}" that is not there'
            raise CourseError(what, where=str(path), next_step=AUDIT)
        generator: Generator = function
        return generator

    def _read_settings(self) -> tuple[list[str], dict[str, list[str]]]:
        """Read the topics of the assessment and all topics by group from `quiz.toml`.

        It may define misconceptions of topics that are not in this course.
        """
        path = self.lessons / SETTINGS
        if not path.is_file():
            return [], {"topics": list(self.paths)} if self.paths else {}
        table = read_toml(path)
        table.only("assessment", "groups", "misconceptions", "collections")
        for each in table.tables("collections") if "collections" in table.data else []:
            each.only("name", "title", "lesson")
            name, title, lesson = map(each.text, ("name", "title", "lesson"))
            self._topics[name] = Topic(name, title, lesson, (), (), path)
        self.collections = tuple(self._topics)
        self._misconceptions |= {each.id: each for each in _misconceptions(table)}
        groups = {each.text("title"): list(each.texts("topics")) for each in table.tables("groups")}
        assessed = list(table.texts("assessment"))
        for name in [*assessed, *(name for group in groups.values() for name in group)]:
            if name not in self.paths:
                raise table.error(f'there is no file {name}{SUFFIX} for the topic "{name}"')
        return assessed, groups


def _run_generators_file(path: Path) -> dict[str, Any]:
    """Run a file of generators, the course's own code, and return what it defines."""
    namespace: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    source = read_file(path)
    try:
        exec(compile(source, str(path), "exec"), namespace)
    except Exception as error:
        raise CourseError(
            f"the generators cannot be used: {type(error).__name__}: {error}", where=str(path), next_step=AUDIT
        ) from error
    return namespace


def _scan_outline(name: str, text: str) -> list[Outline]:
    """Find the families in a topic's file with the usual layout; none if one of them has another layout."""
    found, default = [], _COUNTS_FOR.match(text)
    counts_for = default[1] if default else name
    for section in _FAMILY.findall(text):
        keys = _KEY.findall(section)
        if len(dict(keys)) != len(keys) or not {"id", "kind"} <= dict(keys).keys():
            return []
        found.append(Outline(**{"counts_for": counts_for, **dict(keys)}))
    return found if len(found) == text.count("[[families]]") else []


# --- one file ---------------------------------------------------------------------------------------------------------


def _read_topic(name: str, path: Path) -> Topic:
    table = read_toml(path)
    table.only(*TOPIC)
    misconceptions = tuple(_misconceptions(table))
    counts_for = _optional_text(table, "counts_for") or name
    families = tuple(_read_family(name, counts_for, each) for each in table.tables("families"))
    opened = _read_open_question(name, table) if "open" in table.data else None
    return Topic(name, table.text("title"), table.text("lesson"), families, misconceptions, path, opened)


def find_faults(name: str, path: Path) -> list[CourseError]:
    """Return why a topic's file cannot be read: the first fault of each entry in it, and each of the rest."""
    found: list[CourseError] = []

    def note(read: Callable[..., Any], *given: Any) -> Any:
        try:
            return read(*given)
        except CourseError as error:
            found.append(error)

    if table := note(read_toml, path):
        for read, *given in ((table.only, *TOPIC), (table.text, "title"), (table.text, "lesson")):
            note(read, *given)
        for each in note(table.tables, "misconceptions") or () if "misconceptions" in table.data else ():
            note(_read_misconception, each)
        for each in note(table.tables, "families") or ():
            note(_read_family, name, name, each)
    if not found:
        note(_read_topic, name, path)
    return found


def _misconceptions(table: Table) -> Iterator[Misconception]:
    return map(_read_misconception, table.tables("misconceptions") if "misconceptions" in table.data else [])


def _read_misconception(table: Table) -> Misconception:
    keys = ("id", "says", "suggests", "command")
    table.only(*keys)
    return Misconception(*map(table.text, keys))


def _optional_text(table: Table, key: str) -> str:
    return table.text(key) if key in table.data else ""


def _outline(family: Family) -> Outline:
    return Outline(family.id, family.kind, family.facet, family.counts_for, family.same_as)


def _read_family(topic: str, counts_for: str, table: Table) -> Family:
    family_id, kind = table.text("id"), table.text("kind")
    if not family_id.startswith(f"{topic}."):
        raise table.error(f'the id must begin with "{topic}."', "id")
    if kind not in KINDS:
        raise table.error(f'"{kind}" is no kind of question; there are {", ".join(KINDS)}', "kind")
    table.only(*COMMON, *sorted(KINDS[kind].required | KINDS[kind].optional))
    generator, facet = _optional_text(table, "generator"), _optional_text(table, "facet")
    if facet and facet not in FACETS:
        raise table.error(f'"{facet}" is no facet; there are {", ".join(FACETS)}', "facet")
    table.text("text"), table.text("explain")
    missing = [] if generator else sorted(KINDS[kind].required - set(table.data))
    if missing:
        raise table.error(f'"{missing[0]}" is missing, and no generator gives it', "id")
    feedback = table.data.get("feedback", {})
    if not isinstance(feedback, dict) or not all(isinstance(text, str) for text in feedback.values()):
        raise table.error('"feedback" must be a table of texts', "feedback")
    return Family(
        family_id,
        topic,
        kind,
        {key: value for key, value in table.data.items() if key not in NO_FIELDS},
        generator,
        table.texts("audits"),
        feedback,
        facet,
        _optional_text(table, "counts_for") or counts_for,
        _optional_text(table, "same_as"),
        table.data.get("few") is True,
    )


def _read_open_question(topic: str, whole: Table) -> OpenQuestion:
    table = whole.table("open")
    table.only("number", "asks", "key_points", "traps", "model_answer")
    points, traps = (
        [Table(each, table.source, f"open.{key}", index) for index, each in enumerate(table.data.get(key, []))]
        for key in ("key_points", "traps")
    )
    return OpenQuestion(
        number=table.whole("number"),
        topic=topic,
        asks=table.text("asks").strip(),
        key_points=tuple(KeyPoint(each.text("id"), each.text("says")) for each in points),
        traps=tuple(
            Trap(each.text("id"), each.text("claims"), each.text("fix"), each.data.get("misconception", ""))
            for each in traps
        ),
        model_answer=table.text("model_answer").strip(),
    )
