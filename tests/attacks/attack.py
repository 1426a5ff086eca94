"""The attacks as data: what each hands in, what it tries, and what must be seen.

A program of `programs/` is a learner's whole file, or a folder of their files; the docstring of the first that has one
is TOML: what it `tries`, the `entry` of the list of threats that it belongs to, the `lesson` it answers, and what must
be seen: `state`, `score`, `mistake`. A hand-in that is no plain file is described in `packages/`.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FACTS = "FACTS = {}"  # this line of a program is given what an insider would know


@dataclass(frozen=True)
class Seen:
    """What must be seen of one lesson.

    `score` is None if it has none; `mistake` is the id of the named one; with `at_most`, for attacks whose success is a
    matter of luck, any lower score will do, in any state.
    """

    state: str
    score: float | None = None
    mistake: str = ""
    at_most: bool = False


@dataclass(frozen=True)
class Attack:
    """One hostile hand-in."""

    name: str
    path: Path
    tries: str
    entry: str
    course: str  # "core", "training" for its one lesson, or "tiny" for what has nothing to do with tensors
    seen: dict[str, Seen]
    beside: tuple[str, ...] = ()
    package: dict[str, Any] = field(default_factory=dict)
    prints: str = ""  # what its output must hold: it did get so far

    @property
    def lessons(self) -> tuple[str, ...]:
        """The lessons it is graded on."""
        return tuple(self.seen)

    def files(self, facts: dict[str, Any]) -> dict[str, str]:
        """Its files by the names they are handed in under."""
        found = {name: (HERE / "beside" / name).read_text() for name in self.beside}
        if self.path.is_dir():
            found |= {str(p.relative_to(self.path)): p.read_text() for p in sorted(self.path.rglob("*")) if p.is_file()}
        elif self.path.suffix == ".py":
            found[f"{self.lessons[0]}.py"] = self.path.read_text()
        return {name: text.replace(FACTS, f"FACTS = {facts!r}") for name, text in found.items()}


@cache
def attacks() -> tuple[Attack, ...]:
    """All of them, by name."""
    programs = [path for path in sorted((HERE / "programs").iterdir()) if path.name != "__pycache__"]
    packages = sorted((HERE / "packages").glob("*.toml"))
    return tuple(_read(path) for path in (*programs, *packages))


def _read(path: Path) -> Attack:
    header = tomllib.loads(path.read_text() if path.suffix == ".toml" else _docstring(path))
    lessons = header.pop("lessons", None) or {
        header.pop("lesson"): {key: header.pop(key) for key in _SEEN if key in header}
    }
    seen = {lesson: Seen(**what) for lesson, what in lessons.items()}
    known = {key: header.pop(key) for key in ("tries", "entry")}
    more = {"beside": tuple(header.pop("beside", ())), "prints": header.pop("prints", "")}
    course = next((course for course, lessons in _APART.items() if lessons.issuperset(seen)), "core")
    return Attack(path.stem, path, **known, course=course, seen=seen, package=header, **more)


_APART = {"tiny": {"moving_average", "argmax_2d"}, "training": {"adamw"}}
_SEEN = ("state", "score", "mistake", "at_most")


def _docstring(path: Path) -> str:
    """Return the text between the first triple quotes, without parsing: some attacks target the parser."""
    files = [path] if path.is_file() else sorted(path.glob("*.py"))
    texts = [part for file in files for part in file.read_text().split('"""', 2)[1:2]]
    return next(text for text in texts if text.startswith("\ntries"))


def as_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """Facts as plain data, so that they can stand in a source."""
    plain: dict[str, Any] = json.loads(json.dumps(facts, default=str))
    return plain
