"""Which value of the reference a step of a submission has, or is related to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.judge.tracing.relations import EQUAL, is_close, relate
from grader.judge.tracing.trace import Step, Trace, is_number, is_value
from grader.judge.values.compare import is_array, same, to_numpy
from grader.worker.watch.watched_source import Place
from grader.worker.wire import Opaque


@dataclass(frozen=True)
class Right:
    """A value of the reference.

    Attributes:
        index: The number of its step in time.
        name: Of its variable, empty where it has none.
        mark: That of its line.
        is_conditional: It stands under an `if`.
        is_derived: It is a number that people make of the reference's.
        made_of: Its step, those of which it was made, those of which these were made, and so on.
        given: Those of them that are arguments.
        passes: The values in each pass, of an expression that is evaluated several times.
    """

    value: Any
    index: int
    name: str
    mark: str = ""
    is_conditional: bool = False
    is_derived: bool = False
    made_of: frozenset[int] = frozenset()
    given: frozenset[int] = frozenset()
    passes: Sequence[Any] = ()


@dataclass(frozen=True)
class Match:
    """A step of the submission and the value of the reference that it is related to, with the relation in words."""

    step: int
    right: Right
    relation: str


@dataclass(frozen=True)
class WrongStep:
    """The step where right ends.

    Attributes:
        expected: The reference's value that belongs there; None if that is known only of a later step.
        found: What is there instead, where it is another value of the reference, or related to the expected one.
        before: The last step that is equal to one of the reference's.
        which_pass: Of a step that ran several times, the first that differs, from 1; 0 for a step that ran once.
        passes: How often it ran.
        number_is: What a number is that belongs there: an argument of the function, `CONSTANT` or `STEP`.
        mends: What is right with the expected value there, in words.
        is_named: It is what the step of a named mistake gives.
    """

    index: int
    expected: Right | None
    found: Match | None
    before: Match | None
    which_pass: int = 0
    passes: int = 1
    number_is: str = ""
    mends: str = ""
    is_named: bool = False


class Matcher:
    """Looks up the steps of a trace among the values of the reference."""

    def __init__(self, trace: Trace, right: Sequence[Right]) -> None:
        self.trace, self.right = trace, right
        self._matches: dict[int, Match | None] = {}
        self._equals: dict[int, Match | None] = {}

    def match(self, index: int) -> Match | None:
        """Return the value of the reference that a step is related to: an equal one if there is one."""
        if index not in self._matches:
            self._matches[index] = self.equal(index) or self._find_relation(index)
        return self._matches[index]

    def equal(self, index: int) -> Match | None:
        """Return the value of the reference that a step equals; a marked one if there is one."""
        if index not in self._equals:
            value = self.trace.steps[index].value
            equal = [right for right in self.right if is_equal(value, right.value)]
            marked = next((right for right in equal if right.mark), equal[0] if equal else None)
            self._equals[index] = Match(index, marked, EQUAL) if marked else None
        return self._equals[index]

    def goes_on(self, index: int, match: Match, expected: Right) -> bool:
        """Return True if a right step leads to another, on the way to what the reference makes of it.

        Then nothing is missing behind the first one: what is wrong comes later.
        """
        way = {*expected.made_of, expected.index}
        if match.relation != EQUAL or match.right.index not in way:
            return False
        # not by what it was made of, which is lost where a call returns several; but one argument of a call leads to
        # nothing that another one is made into
        is_argument = self.trace.steps[index].place.kind == "Name"
        later = (
            each.right
            for other in range(index + 1, len(self.trace.steps))
            if (each := self.equal(other)) and (not is_argument or index in self.trace.ancestors(other))
        )
        return any(
            each.index in way and each.index > match.right.index and _has_fractions(each.value) for each in later
        )

    def is_made_later(self, index: int, right: Right) -> bool:
        """Return True if all that becomes of a step on its way to the answer goes through this value of the reference.

        Then the step is as it should be: a factor that follows it, say, stands in the reference elsewhere.
        """
        steps, last = self.trace.steps, len(self.trace.steps) - 1
        if not is_array(right.value) or index not in self.trace.ancestors(last):
            return False
        reached = {index}
        for other in range(index + 1, last + 1):
            value = steps[other].value
            is_it = is_equal(value, right.value) and value.dtype == right.value.dtype
            if not is_it and not reached.isdisjoint(steps[other].made_from):
                reached.add(other)
        return last not in reached

    def first_wrongly_filled(self, passes: Sequence[int], expected: Any) -> int | None:
        """Return the first pass that puts something else into an array than belongs there; None if none does."""
        values = [to_numpy(self.trace.steps[each].value) for each in passes]
        if not is_array(expected) or any(each.shape != tuple(expected.shape) for each in values):
            return passes[0]
        right, pairs = to_numpy(expected), zip(passes[1:], itertools.pairwise(values), strict=True)
        return next((index for index, (old, new) in pairs if ((old != new) & (new != right)).any()), None)

    def is_known(self, step: Step) -> bool:
        """Return True for whole numbers that are mostly sizes, and for an array with one value to begin with."""
        if step.given and isinstance(step.value, Opaque):
            return step.value.type_name not in ("NoneType", "list")  # `self`
        if is_number(step.value):
            return step.given or type(step.value) is bool or (type(step.value) is int and _is_size(step.place))
        if not is_array(step.value) or not math.prod(step.value.shape):
            return False
        values = to_numpy(step.value)
        is_base = step.place.kind == "Call" and (step.made in self.trace.changed or bool(step.place.names))
        return bool((values == (values.flat[0] if is_base else 1)).all())

    def _find_relation(self, index: int) -> Match | None:
        value = self.trace.steps[index].value
        if not is_array(value):
            return None
        related = ((right, relate(value, right.value)) for right in self.right if is_array(right.value))
        found = next(((right, words) for right, words in related if words), None)
        return Match(index, *found) if found else None


def is_lost(value: Any) -> bool:
    """Return True for what is NaN throughout: it equals all else that is, and tells nothing of how it was made."""
    if type(value) is float:
        return math.isnan(value)
    if not is_array(value):
        return False
    found = to_numpy(value)
    return found.dtype.kind == "f" and bool((found != found).all())


def is_equal(value: Any, right: Any) -> bool:
    """Return True if a step's value is that of the reference."""
    if is_array(value) and is_array(right):
        return tuple(value.shape) == tuple(right.shape) and is_close(to_numpy(value), to_numpy(right))
    if is_value(value) or is_value(right):
        return type(value) is type(right) and same(value, right, 1e-9)
    return value is not None and bool(value == right)  # modules, as they describe themselves


def _has_fractions(value: Any) -> bool:
    """Return True for an array that is no mask and no table of places: those are made beside the way."""
    return is_array(value) and to_numpy(value).dtype.kind == "f"


def _is_size(place: Place) -> bool:
    """Return True where a whole number is written, or a size is asked for."""
    return place.kind in ("Subscript", "Attribute", "UnaryOp") or place.name in ("size", "len", "dim", "numel")
