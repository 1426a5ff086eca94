"""What of the reference may stand in the place of an expression."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grader.judge.tracing.matching import Matcher, Right
from grader.judge.tracing.trace import Step, is_number
from grader.judge.values.compare import is_array, is_tensor, same, to_numpy
from grader.worker.watch.watched_source import AFTER


@dataclass(frozen=True)
class Trial:
    """Values to put in the place of a step in each pass.

    Attributes:
        index: The first pass that they change.
        is_sure: What was before is right as far as it goes, so what goes wrong is here.
    """

    index: int
    right: Right
    values: list[Any]
    is_sure: bool = False


def find_replacements(matcher: Matcher, passes: Sequence[int]) -> Iterator[tuple[Right, list[Any]]]:
    """Yield what may stand in the place of an expression, in each of its passes."""
    step = matcher.trace.steps[passes[0]]
    for right in matcher.right:
        if is_number(right.value) or is_number(step.value):
            if len(passes) == 1 and _is_other_number(matcher, passes[0], right):
                yield right, [right.value]
        elif is_array(right.value) and is_array(step.value):
            found = _arrays(step, right, right is matcher.right[-1]) if len(passes) == 1 else None
            for values in found or _arrays_by_pass(step, right, len(passes)):
                yield right, values


def _is_other_number(matcher: Matcher, index: int, right: Right) -> bool:
    step = matcher.trace.steps[index]
    if type(right.value) is not type(step.value) or step.place.kind == "Compare":
        return False
    match = matcher.equal(index) if right.is_derived else None  # what the reference has needs nothing derived
    return match is None or match.right.is_derived


def _arrays(step: Step, right: Right, is_last: bool) -> Iterator[list[Any]]:
    value = _cast(right.value, step.value)
    if step.place.names or math.prod(value.shape) == math.prod(step.value.shape):
        yield [value]
    if is_last and not same(value, right.value, 0.0):
        yield [right.value]


def _arrays_by_pass(step: Step, right: Right, count: int) -> Iterator[list[Any]]:
    if step.place.kind == AFTER:
        yield [right.value] * count
        return
    for values in ([*right.passes], *slices_along(right.value, count)):
        if len(values) == count and values[0].shape == step.value.shape:
            yield values


def _cast(value: Any, like: Any) -> Any:
    """Return an array of the reference's as an array of another's kind of numbers."""
    if is_tensor(value) != is_tensor(like):
        return value
    kinds = to_numpy(value).dtype.kind, to_numpy(like).dtype.kind
    if kinds[0] != "b" or kinds[0] == kinds[1]:
        return value
    return value.to(like.dtype) if is_tensor(value) else value.astype(like.dtype)


def slices_along(value: Any, count: int) -> Iterator[list[Any]]:
    """Yield the slices of an array along each axis of that size, without the axis and with it."""
    for axis, size in enumerate(value.shape):
        if size == count:
            before = (slice(None),) * axis
            yield [value[(*before, place)] for place in range(count)]
            yield [value[(*before, slice(place, place + 1))] for place in range(count)]
