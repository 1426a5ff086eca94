"""The reference as it was recorded: a release for learners compares with its answers, and does not hold the reference.

For one run of one check on one seed a `Story` keeps what `rand` drew, and what the reference was asked and answered:
once as the reference, once in the place of a submission. The draws are kept too, and not made again from the seed:
they may differ in the last bit from machine to machine.

What is played back need not be asked in the order in which it was recorded. A call of a function is recognised by its
arguments. An object's answers depend on what was done to it before, so what was asked of one object, and of those that
were made with it, has to be asked in the same order again; an object may be left out altogether (a check may remember
what it learnt in an earlier run).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.errors import GraderError
from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import LocalSubject, Subject
from grader.judge.values.compare import same
from grader.judge.values.random_inputs import Rand
from grader.worker.arrays import duplicate, map_leaves
from grader.worker.wire import Handle

# Inputs that a check computes from its draws may be rounded in another way on another machine.
ROUNDING = 1e-6


class NotRecorded(GraderError):
    """A check asked for something that was not recorded."""


@dataclass(frozen=True)
class Exchange:
    """One request to the reference, and what it answered."""

    act: str
    content: dict[str, Any]
    answer: dict[str, Any] | LearnerError


@dataclass
class Story:
    """One run of one check. `draws`: what was asked of `rand`, in words, and what it gave."""

    draws: list[tuple[str, Any]] = field(default_factory=list)
    reference: list[Exchange] = field(default_factory=list)
    submission: list[Exchange] = field(default_factory=list)


# --- recording --------------------------------------------------------------------------------------------------------


class Recorder(Subject):
    """One of our own modules, of which every answer is written down."""

    def __init__(self, subject: LocalSubject, kinds: Mapping[str, str], exchanges: list[Exchange]) -> None:
        super().__init__(kinds)
        self._subject, self._exchanges = subject, exchanges

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        asked = duplicate(content)
        try:
            answer = self._subject.ask(act, **content)
        except LearnerError as error:
            self._exchanges.append(Exchange(act, asked, error))
            raise
        self._exchanges.append(Exchange(act, asked, duplicate(answer)))
        return answer


class RecordedRand(Rand):
    """Random inputs that are written down as they are drawn."""

    def __init__(self, rand: Rand, draws: list[tuple[str, Any]]) -> None:
        self.seed, self.arrays = rand.seed, rand.arrays
        self._rand, self._draws = rand, draws

    def __call__(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        return self._keep(_drawn(shape, scale, dtype), self._rand(*shape, scale=scale, dtype=dtype))

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """As `Rand.integers`."""
        return self._keep(_drawn("integers", low, high, shape), self._rand.integers(low, high, *shape))

    def mask(self, *shape: int, keep: float = 0.6) -> Any:
        """As `Rand.mask`."""
        return self._keep(_drawn("mask", shape, keep), self._rand.mask(*shape, keep=keep))

    def _keep(self, what: str, value: Any) -> Any:
        self._draws.append((what, duplicate(value)))
        return value


def _drawn(*what: Any) -> str:
    """A draw in words, by which it is known again."""
    return " ".join(map(str, what))


# --- playing ----------------------------------------------------------------------------------------------------------


class Player(Subject):
    """Gives the answers that were recorded. Raises NotRecorded for any other question."""

    def __init__(self, kinds: Mapping[str, str], exchanges: Sequence[Exchange]) -> None:
        super().__init__(kinds)
        self._exchanges = exchanges
        self._chapter_of = {index: chapter for chapter in _chapters(exchanges) for index in chapter}
        self._played: set[int] = set()

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        for index, known in enumerate(self._exchanges):
            if known.act == act and self._is_next(index) and same(content, known.content, ROUNDING):
                return self._play(index)
        target = content.get("target", content.get("name", ""))
        what = f"`{target}`" if isinstance(target, str) and target else "the reference"
        raise NotRecorded(
            f"This check's answers were recorded for other inputs than those it has now (it asks {what} to {act})."
        )

    def _is_next(self, index: int) -> bool:
        """Whether an exchange is of a function alone, or is what comes next in its chapter."""
        chapter = self._chapter_of.get(index)
        return chapter is None or next((other for other in chapter if other not in self._played), None) == index

    def _play(self, index: int) -> dict[str, Any]:
        self._played.add(index)
        answer = self._exchanges[index].answer
        if isinstance(answer, LearnerError):
            raise answer
        return duplicate(answer)  # type: ignore[no-any-return]


def _chapters(exchanges: Sequence[Exchange]) -> list[tuple[int, ...]]:
    """Which exchanges belong together, by their numbers: those about one object and the objects made with it. What is
    asked of a function alone belongs to none."""
    groups: list[tuple[set[int], list[int]]] = []  # handles, exchanges
    for index, exchange in enumerate(exchanges):
        handles = set(_handles_of(exchange))
        if exchange.act == "events":  # tells of every object there is
            handles |= {handle for known, _ in groups for handle in known} or {0}
        if not handles:
            continue
        touched = [group for group in groups if group[0] & handles]
        groups = [group for group in groups if not group[0] & handles]
        merged = sorted(number for _, numbers in touched for number in numbers)
        groups.append((handles.union(*(known for known, _ in touched)), [*merged, index]))
    return [tuple(numbers) for _, numbers in groups]


def _handles_of(exchange: Exchange) -> Iterator[int]:
    """The numbers of the objects that an exchange is about; the one that it made is among them."""
    for content in (exchange.content, exchange.answer):
        if isinstance(content, dict) and "handle" in content:
            yield int(content["handle"])
    found: list[int] = []
    map_leaves(exchange.content, lambda leaf: found.append(leaf.number) if isinstance(leaf, Handle) else None)
    yield from found


class PlayedRand(Rand):
    """Gives the draws that were recorded, in their order. Raises NotRecorded for any other."""

    def __init__(self, seed: int, arrays: str, draws: Sequence[tuple[str, Any]]) -> None:
        self.seed, self.arrays = seed, arrays
        self._coming = iter(draws)

    def __call__(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        return self._recorded(_drawn(shape, scale, dtype))

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """As `Rand.integers`."""
        return self._recorded(_drawn("integers", low, high, shape))

    def mask(self, *shape: int, keep: float = 0.6) -> Any:
        """As `Rand.mask`."""
        return self._recorded(_drawn("mask", shape, keep))

    def _recorded(self, what: str) -> Any:
        known, value = next(self._coming, ("", None))
        if known != what:
            raise NotRecorded(f"This check's inputs were recorded otherwise than it draws them now ({what}).")
        return duplicate(value)
