"""Find in one traced call the step that has what the mistaken reference has where a mistake is made."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from grader.judge.mistakes.changed_parts import Part, covers
from grader.judge.tracing.matching import is_equal
from grader.judge.tracing.relations import is_close, is_reshaped
from grader.judge.tracing.replacements import slices_along
from grader.judge.tracing.trace import Request, Step, Trace, is_number
from grader.judge.tracing.wrong_line import LineFinder
from grader.judge.values.compare import is_array, to_numpy
from grader.worker.arrays import map_leaves
from grader.worker.watch.watched_source import AFTER, RETURN, Place

MIN_SLICES = 3  # of a value, which fewer passes may give by chance
EXACT = 2e-6  # of a value: what rounding of float32 leaves apart


def changing_argument(trace: Trace, request: Request) -> int | None:
    """Return the first step that changes an array of the arguments in place."""
    arguments: list[Any] = []
    map_leaves([request["args"], request["kwargs"]], arguments.append)
    given = {
        step.made
        for step in trace.steps
        if step.given and is_array(step.value) and any(is_equal(step.value, each) for each in arguments)
    }
    for index, step in enumerate(trace.steps):
        is_method = step.place.kind == "Call" and step.place.name.endswith("_")
        if step.made in given and (is_method or step.place.kind == AFTER):
            return index
    return None


class StepOfMistake:
    """Looks in one traced call for what a mistaken version of the reference has in it."""

    def __init__(self, finder: LineFinder, mistaken: Trace, parts: Sequence[Part]) -> None:
        self.finder, self.steps = finder, finder.trace.steps
        self.mistaken, self.parts = mistaken, parts
        self.looked_for = -1  # the place of what the submission has of the mistaken version's
        self.changed = {step.place.statement for step in mistaken.steps if self._is_changed(step.place)}

    def find(self) -> int | None:
        """Return the step of the submission that gives what the mistake gives; None if that is not certain."""
        if not self.steps:  # all of it runs in another file
            return None
        steps = self.mistaken.steps
        wrong = [index for index, step in enumerate(steps) if _tells(step.value) and not self._is_right(step.value)]
        whole = [index for index in wrong if steps[index].place.names]
        before = range(len(steps)) if not whole else self._made_of(whole[0])
        changed = [index for index in before if self._place(index).statement in self.changed]
        if not changed or (not whole and len({self._place(index).statement for index in changed}) > 1):
            return None
        if not wrong and {self._place(index).names for index in self._whole(changed)} == {(RETURN,)}:
            return self._returning_another()
        if not whole or whole[0] not in changed:
            kept = self._kept_of_step(changed[-1])
            if len(kept) == 1 or not whole or not self._takes_another(changed[-1]):
                return kept[0] if len(kept) == 1 else None
        return self._first_given((*self._changed_part(wrong, whole[0]), *whole), wrong)

    def _first_given(self, targets: Sequence[int], wrong: Sequence[int]) -> int | None:
        """Return the step that gives the first of what the mistaken version has there that is given at all."""
        steps = self.mistaken.steps
        for target in targets:
            value = steps[target].value
            slices = self._giving_slices(value)
            if hits := self._giving(value) or slices:
                self.looked_for = steps[target].number
                count = [len(self._passes(hits[0]))] if hits == slices else []  # is right, or there were no such slices
                if sum(step.place.kind != "Name" and _is_exact(step.value, value) for step in steps) == 1:
                    hits = self._without_copies(hits)
                return self._certain(hits, [*self._inside(target, wrong), *count])
        return None

    def _is_changed(self, place: Place) -> bool:
        """Return True for an expression that has a changed part in it, or is in one."""
        return any(covers(part.span, place.span) or covers(place.span, part.span) for part in self.parts)

    def _place(self, index: int) -> Place:
        return self.mistaken.steps[index].place

    def _made_of(self, index: int) -> list[int]:
        """Return the steps of the mistaken version of which one was made, and those that only name one of these."""
        made_of, steps = self.mistaken.ancestors(index), self.mistaken.steps
        objects = {steps[other].made for other in made_of} - {0}
        return [other for other in range(index + 1) if other in made_of or steps[other].made in objects]

    def _passes(self, index: int) -> Sequence[int]:
        return self.finder.trace.passes[self.steps[index].number]

    def _whole(self, indices: Sequence[int]) -> list[int]:
        return [index for index in indices if self._place(index).parent < 0]

    def _returning_another(self) -> int | None:
        """Return the last step if what is due could be returned there, and other values of the reference are."""
        last = self.steps[-1].place
        latest: dict[str, Any] = {}
        for step in self.steps:
            latest |= {name: step.value for name in step.place.names if step.place.function == last.function}
        inside = [step.value for step in self.steps if step.place.statement == last.statement]
        due = self.finder.expected
        entries = [*due.values()] if isinstance(due, dict) else due if isinstance(due, list | tuple) else [due]
        at_hand = [*latest.values(), *inside]
        is_due = entries and all(any(is_equal(each, value) for value in at_hand) for each in entries)
        return len(self.steps) - 1 if is_due and last.names == (RETURN,) else None

    def _kept_of_step(self, index: int) -> list[int]:
        """Return the statements that keep what is only a part of the reference's step, where a mistake stops there."""
        value = self.mistaken.steps[index].value
        equal = [right for right in self.finder.right if is_equal(right.value, value)]
        if not _tells(value) or not equal or any(right.name or right.mark for right in equal):
            return []
        return [
            other
            for other, step in enumerate(self.steps)
            if step.place.parent < 0 and step.place.kind != "Name" and is_equal(step.value, value)
        ]

    def _takes_another(self, index: int) -> bool:
        """Return True if a changed step has another named value of the reference, which the submission names once.

        Then what is wrong is that it is used: no line of the submission makes it anew.
        """
        value = self.mistaken.steps[index].value
        if not _tells(value) or not any(right.name and is_equal(right.value, value) for right in self.finder.right):
            return False
        later = self.mistaken.steps[index + 1 :]
        is_used = any(
            step.place.kind == "Name"
            and step.place.name not in self._place(index).names
            and is_equal(step.value, value)
            for step in later
        )  # else it may as well be made wrongly
        return is_used and _count_named(self.steps, value) < _count_named(self.mistaken.steps, value)

    def _inside(self, target: int, wrong: Sequence[int]) -> list[Any]:
        """Return what changed expressions have in them that is wrong, up to a step."""
        spans = [(self.mistaken.steps[each].value, self._place(each).span) for each in wrong if each <= target]
        return [value for value, span in spans if any(covers(part.span, span) for part in self.parts)]

    def _changed_part(self, wrong: Sequence[int], whole: int) -> list[int]:
        """Return the step of a changed part that alone is wrong in its statement: with it all that follows is right."""
        place, spans = self._place(whole), {part.span for part in self.parts if part.is_alike}
        return [
            index
            for index in wrong
            if index <= whole and self._place(index).span in spans and self._place(index).function == place.function
        ][:1]

    def _is_right(self, value: Any) -> bool:
        return any(is_equal(value, right.value) for right in self.finder.right)

    def _giving(self, value: Any) -> list[int]:
        """Return the steps that give a value which the reference does not have; if none does, that in another shape.

        Of steps that give it but for rounding none counts that gives it but for a small number.
        """
        for is_it in (is_equal, _is_reshaped):
            found = [
                index
                for index, step in enumerate(self.steps)
                if not step.passed_on
                and _tells(step.value)
                and is_it(step.value, value)
                and not self.finder.matcher.equal(index)
            ]
            if found:
                break
        return [index for index in found if _is_exact(self.steps[index].value, value)] or found

    def _giving_slices(self, value: Any) -> list[int]:
        """Return the first passes of steps that give a value slice by slice, one in each pass."""
        if not is_array(value):
            return []
        return [
            passes[0]
            for passes in self.finder.trace.passes.values()
            if len(passes) >= MIN_SLICES
            and any(
                all(_is_slice(self.steps[index].value, part) for index, part in zip(passes, parts, strict=True))
                for parts in slices_along(value, len(passes))
            )
        ]

    def _without_copies(self, hits: Sequence[int]) -> list[int]:
        """Return the first of some steps of one value, and those that were not made of it."""
        return [each for each in hits if each == hits[0] or hits[0] not in self.finder.trace.ancestors(each)]

    def _certain(self, hits: Sequence[int], known: Sequence[Any]) -> int | None:
        """Return the first of some steps if what goes before it is right, or is of the mistake as well."""
        index, line = hits[0], self.finder.line(hits[0])
        place, passes = self.steps[index].place, self._passes(index)
        again = (
            other
            for other in hits[1:]
            if self.steps[other].place.kind != "Name" and self.steps[other].place.function == place.function
        )
        earlier = (other for other in passes if other < index and self.steps[other].part == self.steps[index].part)
        is_of_helper = place.function != self.steps[-1].place.function
        if is_of_helper and any(self.finder.matcher.equal(other) for other in passes if other < index):
            return self.finder.call_of(index)  # it was right for an earlier call
        is_filled = place.kind == AFTER and index == passes[-1]
        if any(self.finder.line(other) != line for other in again) or (not is_filled and [*earlier]):
            return None  # which of both is meant is not known, or an earlier pass through it was right
        if is_filled and any(map(self._is_other_count, self._elsewhere(index))):
            return None  # what a loop leaves out is no fault of the line in it
        before = [*self.finder.doubtful(index), *filter(self._is_off, self.finder.trace.ancestors(index))]
        doubtful = (self.steps[other].value for other in before if self.finder.line(other) != line)
        if not all(any(is_equal(value, each) for each in known) for value in doubtful):
            return None
        if any(map(self._is_changed_size, self._elsewhere(index))):
            return None
        return self._of_helper(index, passes) if is_of_helper else index

    def _is_off(self, index: int) -> bool:
        """Return True if a step is one of the reference's but for a factor or a shift, and its statement is as well."""
        match, place = self.finder.matcher.match(index), self.steps[index].place
        if match is None or not any(word in match.relation for word in (" times", " plus")):
            return False
        whole = (other for other, step in enumerate(self.steps) if step.place.parent < 0 and other >= index)
        ends = (other for other in whole if self.steps[other].place.statement == place.statement)
        return (end := next(ends, None)) is None or not self.finder.matcher.equal(end)

    def _elsewhere(self, index: int) -> Iterator[int]:
        """Yield the steps on other lines of which one was made."""
        line = self.finder.line(index)
        return (other for other in self.finder.trace.ancestors(index) if self.finder.line(other) != line)

    def _is_other_count(self, index: int) -> bool:
        """Return True for a whole number that the reference does not have."""
        return type(self.steps[index].value) is int and not self.finder.matcher.equal(index)

    def _is_changed_size(self, index: int) -> bool:
        """Return True for a whole number with a name, which a changed expression of the mistake has, too."""
        step = self.steps[index]
        if type(step.value) is not int or not step.place.names or self._is_right(step.value):
            return False
        alike = (each for each in self.mistaken.steps if type(each.value) is int and each.value == step.value)
        return any(self._is_changed(each.place) for each in alike)

    def _of_helper(self, index: int, passes: Collection[int]) -> int | None:
        """Return a step in a function of the submission's own, or the call of that if it is right in another one."""
        function = self.steps[index].place.function
        given = (
            other
            for other in self.finder.trace.ancestors(index)
            if self.steps[other].place.kind == "Name" and self.steps[other].place.function == function
        )
        if any(map(self._is_other_count, given)):
            return None  # a size that the reference does not have
        is_right_elsewhere = any(self.finder.matcher.equal(other) for other in passes)
        return self.finder.call_of(index) if is_right_elsewhere else index


def _tells(value: Any) -> bool:
    """Return True for a value that is hardly another's by chance: a fraction, or an array of different numbers."""
    if not is_array(value):
        return type(value) is float
    numbers = to_numpy(value)
    if numbers.size == 1:
        return bool(numbers.dtype.kind == "f")
    return bool(numbers.size and not (numbers == numbers.flat[0]).all())


def _count_named(steps: Sequence[Step], value: Any) -> int:
    """Return how many statements give a variable this value."""
    return len(
        {step.number for step in steps if step.place.names not in ((), (RETURN,)) and is_equal(step.value, value)}
    )


def _is_reshaped(value: Any, other: Any) -> bool:
    if not is_array(value) or not is_array(other):
        return False
    one, two = to_numpy(value), to_numpy(other)
    return one.size >= MIN_SLICES and is_reshaped(one, two)


def _is_exact(value: Any, other: Any) -> bool:
    """Return True for the same numbers in the same order, but for rounding, in any shape."""
    if not is_array(value) or not is_array(other):
        return type(value) is type(other) is float and abs(value - other) <= EXACT * abs(other)
    one, two = to_numpy(value), to_numpy(other)
    return one.size == two.size and is_close(one.reshape(two.shape), two, EXACT, 0.0)


def _is_slice(value: Any, part: Any) -> bool:
    """Return True for a slice of an array, or a number for that of one axis."""
    if is_number(value) and type(value) is not bool:
        return math.prod(part.shape) == 1 and bool(abs(part.item() - value) <= EXACT * abs(value))
    return is_array(value) and is_equal(value, part)
