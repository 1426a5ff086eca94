"""The data of the quiz as frozen dataclasses, without I/O.

A *topic* has *families* of questions. A family asks one thing; each time it is asked, a *question* with other
numbers is made from it. Marking what was typed gives a *mark*: a credit, and the misconceptions that it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

Generator = Callable[[Random], Mapping[str, Any]]

# What a question asks for, whatever its topic, and how a report calls that.
FACETS = {
    "why": "why things are built as they are",
    "maths": "working things out",
    "shapes": "shapes",
    "counting": "counting",
    "code": "reading code",
    "experiment": "reading an experiment",
}


@dataclass(frozen=True)
class Misconception:
    """A common wrong idea: `says` completes "you ...", `command` is what helps against it."""

    id: str
    says: str
    suggests: str
    command: str


@dataclass(frozen=True)
class KeyPoint:
    """One observable point of a full answer to an open question."""

    id: str
    says: str


@dataclass(frozen=True)
class Trap:
    """A typical wrong claim: "did you write this?" `fix` says what is right."""

    id: str
    claims: str
    fix: str
    misconception: str = ""


@dataclass(frozen=True)
class OpenQuestion:
    """A question to answer in one's own words; the learner marks the answer point by point."""

    number: int
    topic: str
    asks: str
    key_points: tuple[KeyPoint, ...]
    traps: tuple[Trap, ...]
    model_answer: str


@dataclass(frozen=True)
class Family:
    """One thing to ask. `fields` are those of its kind, from the TOML; a generator's values replace them.

    `counts_for` is the topic to which its answers are evidence. `same_as` is another family that asks the same thing:
    a session asks one of the two, and one counts. `few` says that it has few variants, soon known by heart.
    """

    id: str
    topic: str
    kind: str
    fields: Mapping[str, Any]
    generator: str = ""
    audits: tuple[str, ...] = ()  # ids of the key points that a right answer supports
    feedback: Mapping[str, str] = field(default_factory=dict)  # misconception -> what to say about it here
    facet: str = ""  # one of FACETS; "" where the course names none
    counts_for: str = ""
    same_as: str = ""
    few: bool = False

    @property
    def is_static(self) -> bool:
        return self.few or not self.generator

    @property
    def generated(self) -> bool:
        return bool(self.generator)

    @property
    def idea(self) -> str:
        """The id that families which ask the same thing share."""
        return self.same_as or self.id


@dataclass(frozen=True)
class Topic:
    """What one file of questions covers.

    `lesson` is where it is taught. A topic that only collects what families of other topics count for has no families.
    """

    name: str
    title: str
    lesson: str
    families: tuple[Family, ...]
    misconceptions: tuple[Misconception, ...]
    path: Path
    open: OpenQuestion | None = None


@dataclass(frozen=True)
class Option:
    """One option. `tag` is the misconception shown by a wrong decision on it."""

    text: str
    right: bool = False
    tag: str = ""


@dataclass(frozen=True)
class Wrong:
    """A common wrong answer, and the misconception behind it."""

    tag: str
    value: Any


@dataclass(frozen=True)
class Question:
    """A family with its numbers filled in, ready to be asked."""

    family: str
    topic: str
    kind: str
    attempt: int
    text: str
    answer: Any
    guess: float  # the credit that guessing earns on average
    explain: str
    code: str = ""
    options: tuple[Option, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    feedback: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)  # of its kind
    values: Mapping[str, Any] = field(default_factory=dict)  # the numbers that were drawn
    prove: str = ""  # lines of torch that show the answer

    @property
    def parts(self) -> list[str]:
        """What is asked for one by one: the names of shapes, or the left sides of pairs."""
        return list(self.details.get("blanks", self.details.get("lefts", ())))


@dataclass(frozen=True)
class Mark:
    """What an answer earned. `credit` is from 0 to 1; `tags` are the misconceptions it shows; `right` is the answer."""

    credit: float
    right: str
    tags: tuple[str, ...] = ()
    says: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        return self.credit >= 1.0

    def is_partly_right(self, question: Question) -> bool:
        """Return True if something was earned, and no less than by guessing."""
        return self.credit > 0 and self.credit >= question.guess


class Unreadable(ValueError):
    """What was typed is no answer to this kind of question. The message says how to type one; it costs nothing."""
