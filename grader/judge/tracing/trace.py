"""One watched call: what each expression gave, and from what it was made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import CallableModule
from grader.judge.processes.reply_schema import read_error, reply_to
from grader.judge.values.compare import is_array
from grader.worker.arrays import map_leaves
from grader.worker.watch.watched_source import AFTER, WHOLE, Place

Request = Mapping[str, Any]  # target, args and kwargs of a call


@dataclass(frozen=True)
class Step:
    """What one expression gave, once.

    Attributes:
        number: Of its place.
        part: Of a list or tuple which entry this is; `WHOLE` for a value that is neither.
        made: The number of the object, 0 for a number.
        made_from: The steps of which it was made, or that decided whether it was.
        given: It was there before: an argument, say.
        passed_on: It is what another step gave, come back from a function of the submission's own.
    """

    place: Place
    number: int
    part: int
    made: int
    value: Any
    made_from: tuple[int, ...]
    given: bool
    passed_on: bool


@dataclass
class Trace:
    """The steps of one call, in the order of time, and what it returned: nothing, if it raised, and what it raised."""

    steps: list[Step]
    returned: list[Any]
    places: Sequence[Place] = ()
    raised: LearnerError | None = None
    passes: dict[int, list[int]] = field(default_factory=dict)  # the steps of each place
    changed: set[int] = field(default_factory=set)  # the objects that were changed in place

    def __post_init__(self) -> None:
        self.changed = {step.made for step in self.steps if step.place.kind == AFTER and step.part == WHOLE}
        for index, step in enumerate(self.steps):
            self.passes.setdefault(step.number, []).append(index)

    def ancestors(self, index: int) -> set[int]:
        """Return the step and all of which it was made."""
        found, waiting = {index}, [index]
        while waiting:
            for other in self.steps[waiting.pop()].made_from:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def ends(self) -> list[int]:
        """Return the last step; of a tuple that is returned those that gave its entries."""
        if not self.steps:
            return []
        last = self.steps[-1].place
        alike = [
            number
            for number in self.passes
            if (place := self.places[number]).names == last.names
            and (place.function, place.statement) == (last.function, last.statement)
        ]
        return [self.passes[number][-1] for number in sorted(alike)]

    def ancestors_of_answer(self) -> set[int]:
        """Return the steps of which the answer was made."""
        return set().union(*map(self.ancestors, self.ends()))

    def assigned(self, index: int) -> int:
        """Return where a name that a step only reads was given its value in that function; else the step itself."""
        step = self.steps[index]
        same = [
            other for other in range(index) if self.steps[other].made == step.made and self.steps[other].place.names
        ]
        own = [other for other in same if self.steps[other].place.function == step.place.function]
        return own[-1] if own and step.made and step.place.kind == "Name" else index


@dataclass(frozen=True)
class WatchedCall:
    """One call, watched on both sides; `request` asks the submission again."""

    request: Request
    trace: Trace
    right: Trace
    answer: Any  # that was recorded


def trace_call(subject: CallableModule, places: Sequence[Place], request: Request) -> Trace:
    """Call a function of a watched module. Raises LearnerError if there is no answer."""
    reply = reply_to("watch", request, subject.ask("watch", **request))
    events = [event for event in reply["events"] if 0 <= event[0] < len(places)]
    raised = LearnerError(*read_error(reply["raised"])) if reply["raised"] else None
    return Trace(_Connector(places).connect(events), reply["value"], places, raised)


def exchange(subject: CallableModule, request: Request, trials: Sequence[tuple[int, list[Any]]]) -> list[list[Any]]:
    """Call with other values in place of an expression's, once for each trial; return what came back."""
    content = {**request, "trials": [[number, values] for number, values in trials]}
    return reply_to("exchange", content, subject.ask("exchange", **content))["values"]  # type: ignore[no-any-return]


class _Connector:
    """Finds of what each value was made: by its place in an expression, by object, and numbers by name."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places
        self.inside: dict[int, list[int]] = defaultdict(list)  # places, by the one that they are a part of
        for number, place in enumerate(places):
            self.inside[place.parent].append(number)
        self.steps: list[Step] = []
        self.last: dict[int, list[int]] = {}  # steps of a place, in its last pass
        self.makers: dict[int, int] = {}  # by object: the step that made or changed it last
        self.named: dict[tuple[str, str], list[int]] = {}  # by function and variable

    def connect(self, events: Sequence[tuple[int, int, int, Any]]) -> list[Step]:
        for number, made, part, value in events:
            self._add(number, made, part, value)
        return self.steps

    def _add(self, number: int, made: int, part: int, value: Any) -> None:
        place = self.places[number]
        maker = self.makers.get(made) if made else None
        if value is None and maker is not None:
            value = self.steps[maker].value
        is_name = place.kind == "Name"
        operands = self._operands(number, place) if maker is None or not is_name else []
        # what a function of the submission's own returned was made of all that went into it
        passed_on = place.kind == "Call" and maker is not None and all(other < maker for other in operands)
        if maker is not None:
            operands = [maker, *([] if passed_on else operands)]
        if place.kind == AFTER:
            operands += self._of_statement(number, place)
        given = is_name and not operands
        operands += [index for test in place.tests for index in self.last.get(test, ())]
        index = len(self.steps)
        self.steps.append(Step(place, number, part, made, value, tuple(dict.fromkeys(operands)), given, passed_on))
        before = self.last.get(number)
        if not before or part <= max(0, self.steps[before[-1]].part):  # a new pass; its first parts may be None
            before = self.last[number] = []
        before.append(index)
        if made and (not is_name or maker is None):
            self.makers[made] = index
        for name in place.names:
            self.named[place.function, name] = self.last[number]

    def _operands(self, number: int, place: Place) -> list[int]:
        if place.kind == "Name":
            return list(self.named.get((place.function, place.name), ()))
        return [index for inner in self.inside[number] for index in self.last.get(inner, ())]

    def _of_statement(self, number: int, place: Place) -> list[int]:
        """Return what the statement used that changed a variable."""
        found = []
        for before in range(number - 1, -1, -1):
            other = self.places[before]
            if (other.statement, other.function) != (place.statement, place.function):
                break
            found += self.last.get(before, []) if other.parent < 0 else []
        return found


def is_number(value: Any) -> bool:
    """Return True for a plain number or a Boolean."""
    return type(value) in (bool, int, float)


def describe_number(number: float) -> str:
    """Write a number in few digits; a whole one, and a truth value, as Python does."""
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def is_value(value: Any) -> bool:
    """Return True for what can be compared: an array or a number."""
    return is_array(value) or is_number(value)


def size_of(value: Any, of_each: int = 0) -> int:
    """Return how many bytes the arrays in a value have, and each part of it besides."""
    sizes: list[int] = []
    map_leaves(value, lambda leaf: sizes.append(of_each + getattr(leaf, "nbytes", 0)))
    return sum(sizes)
