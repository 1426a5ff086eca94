"""Find the line where right ends.

The function is watched on a call that it answers wrongly, and so is the reference. Then, expression by expression in
the order of time, values of the reference are put in the place of the function's own. The first expression with which
that makes the whole answer right is the one: all after it is right. It is named if all before it is known to be right
too, since each value is one of the reference's or can be made from one; else nothing is said.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from grader.judge.processes.remote_module import CallableModule
from grader.judge.tracing.answer import Answer, Path
from grader.judge.tracing.matching import Match, Matcher, Right, WrongStep, is_equal, is_lost
from grader.judge.tracing.relations import EQUAL, OPPOSITE, SLICES, relate
from grader.judge.tracing.replacements import Trial, find_replacements
from grader.judge.tracing.trace import Request, Step, Trace, exchange, is_number, size_of
from grader.judge.values.compare import is_array, same
from grader.worker.watch.watched_source import AFTER, RETURN, WHOLE
from grader.worker.wire import Opaque

MAX_TRIALS = 800
MAX_TRIALS_AT_ONCE = 60
MAX_PASSES = 64
MAX_BEGINS = 8  # passes that are tried as the first that goes wrong
MAX_ANSWER_BYTES = 256 << 10  # of the answers to some trials together
BYTES_OF_PART = 256  # that each array of an answer counts for besides: a reply may hold some thousand
MAX_SECONDS = 2.0  # of looking for what mends one call: far more than it takes, so that a verdict is the same each time


class LineFinder:
    """Compares one traced call with the reference's."""

    def __init__(self, subject: CallableModule, request: Request, trace: Trace, right: Sequence[Right]) -> None:
        self.subject, self.request, self.trace, self.right = subject, request, trace, right
        self.expected = right[-1].value
        self.until = time.monotonic() + MAX_SECONDS
        self._filled = {
            (step.place.function, step.place.statement)
            for step in trace.steps
            if step.made in trace.changed and step.place.kind == "Call" and step.place.parent < 0
        }
        self.answer = Answer(trace.returned, self.expected)
        self.by_chance: set[int] = set()  # steps in whose place a number mends this call alone
        self.is_uncertain = False  # something mends the answer, and more than one line may be to blame
        tested = {number for step in trace.steps for number in step.place.tests}
        tests = [index for index, step in enumerate(trace.steps) if step.number in tested and is_number(step.value)]
        self._counted = set().union(*map(trace.ancestors, tests))  # what decides how often a loop runs
        self.matcher = Matcher(trace, right)

    def find(self) -> WrongStep | None:
        """Return the step where right ends, in all of an answer or else in an entry; None where that is not certain."""
        found, doubts = self._find(()), self.is_uncertain
        for entry in [] if found or doubts else self.answer.wrong:
            if found := self._find(entry):
                break
            doubts |= self.is_uncertain
        self.is_uncertain |= doubts
        return found and replace(found, mends=self.answer.words)

    def _find(self, entry: Path) -> WrongStep | None:
        self.answer.entry = entry
        trial = self._find_mending()
        index = None if trial is None else trial.index if trial.is_sure else self._first_doubtful(trial.index)
        self.is_uncertain |= trial is not None and index is None
        if trial is None or index is None:
            return None
        self.is_uncertain = self._is_overwritten(index, trial.right)
        if self.is_uncertain:  # what it was given is right in itself, and no longer what belongs there
            return None
        passes = self.trace.passes[self.trace.steps[index].number]
        if len(passes) > 1 and self.trace.steps[index].place.kind == AFTER:
            index = self.matcher.first_wrongly_filled(passes, trial.right.value)
            self.is_uncertain = index is None  # something may be missing, which no line puts there
        elif index == trial.index and len(passes) > 1:
            index = self._first_that_matters(trial, passes)
        if index is None:
            return None
        which = passes.index(index) + 1 if len(passes) > 1 else 0
        expected = trial.right if trial.index in passes else None
        found = self._describe(index, trial.right) if expected else None
        if expected and found and found.relation == EQUAL and found.right.name:
            # it is right in another pass: what it was given is not
            self.is_uncertain = (found.right.name, found.right.mark) == (expected.name, expected.mark)
        self.is_uncertain |= bool(expected and found and self.matcher.goes_on(index, found, expected))
        if self.is_uncertain:
            return None
        return WrongStep(index, expected, found, self.last_right(index), which, len(passes))

    def outside(self, found: WrongStep) -> WrongStep | None:
        """Return the call of the function of its own in which a step is; None if that is the one that was asked."""
        index = self.call_of(found.index)
        return None if index is None else WrongStep(index, None, None, None)

    def _first_doubtful(self, index: int) -> int | None:
        """Return the first step not known to be right of which one was made, else that one; None if that is unknown."""
        if self._is_of_a_layer(index):
            return None
        doubtful = set(self.doubtful(index))
        given = [self.trace.steps[other].value for other in doubtful if self.trace.steps[other].given]
        if given:  # something else than the reference has: None, where an argument is not passed on
            is_left_out = all(isinstance(value, Opaque) and value.type_name == "NoneType" for value in given)
            return self.call_of(index) if is_left_out else None
        match = self.matcher.match(index)
        if match and match.relation == OPPOSITE and RETURN not in self.trace.steps[index].place.names:
            return None  # it may be meant to be turned round later
        if match and self._has_factor_of(index, match.right):
            return None
        # a number that mends nothing may belong to another way of writing what is right
        elsewhere = [
            other
            for other in sorted(doubtful)
            if self.line(other) != self.line(index) and type(self.trace.steps[other].value) is not float
        ]
        arrays = [other for other in elsewhere if not is_number(self.trace.steps[other].value)]
        counts = self._counted | {other for other in elsewhere if type(self.trace.steps[other].value) is int}
        if len({self.line(other) for other in elsewhere}) > 1 or len(arrays) > 1 or counts & {*elsewhere}:
            return None  # several, or a number that counts, which may be right in another way of writing it
        shapes = [getattr(self.trace.steps[each].value, "shape", ()) for each in (*arrays, index)]
        if arrays and (self.trace.steps[index].place.tests or (shapes[0] and shapes[0] == shapes[1])):
            return None  # there it may be made in another way, or go wrong as well
        return [*elsewhere, index][0]

    def _has_factor_of(self, index: int, right: Right) -> bool:
        """Return True if a step is made of a variable that is off by a factor, too: which is wrong is not known."""
        names = (other for other in self.trace.steps[index].made_from if self.trace.steps[other].place.kind == "Name")
        return any(
            match and match.right is right and "times it" in match.relation for match in map(self.matcher.match, names)
        )

    def _first_that_matters(self, trial: Trial, passes: Sequence[int]) -> int:
        """Return the first pass from which on the value has to be another: before it the rest may be done later."""
        own, begins = [self.trace.steps[each].value for each in passes], range(passes.index(trial.index), len(passes))
        later = [
            replace(trial, index=passes[first], values=[*own[:first], *trial.values[first:]])
            for first in begins[:MAX_BEGINS]
            if not same(own[first], trial.values[first], 0.0)
        ]
        return max((each.index for each in self._mending(later)), default=trial.index)

    def _is_overwritten(self, index: int, expected: Right) -> bool:
        """Return True if a variable that a step takes has lost what the reference keeps under the name of its own.

        `ids = ids[:, -n:]` is right for the model, and no longer the text to which a token is appended.
        """
        steps, waiting = self.trace.steps, list(self.trace.steps[index].made_from)
        for other in waiting:  # grows while it is read, up to what has a name
            if not steps[other].place.names:
                waiting += [each for each in steps[other].made_from if each not in waiting]
            for name in steps[other].place.names:
                made_of = sorted(self.trace.ancestors(other) - {other})
                before = [each for each in made_of if name in steps[each].place.names]
                both = [match.right.name for each in (*before[-1:], other) if (match := self.matcher.equal(each))]
                if len(both) == 2 and both[0] == expected.name != both[1]:
                    return True
        return False

    def _is_of_a_layer(self, index: int) -> bool:
        """Return True for what a layer made elsewhere gives, which may be to blame if it is right nowhere else."""
        steps, place = self.trace.steps, self.trace.steps[index].place
        calls = (
            other for other, step in enumerate(steps) if (step.place.kind, step.place.name) == ("Call", place.name)
        )
        if any(other != index and self.matcher.equal(other) for other in calls):
            return False
        layers = [step for step in steps[:index] if step.place.kind == "Name" and isinstance(step.value, Opaque)]
        owners = [steps[other] for other in steps[index].made_from if steps[other].place.parent == steps[index].number]
        is_own = any(owner.place.name == "self" for owner in owners)
        return place.kind == "Call" and (is_own or any(step.place.name == place.name for step in layers))

    # --- what mends the answer ----------------------------------------------------------------------------------------

    def _find_mending(self) -> Trial | None:
        """Return the first step with the value in whose place the answer is right.

        If that step is right as far as it goes, something is missing, or is done in a wrong way later.
        """
        trials = list(itertools.islice(self._trials(), MAX_TRIALS))
        tried = [trial for trial in trials if trial.index not in self.by_chance]
        mending = (trial for trial in self._mending(tried) if not self.matcher.is_made_later(trial.index, trial.right))
        first = next(mending, None)
        if first is None or not self._is_right(first):
            self.is_uncertain = first is not None and self._is_in_another_order(first, trials)
            return None if self.is_uncertain else first
        if not self.trace.returned:
            return [first, *(trial for trial in mending if trial.right is first.right)][-1]
        rest = list(mending)
        wrong = (trial for trial in rest if self._kind(trial) == "Compare" and not self._is_right(trial))
        if beside := [trial for trial in wrong if first.index not in self.trace.ancestors(trial.index)]:
            return beside[0]  # a mask is wrong, and nothing missing
        return (later := self._find_later(first, iter(rest))) and replace(later, is_sure=True)

    def _is_in_another_order(self, first: Trial, trials: Sequence[Trial]) -> bool:
        """Return True if something is done to what a step gives and only then the reference's value is due.

        Its value mends the answer there as well: the step may be right, and what is wrong be what follows.
        """
        value = self.trace.steps[first.index].value
        later = [
            trial
            for trial in trials
            if trial.right is first.right
            and first.index in self.trace.ancestors(trial.index)
            and trial.index > first.index
            and not is_equal(self.trace.steps[trial.index].value, value)
        ]
        return next(self._mending(later), None) is not None

    def _find_later(self, first: Trial, mending: Iterator[Trial]) -> Trial | None:
        """Return where the reference's next step should be, after one that is right."""
        steps, ends = self.trace.steps, self.trace.ends()
        last = ends[self.answer.number] if self.answer.number < len(ends) else ends[-1]
        if self._kind(first) == "Name":  # a function of its own is given something wrong, or lacks a step inside
            is_there = any(is_equal(step.value, first.right.value) for step in steps)
            return first if is_there or not self._is_given(steps[first.index]) else None
        if same(first.right.value, self.answer.wanted, 0.0) and steps[last].place.names == (RETURN,):
            return replace(first, index=self.trace.assigned(last))
        if unused := self._computed_in_vain(first):
            return unused
        rest = [trial for trial in mending if self._kind(trial) != "Name" and trial.index > first.index]
        alike = [trial for trial in rest if trial.right is first.right]
        if wrong := [trial for trial in alike if not self._is_right(trial)]:
            using = self._first_using_what_is_new(first, wrong)
            return wrong[0] if self._is_related(wrong[0]) else using or self._last_right_of(first, alike)
        if alike:
            return alike[-1]
        if not first.right.is_conditional:
            # what mends by less than can be told from the reference's says nothing of this line
            return None if is_equal(self.trace.steps[first.index].value, first.right.value) else first
        using = self._first_using_what_is_new(first, rest)
        return using or replace(first, index=self.call_of(first.index) or first.index)

    def _is_related(self, trial: Trial) -> bool:
        """Return True for a step that is what belongs there but for a factor, a shift or its form.

        Any other is made in its own way of what was right before, as a softmax of one's own subtracts the largest.
        """
        value, right = self.trace.steps[trial.index].value, trial.right.value
        return not (is_array(value) and is_array(right)) or bool(relate(value, right))

    def _last_right_of(self, first: Trial, alike: Sequence[Trial]) -> Trial:
        return [first, *(trial for trial in alike if self._is_right(trial))][-1]

    def _first_using_what_is_new(self, first: Trial, rest: Sequence[Trial]) -> Trial | None:
        """Return the first of these that uses an argument that the missing step uses and none before it."""
        match = self.matcher.match(first.index)
        new = first.right.given - (match.right.given if match else frozenset())
        return next((trial for trial in rest if self._arguments_of(trial.index) & new), None)

    def _arguments_of(self, index: int) -> set[int]:
        """Return the arguments of which a step was made, by their steps in the reference."""
        given = (other for other in self.trace.ancestors(index) if self.trace.steps[other].given)
        return {match.right.index for other in given if (match := self.matcher.equal(other))}

    def _computed_in_vain(self, first: Trial) -> Trial | None:
        """Return the statement that computes what is missing and keeps it nowhere."""
        for index, step in enumerate(self.trace.steps):
            is_lost = step.place.parent < 0 and not step.place.names and step.place.kind == "Call"
            if is_lost and index > first.index and is_equal(step.value, first.right.value):
                return replace(first, index=index)
        return None

    def call_of(self, index: int) -> int | None:
        """Return the call, in the function that was asked, of the function of its own in which a step is."""
        steps = self.trace.steps
        outer = steps[-1].place.function
        if steps[index].place.function == outer:
            return None
        later = range(index + 1, len(steps))
        return next((other for other in later if steps[other].passed_on and steps[other].place.function == outer), None)

    def _kind(self, trial: Trial) -> str:
        return self.trace.steps[trial.index].place.kind

    def _is_right(self, trial: Trial) -> bool:
        match, value = self.matcher.equal(trial.index), self.trace.steps[trial.index].value
        return match is not None and (is_array(value) or (type(value) is float and not match.right.is_derived))

    def _mending(self, trials: Sequence[Trial]) -> Iterator[Trial]:
        """Yield the trials with which the answer is right, in the order of time."""
        at_once = max(1, min(MAX_TRIALS_AT_ONCE, MAX_ANSWER_BYTES // (1 + size_of(self.expected, BYTES_OF_PART))))
        for start in range(0, len(trials), at_once):
            if time.monotonic() > self.until:
                return
            some = trials[start : start + at_once]
            asked = [(self.trace.steps[trial.index].number, trial.values) for trial in some]
            for trial, answer in zip(some, exchange(self.subject, self.request, asked), strict=True):
                if answer and self.answer.is_mended(answer[0]):
                    yield trial

    def _trials(self) -> Iterator[Trial]:
        """Yield what may be put in the place of each step on which the answer depends."""
        steps = self.trace.steps
        raised = not self.trace.returned
        reaching = range(len(steps)) if raised else self.trace.ancestors_of_answer()
        for passes in self.trace.passes.values():
            step = steps[passes[0]]
            if type(step.value) is int and not self._counted.isdisjoint(passes):
                continue
            if step.passed_on or step.part != WHOLE or len(passes) > MAX_PASSES or self._does_nothing(passes[0]):
                continue
            if step.place.kind != "Name" and not any(index in reaching for index in passes):
                continue
            so_far = self._how_far(passes)
            for right, values in find_replacements(self.matcher, passes):
                if right.index <= so_far or self._says_nothing(step, values[0]):
                    continue
                pairs = zip(passes, values, strict=True)
                wrong = [index for index, value in pairs if not same(steps[index].value, value, 0.0)]
                # a function that is right for one call has been given something wrong in another
                if wrong and (len(wrong) == len(values) or step.place.function == steps[-1].place.function):
                    yield Trial(wrong[0], right, values)

    def _how_far(self, passes: Sequence[int]) -> int:
        """Return how far the reference has come where it has the same array; what comes before that mends nothing."""
        match = self.matcher.equal(passes[0]) if len(passes) == 1 else None
        return match.right.index if match and is_array(match.right.value) else -1

    def _does_nothing(self, index: int) -> bool:
        """Return True of a step that only hands on what it got: a name, unless that is what a function is given."""
        if (step := self.trace.steps[index]).place.kind == "Name":
            return bool(self.trace.returned) and step.place.names != (RETURN,) and not self._is_given(step)
        return step.place.kind not in (AFTER, "IfExp") and any(
            is_array(before := self.trace.steps[other].value) and same(before, step.value, 0.0)
            for other in step.made_from
        )

    def _is_given(self, step: Step) -> bool:
        """Return True for an argument of a function of the submission's own."""
        return any(self.trace.steps[other].passed_on for other in self.trace.passes.get(step.place.parent, ()))

    def _says_nothing(self, step: Step, value: Any) -> bool:
        """Return True if a value would mend the answer whether the step is right or not.

        That is so of an array that is filled later, and of a variable that is returned as it is: unless that is another
        of the reference's values.
        """
        index = self.trace.passes[step.number][0]
        if step.place.names == (RETURN,) and step.place.kind == "Name" and self.trace.returned:
            return not self.matcher.equal(index)
        if not is_array(step.value) or not is_array(value):
            return False
        if step.place.kind == AFTER or step.value.shape != value.shape:
            return False
        if step.made in self.trace.changed:
            return bool(step.value.dtype == value.dtype)
        return step.place.parent >= 0 and (step.place.function, step.place.statement) in self._filled

    def doubtful(self, index: int) -> Iterator[int]:
        """Yield the steps of which one was made that are not known to be right."""
        waiting, seen = list(self.trace.steps[index].made_from), {index}
        while waiting:
            other = waiting.pop()
            if other in seen:
                continue
            seen.add(other)
            step = self.trace.steps[other]
            is_counting = type(step.value) is int and step.place.kind == "BinOp" and step.place.tests
            match = None if is_counting else self.matcher.match(other)
            if self.matcher.is_known(step) or (match and (match.relation == EQUAL or not is_array(step.value))):
                continue
            if match:  # right but for a factor, say: the factor may be wrong
                has_one_factor = SLICES not in match.relation
                waiting += [each for each in step.made_from if self._is_inside(each, step) or not has_one_factor]
                continue
            if step.place.kind != "Name" or step.given:
                yield other
            waiting += step.made_from

    def _is_inside(self, index: int, step: Step) -> bool:
        inner = self.trace.steps[index]
        return is_number(inner.value) or (inner.place.statement == step.place.statement and inner.place.kind != "Name")

    def last_right(self, index: int) -> Match | None:
        """Return the last variable before a step, of those it was made of, that equals a marked value."""
        before = [
            match
            for other in sorted(self.trace.ancestors(index) - {index})
            if self.trace.steps[other].place.names and self.trace.steps[other].place.line <= self.line(index)
            if (match := self.matcher.equal(other)) and match.right.mark and not is_lost(match.right.value)
        ]
        return before[-1] if before else None

    def line(self, index: int) -> int:
        """Return the line of a step."""
        return self.trace.steps[index].place.line

    def _describe(self, index: int, expected: Right) -> Match | None:
        match = self.matcher.match(index)
        equal = match if match and match.relation == EQUAL and not is_lost(match.right.value) else None
        if equal and equal.right.mark:
            return equal
        both = (self.trace.steps[index].value, expected.value)
        relation = relate(*both) if all(map(is_array, both)) else ""
        return Match(index, expected, relation) if relation and relation != EQUAL else equal
