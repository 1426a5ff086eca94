"""Replay a transcript: answer a check's requests and draws from what was recorded.

Requests need not come in the order in which they were recorded. A call of a function is recognised by its arguments.
An object's answers depend on what was done to it before: the requests about one object, and about the objects that
were made with it, must come in their order; an object may be left out altogether (a check may remember what it learnt
in an earlier run).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from grader.errors import GraderError
from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import CallableModule, LocalModule
from grader.judge.transcript.transcript import Exchange, Transcript, describe_draw
from grader.judge.values.compare import same
from grader.judge.values.random_inputs import Rand
from grader.worker.arrays import duplicate, map_leaves
from grader.worker.wire import Handle

# What a check computes from its draws may be rounded otherwise on the machine where a release is used.
ROUNDING = 1e-6


class NotRecorded(GraderError):
    """A check asked for something that was not recorded."""


class Player(CallableModule):
    """Gives recorded answers.

    Args:
        atol: How far inputs may be from the recorded ones: another machine may round what a check computes otherwise.
    """

    def __init__(self, kinds: Mapping[str, str], exchanges: Sequence[Exchange], atol: float = 0.0) -> None:
        super().__init__(kinds)
        self._exchanges, self._atol = exchanges, atol
        self._played: set[int] = set()
        self._in_order = True  # so far
        self.parted = False  # a request was not in the recording, whatever the check made of the error

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        """Return the recorded answer. Raises NotRecorded for another request."""
        for index in self._candidates():
            recorded = self._exchanges[index]
            if recorded.operation == operation and same(content, recorded.content, self._atol):
                self._played.add(index)
                return self._answer(recorded)
        self.parted = True
        target = content.get("target", content.get("name", ""))
        what = f"`{target}`" if isinstance(target, str) and target else "the reference"
        raise NotRecorded(
            "This check's answers were recorded for other inputs than those it has now "
            f"(it asks {what} to {operation})."
        )

    def _answer(self, exchange: Exchange) -> dict[str, Any]:
        if isinstance(exchange.answer, LearnerError):
            raise exchange.answer.copy()
        return duplicate(exchange.answer)  # type: ignore[no-any-return]

    def _candidates(self) -> Iterator[int]:
        """Yield the indices of the exchanges that may come now: first the next one, which it mostly is."""
        following = len(self._played)
        if self._in_order and following < len(self._exchanges):
            yield following
        self._in_order = False
        yield from filter(self._may_come, range(len(self._exchanges)))

    def _may_come(self, index: int) -> bool:
        group = self._group_of.get(index)
        return group is None or next((other for other in group if other not in self._played), None) == index

    @cached_property
    def _group_of(self) -> dict[int, tuple[int, ...]]:
        return {index: group for group in _groups(self._exchanges) for index in group}


class AnsweredModule(LocalModule):
    """One of our own modules of which the replies to some transcripts are known."""

    def __init__(
        self,
        namespace: Mapping[str, Any],
        kinds: Mapping[str, str],
        replies: Mapping[Transcript, Sequence[Exchange]],
    ) -> None:
        super().__init__(namespace, kinds)
        self._replies = replies

    def replay(
        self, transcript: Transcript, run: Callable[[CallableModule, CallableModule], BaseException | None]
    ) -> tuple[bool, BaseException | None]:
        """Run a check over the replies to its transcript: as `PrefetchedModule.replay`.

        It need not run where they are the reference's, which passes it.
        """
        replies = self._replies.get(transcript)
        if replies is None:
            return False, None
        if same([each.answer for each in replies], [each.answer for each in transcript.submission], 0.0):
            return True, None
        player, reference = Player(self._kinds, replies), Player(self._kinds, transcript.reference)
        error = run(player, reference)
        self.last_call, self.last_value = player.last_call, player.last_value
        return not (player.parted or reference.parted), error


def _groups(exchanges: Sequence[Exchange]) -> list[tuple[int, ...]]:
    """Group the indices of exchanges about one object and the objects made with it; calls of functions are in none."""
    groups: list[tuple[set[int], list[int]]] = []  # handles, indices
    for index, exchange in enumerate(exchanges):
        handles = _handles_of(exchange)
        if exchange.operation == "events":  # it tells of all objects
            handles |= {handle for known, _ in groups for handle in known} or {0}
        if not handles:
            continue
        touched = [group for group in groups if group[0] & handles]
        groups = [group for group in groups if not group[0] & handles]
        merged = sorted(number for _, numbers in touched for number in numbers)
        groups.append((handles.union(*(known for known, _ in touched)), [*merged, index]))
    return [tuple(numbers) for _, numbers in groups]


def _handles_of(exchange: Exchange) -> set[int]:
    """Return the numbers of the objects that an exchange is about, with the one that it made."""
    parts = (exchange.content, exchange.answer)
    found = {int(part["handle"]) for part in parts if isinstance(part, Mapping) and "handle" in part}
    map_leaves(exchange.content, lambda leaf: found.add(leaf.number) if isinstance(leaf, Handle) else None)
    return found


class PlayedRand(Rand):
    """Gives recorded draws in their order. Raises NotRecorded for any other draw."""

    def __init__(self, seed: int, arrays: str, draws: Sequence[tuple[str, Any]]) -> None:
        self.seed, self.arrays = seed, arrays
        self._coming = iter(draws)

    def _draw(self, kind: str, *parts: Any) -> Any:
        asked = describe_draw(kind, *parts)
        recorded, value = next(self._coming, ("", None))
        if recorded != asked:
            raise NotRecorded(f"This check's inputs were recorded otherwise than it draws them now ({asked}).")
        return duplicate(value)
