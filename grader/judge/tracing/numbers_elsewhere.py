"""Tell what a number that mends one call is in others: a constant, an argument, a value of the reference, or chance."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from grader.judge.processes.remote_module import CallableModule
from grader.judge.tracing.matching import Right
from grader.judge.tracing.trace import Trace, WatchedCall, exchange, is_number
from grader.judge.values.compare import same
from grader.source.parse import nodes_in, parse

CHANCE = ""  # that a number is one of the call alone
CONSTANT = "a constant"
STEP = "a step"  # of the reference: another number in each call


def parameters_of(source: str) -> set[str]:
    """Return the names of all parameters in a source."""
    return {node.arg for node in nodes_in(parse(source)) if isinstance(node, ast.arg)}


def meaning_of(
    right: Right,
    place: int,
    call: WatchedCall,
    others: Sequence[WatchedCall],
    subject: CallableModule,
    parameters: Collection[str],
) -> str:
    """Return the argument that a number is, with which one call is right in an expression's place; or CONSTANT, STEP.

    It has to mend most others, too; and what is written out is a constant only where the reference has it written.

    Args:
        place: The number of the expression.
        others: Calls that evaluate it and are answered wrongly, too.
        parameters: The names that an argument may have.
    """
    given = _arguments_of(call, parameters).items()
    names = [name for name, value in given if type(value) is type(right.value) and value == right.value]
    mended: Counter[str] = Counter()
    for other in others:
        arguments = _arguments_of(other, parameters)
        choices = {name: arguments[name] for name in names if name in arguments}
        choices |= {CONSTANT: right.value} | _same_step(right, call, other)
        answers = exchange(subject, other.request, [(place, [value]) for value in choices.values()])
        mended.update(name for name, got in zip(choices, answers, strict=True) if got and same(got[0], other.answer))
    enough = len(others) if type(call.answer) is bool else len(others) // 2 + 1  # by chance it is right as often as not
    if _is_written(call.trace, place) and not _is_in_reference(right, call):
        # one without a name tells something if it changes; a count mends by chance, as the length by which rows roll
        is_step = right.name or (type(right.value) is float and mended[STEP] > mended[CONSTANT])
        kinds, unknown = [*names, *([STEP] if is_step else [])], CHANCE
    else:
        kinds, unknown = [*names, CONSTANT, STEP], CHANCE if others and not right.is_derived else CONSTANT
    return next((kind for kind in kinds if others and mended[kind] >= enough), unknown)


def _same_step(right: Right, call: WatchedCall, other: WatchedCall) -> dict[str, Any]:
    """Return what the reference has in another call at the step of a number, if that runs there."""
    steps = call.right.steps
    if right.index >= len(steps) or right.is_derived:
        return {}
    passes = other.right.passes.get(steps[right.index].number, ())
    return {STEP: other.right.steps[passes[0]].value} if passes else {}


def _is_in_reference(right: Right, call: WatchedCall) -> bool:
    """Return True for a number that is written out in the reference."""
    steps = call.right.steps
    return right.index < len(steps) and _is_written(call.right, steps[right.index].number)


def _arguments_of(call: WatchedCall, parameters: Collection[str]) -> dict[str, Any]:
    """Return the arguments of a call that are numbers, by name, as the reference got them."""
    steps = call.right.steps
    function = steps[-1].place.function if steps else None  # a plain attribute is read in no step
    given = [step for step in steps if step.given and step.place.kind == "Name" and is_number(step.value)]
    own = [step for step in given if step.place.function == function and step.place.name in parameters]
    return {step.place.name: step.value for step in own}


def _is_written(trace: Trace, number: int) -> bool:
    """Return True for an expression without a variable."""
    inside = {number}
    for other in range(number + 1, len(trace.places)):
        if trace.places[other].parent in inside:
            inside.add(other)
    return not any(trace.places[other].kind == "Name" and other in trace.passes for other in inside)
