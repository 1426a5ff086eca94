"""A call of a function as a probe makes it, to be made again with one input changed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from grader.judge.diagnosis.ask_again import ask_again
from grader.judge.diagnosis.mistake_outputs import MistakeOutputs
from grader.judge.processes.remote_module import CallableModule
from grader.judge.transcript.transcript import Exchange
from grader.judge.values.compare import is_array, is_tensor
from grader.judge.values.scale_patterns import Sizes

MAX_INPUTS = 24  # of a call that are changed

Place = tuple[int, str, Any]  # the number of an exchange, an entry of its content, a place in that


@dataclass(frozen=True)
class ChangedCall:
    """A call of the function as a probe makes it, with what comes before it."""

    outputs: MistakeOutputs
    subject: CallableModule
    exchanges: Sequence[Exchange]

    @cached_property
    def inputs(self) -> dict[Place, tuple[str, Any]]:
        """By place, the name and value of each array that is given."""
        arrays = {place: given for place, given in self.given.items() if is_array(given[1])}
        return dict(itertools.islice(arrays.items(), MAX_INPUTS))

    @cached_property
    def given(self) -> dict[Place, tuple[str, Any]]:
        """By place, the name and value of each argument and of each parameter."""
        found: dict[Place, tuple[str, Any]] = {}
        for number, exchange in enumerate(self.exchanges):
            given: dict[str, Mapping[Any, Any]] = {"state": exchange.content.get("state") or {}}
            names: dict[Any, str] = {}
            if exchange.operation == "call":
                names = dict(enumerate(self.outputs.mistake_set.parameters))
                args = exchange.content["args"]
                given |= {"args": dict(enumerate(args)), "kwargs": exchange.content["kwargs"]}
            for entry, values in given.items():
                for key, value in values.items():
                    found[number, entry, key] = (names.get(key, str(key)), value)
        return found

    @cached_property
    def sizes(self) -> Sizes:
        """What each size is: of the last axes first."""
        axes = {-1: "the last axis", -2: "the last axis but one", 0: "the first axis"}
        found: dict[int, str] = {}
        for axis, words in axes.items():
            for name, value in self.inputs.values():
                if value.ndim >= max(1, -axis):
                    found.setdefault(value.shape[axis], f"{words} of `{name}`")
        for name, value in self.given.values():
            if type(value) is int:
                found.setdefault(value, f"`{name}`")
        return found

    @cached_property
    def answers(self) -> tuple[Any, Any]:
        """The reference's answer and the submission's."""
        return self.ask({})

    def ask(self, changes: Mapping[Place, Any]) -> tuple[Any, Any]:
        """Return the reference's answer and the submission's to the call with other inputs. Raises LearnerError."""
        exchanges = list(self.exchanges)
        for (number, entry, key), value in changes.items():
            old = exchanges[number].content[entry]
            items = {**(dict(enumerate(old)) if isinstance(old, list) else old), key: value}
            new = list(items.values()) if isinstance(old, list) else items
            exchanges[number] = replace(exchanges[number], content={**exchanges[number].content, entry: new})
        reference = self.outputs.subject_with(())
        both = [ask_again(each, exchanges, self.outputs.mistake_set.read) for each in (reference, self.subject)]
        if isinstance(both[0], list):  # several observations; or one, in which a list is right
            both = [answer[-1] if isinstance(answer, list) and answer else answer for answer in both]
        return both[0], both[1]


def other(value: Any, step: float = 1.0) -> Any:
    """Return an array of the same shape and kind with other values: in no order that an answer may not depend on."""
    kind = str(value.dtype)
    if "bool" in kind:
        return ~value
    flat = value.reshape(-1)
    steps = [math.sin(step + index**1.5) for index in range(len(flat))]
    if "float" in kind:
        return (flat + _like(value, steps)).reshape(value.shape)
    return ((flat + _like(value, [float(each > 0) for each in steps])) % (flat.max() + 1)).reshape(value.shape)


def other_at_end(value: Any, axis: int) -> Any:
    """Return an array with other values in the last slice along an axis."""
    moved = (value.clone() if is_tensor(value) else value.copy()).swapaxes(0, axis)
    moved[-1] = other(moved[-1])
    return moved.swapaxes(0, axis)


def identity_like(value: Any) -> Any:
    """Return identities as wide as an array is high, as many of them as it has matrices."""
    size = value.shape[-2]
    rows = [[float(row == column) for column in range(size)] for row in range(size)]
    import numpy

    whole = numpy.broadcast_to(numpy.array(rows), (*value.shape[:-2], size, size))
    return _like(value, whole.ravel().tolist()).reshape(whole.shape)


def _like(value: Any, numbers: list[float]) -> Any:
    """Return numbers as a flat array of another one's kind and dtype."""
    if is_tensor(value):
        return value.new_tensor(numbers)
    import numpy

    return numpy.array(numbers, dtype=value.dtype)
