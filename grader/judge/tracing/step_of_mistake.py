"""Find in one traced call the step that has what the mistaken reference has where a mistake is made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from grader.judge.mistakes.changed_parts import Part, Span
from grader.judge.tracing.matching import is_equal
from grader.judge.tracing.trace import Trace
from grader.judge.tracing.wrong_line import LineFinder
from grader.judge.values.compare import is_array, to_numpy
from grader.worker.watch.watched_source import Place


class StepOfMistake:
    """Looks in one traced call for what a mistaken version of the reference has in it."""

    def __init__(self, finder: LineFinder, mistaken: Trace, parts: Sequence[Part]) -> None:
        self.finder, self.steps = finder, finder.trace.steps
        self.mistaken, self.parts = mistaken, parts
        self.changed = {step.place.statement for step in mistaken.steps if self._is_changed(step.place)}

    def find(self) -> int | None:
        """Return the step of the submission that gives what the mistake gives; None if that is not certain."""
        steps = self.mistaken.steps
        wrong = [index for index, step in enumerate(steps) if _tells(step.value) and not self._is_right(step.value)]
        whole = [index for index in wrong if steps[index].place.names]
        changed = [
            index
            for index in (sorted(self.mistaken.ancestors(whole[0])) if whole else range(len(steps)))
            if self._place(index).statement in self.changed
        ]
        if not changed or (not whole and len({self._place(index).statement for index in changed}) > 1):
            return None
        if not whole or whole[0] not in changed:
            kept = self._kept_of_step(changed[-1])
            return kept[0] if len(kept) == 1 else None
        for target in (*self._changed_part(wrong, whole[0]), *whole):
            hits = [index for index in range(len(self.steps)) if self._gives(index, steps[target].value)]
            if hits:
                return self._certain(hits, self._inside(target, wrong))
        return None

    def _is_changed(self, place: Place) -> bool:
        """Return True for an expression that has a changed part in it, or is in one."""
        return any(_covers(part.span, place.span) or _covers(place.span, part.span) for part in self.parts)

    def _place(self, index: int) -> Place:
        return self.mistaken.steps[index].place

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

    def _inside(self, target: int, wrong: Sequence[int]) -> list[Any]:
        """Return what changed expressions have in them that is wrong, up to a step."""
        spans = [(self.mistaken.steps[each].value, self._place(each).span) for each in wrong if each <= target]
        return [value for value, span in spans if any(_covers(part.span, span) for part in self.parts)]

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

    def _gives(self, index: int, value: Any) -> bool:
        step = self.steps[index]
        is_it = not step.passed_on and _tells(step.value) and is_equal(step.value, value)
        return is_it and not self.finder.matcher.equal(index)

    def _certain(self, hits: Sequence[int], known: Sequence[Any]) -> int | None:
        """Return the first of some steps if what goes before it is right, or is of the mistake as well."""
        index, line = hits[0], self.finder.line(hits[0])
        place, passes = self.steps[index].place, self.finder.trace.passes[self.steps[index].number]
        again = (
            other
            for other in hits[1:]
            if self.steps[other].place.kind != "Name" and self.steps[other].place.function == place.function
        )
        earlier = (other for other in passes if other < index and self.steps[other].part == self.steps[index].part)
        if any(self.finder.line(other) != line for other in again) or next(earlier, None) is not None:
            return None  # which of both is meant is not known, or an earlier pass through it was right
        before = [*self.finder.doubtful(index), *filter(self._is_off, self.finder.trace.ancestors(index))]
        doubtful = (self.steps[other].value for other in before if self.finder.line(other) != line)
        if not all(any(is_equal(value, each) for each in known) for value in doubtful):
            return None
        if any(
            self._is_changed_size(other)
            for other in self.finder.trace.ancestors(index)
            if self.finder.line(other) != line
        ):
            return None
        return self._of_helper(index, passes) if place.function != self.steps[-1].place.function else index

    def _is_off(self, index: int) -> bool:
        """Return True if a step is one of the reference's but for a factor or a shift."""
        match = self.finder.matcher.match(index)
        return match is not None and any(word in match.relation for word in (" times", " plus"))

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
        if any(type(self.steps[other].value) is int and not self.finder.matcher.equal(other) for other in given):
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


def _covers(span: Span, part: Span) -> bool:
    return span[:2] <= part[:2] and span[2:] >= part[2:]
