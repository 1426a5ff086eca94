"""Facts that need no table of mistakes: what a function's answer depends on, and should not, or should and does not.

Each is tried on a call that the probes make: one input is changed in one place, and the submission's answer changes
where the reference's does not, or the other way round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from grader.judge.diagnosis.ask_again import ask_again
from grader.judge.diagnosis.changed_arguments import CHANGED, changed_arguments
from grader.judge.diagnosis.changed_call import ChangedCall, identity_like, other, other_at_end
from grader.judge.diagnosis.circumstances import IN_GRADIENTS
from grader.judge.diagnosis.mistake_outputs import MistakeOutputs, Observations, agree
from grader.judge.errors import LearnerError
from grader.judge.mistakes.mistake_set import Probe
from grader.judge.processes.remote_module import CallableModule
from grader.judge.transcript.transcript import Exchange
from grader.judge.values.compare import is_array, same, to_numpy
from grader.judge.values.difference_patterns import Fact, find_patterns
from grader.judge.values.scale_patterns import Sizes

MAX_CALLS = 3  # of a function on which facts are tried
MAX_FACTS = 3
CHOICES = (0, 1, 2, 3)  # other values of a number that is no size
MOVED, STILL = 1e-3, 1e-5  # by how much an answer changes that depends on an input, and one that does not
IDENTITY = "With the identity"
MAX_NAMED = 4  # inputs in one sentence
SHARED = "shared-state"
MAX_LARGER = 64  # times the right answer: two dozen more answers that are larger take seconds to read


def find_facts(outputs: MistakeOutputs, subject: CallableModule, seen: Observations) -> list[Fact]:
    """Return true sentences on what influences a submission's answers; empty if it cannot be called any more."""
    found, lost = missing_gradients(outputs, seen, outputs.probes)
    unused: list[str] = []
    try:
        found = _shared_state(outputs, subject, seen) + found
        for fact in _facts_of_calls(outputs, subject, unused):
            found += [fact] if fact and fact not in found else []
            if len(found) >= MAX_FACTS:
                break
    except LearnerError:
        pass
    if changed := changed_arguments(outputs, seen):
        found.append(Fact(CHANGED, f"A call changes {_listed(changed)}, which it was given."))
    if lost and set(lost) <= set(unused):  # no gradient reaches what is not used: said once
        found = [fact for fact in found if fact.kind != "no-gradient"]
    return found[:MAX_FACTS]


def sizes_in(outputs: MistakeOutputs, probe: Any) -> Sizes:
    """Return what each size is in what a probe asks."""
    return ChangedCall(outputs, outputs.subject_with(()), outputs.transcripts[probe].submission).sizes


def _facts_of_calls(outputs: MistakeOutputs, subject: CallableModule, unused: list[str]) -> Iterator[Fact]:
    """Yield what some calls show. `unused` takes the names of what has no influence."""
    said: set[Fact] = set()
    moves: dict[str, bool] = {}  # by input, whether the answer changed with it in any call
    for call, special in _some_calls(outputs, subject):
        where = min(special, key=lambda words: (not words.startswith("with"), words), default="")
        weights = [] if any(fact.says.startswith(IDENTITY) for fact in said) else _weights(call)
        leaks = [Fact("sees-too-much", says) for says in (*_leaks(call), _batch_size(call)) if says]
        for fact in (*_is_fickle(call), *weights, *leaks):
            if fact not in said:
                said.add(fact)
                yield Fact(fact.kind, f"{fact.says} ({where})") if where else fact
        for name, moved in _influences(call, {name for name, moved in moves.items() if moved}):
            moves[name] = moves.get(name, False) or moved
    unused += [name for name, moved in moves.items() if not moved]
    if unused:
        has = "has" if len(unused) == 1 else "have"
        yield Fact("no-influence", f"{_listed(unused)} {has} no influence: with other values your answer is the same.")


def _listed(names: Sequence[str]) -> str:
    """Return `a`, `b` and `c`: the first few names, and how many there are besides."""
    shown = [f"`{name}`" for name in names]
    if len(shown) > MAX_NAMED:
        shown[MAX_NAMED:] = [f"{len(shown) - MAX_NAMED} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _some_calls(outputs: MistakeOutputs, subject: CallableModule) -> Iterator[tuple[ChangedCall, frozenset[str]]]:
    """Yield calls that the submission answers, the most ordinary first, each with inputs that none before it has."""
    tried: set[tuple[str, int]] = set()
    count = 0
    numbers = [number for number, probe in enumerate(outputs.probes) if not probe.aside]
    for number in sorted(numbers, key=lambda number: len(outputs.special[number])):
        exchanges = outputs.transcripts[outputs.probes[number]].submission
        calls = [index for index, each in enumerate(exchanges) if each.operation == "call"]
        if not calls or "grad" in exchanges[calls[0]].content or exchanges[calls[0]].content.get("after"):
            continue
        call = ChangedCall(outputs, subject, exchanges[: calls[0] + 1])
        inputs = {(name, getattr(value, "ndim", 0)) for name, value in call.given.values() if value is not None}
        if inputs <= tried:
            continue
        right, found = call.answers
        if _size(found) > MAX_LARGER * max(1, _size(right)):
            return
        if all(map(_is_number, call.answers)):
            tried, count = tried | inputs, count + 1
            yield call, outputs.special[number]
            if count == MAX_CALLS:
                return


def _is_number(answer: Any) -> bool:
    return isinstance(answer, float) or (is_array(answer) and not bool((to_numpy(answer) != to_numpy(answer)).any()))


def _size(answer: Any) -> int:
    return to_numpy(answer).size if is_array(answer) else len(answer) if isinstance(answer, list | tuple | dict) else 1


def _is_fickle(call: ChangedCall) -> list[Fact]:
    right, found = call.ask({})
    if same(found, call.answers[1], STILL) or not same(right, call.answers[0], STILL):
        return []
    says = "A second call with the same arguments gives another answer: something is drawn at random, or kept."
    return [Fact("not-repeatable", says)]


def _influences(call: ChangedCall, known: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield the inputs on which the reference's answer depends, and whether the submission's does.

    Args:
        known: Names of inputs that need not be tried.
    """
    others = {place: [other(value, step) for step in (1.0, 2.0)] for place, (_, value) in call.inputs.items()}
    others |= {place: _choices(value) for place, (_, value) in call.given.items() if isinstance(value, int)}
    for place, values in others.items():
        name = call.given[place][0]
        for value in values if name not in known else ():
            right, found = call.ask({place: value})
            if _is_number(right) and not same(right, call.answers[0], MOVED):
                has_moved = not same(found, call.answers[1], STILL)
                yield name, has_moved
                if has_moved or "float" in str(getattr(value, "dtype", "")):
                    break  # of whole numbers and Booleans another value may do what this one does


def _choices(value: int) -> list[Any]:
    return [not value] if isinstance(value, bool) else [each for each in (*CHOICES, 2 * value + 1) if each != value]


def _leaks(call: ChangedCall) -> Iterator[str]:
    """Name parts of an input that a part of the answer must not depend on, and does."""
    right, found = call.answers
    for place, (name, value) in call.inputs.items():
        for axis, what in _axes_of(value, right):
            if not is_array(found) or found.shape != right.shape:
                return
            changed = call.ask({place: other_at_end(value, axis)})
            if not is_array(changed[1]) or changed[1].shape != right.shape:
                continue
            first = [_first(each, axis) for each in (right, changed[0], found, changed[1])]
            if same(first[1], first[0], STILL) and not same(first[3], first[2], MOVED):
                yield (
                    f"The first {what} of your answer changes when only the last {what} of `{name}` is changed; "
                    "in the right answer it does not."
                )


def _axes_of(value: Any, answer: Any) -> list[tuple[int, str]]:
    """Return the axes that an input and the answer have in common, with what stands along them."""
    if not is_array(answer) or "bool" in str(value.dtype) or value.ndim != answer.ndim:
        return []
    axes = [(0, "sequence of the batch")] if value.ndim > 2 else []
    axes += [(1, "head")] if value.ndim == 4 else []
    axes += [(value.ndim - 2, "row")] if value.ndim > 1 else []
    return [(axis, what) for axis, what in axes if min(value.shape[axis], answer.shape[axis]) > 1]


def _batch_size(call: ChangedCall) -> str:
    """Tell if the first sequence is answered otherwise when it is alone."""
    right, found = call.answers
    if not is_array(right) or right.ndim < 3 or right.shape[0] < 2:
        return ""
    alone = {
        place: value[:1]
        for place, (_, value) in call.inputs.items()
        if place[1] != "state" and value.ndim > 2 and value.shape[0] == right.shape[0]
    }
    right_alone, found_alone = call.ask(alone)
    if not alone or not is_array(found) or not same(right_alone, right[:1]) or found.shape[:1] != right.shape[:1]:
        return ""
    if not is_array(found_alone) or found_alone.shape != found[:1].shape or same(found_alone, found[:1], MOVED):
        return ""
    return "The first sequence of a batch is answered otherwise when it is alone: the batch's size matters."


def _weights(call: ChangedCall) -> list[Fact]:
    """Tell what is wrong with the weights with which values are mixed: the answer for the identity as values."""
    for place, (name, value) in call.inputs.items():
        if place[1] == "state" or value.ndim < 2 or "float" not in str(value.dtype):
            continue
        identity = identity_like(value)
        right, found = call.ask({place: identity})
        if not is_array(right) or right.ndim != value.ndim or right.shape[-1] != value.shape[-2] or right.shape[-1] < 2:
            continue
        if not _are_weights(right) or not same(call.ask({place: 2 * identity})[0], 2 * right):
            continue
        shown = f"{IDENTITY} for `{name}`, which shows the weights"
        if same(found, right):
            if same(*call.answers):
                return []
            return [Fact("", f"{shown}, your answer is right: look at what is done with `{name}`.")]
        patterns = find_patterns(found, right, call.sizes)
        return [Fact(each.kind, f"{shown}: {each.says}") for each in patterns[:1]]
    return []


def _shared_state(outputs: MistakeOutputs, subject: CallableModule, seen: Observations) -> list[Fact]:
    """Tell if each object of a class is right where no other is made after it, and one that has company is not."""
    reference, read = outputs.subject_with(()), outputs.mistake_set.read
    for probe in outputs.probes:
        each = _by_object(outputs.transcripts[probe].submission)
        if len(each) > 1 and not agree(seen[probe.name], outputs.reference(probe), probe):
            alike = (same(ask_again(subject, p, read), ask_again(reference, p, read), probe.atol) for p in each)
            if all(alike):
                return [Fact(SHARED, "An object that is right by itself is wrong once another one has been made.")]
    return []


def _by_object(exchanges: Sequence[Exchange]) -> list[list[Exchange]]:
    """Return what is asked of each object of the class; nothing where something else is asked, too."""
    parts: dict[int, list[Exchange]] = {}
    for exchange in exchanges:
        made = exchange.answer.get("handle") if isinstance(exchange.answer, dict) else None
        handle = exchange.content.get("handle", getattr(exchange.content.get("target"), "number", None))
        if exchange.operation == "build" and made is not None:
            parts[made] = [exchange]
        elif handle in parts:
            parts[handle].append(exchange)
        else:
            return []
    return list(parts.values())


def missing_gradients(
    outputs: MistakeOutputs, seen: Observations, probes: Sequence[Probe]
) -> tuple[list[Fact], list[str]]:
    """Name inputs and parameters that no gradient reaches in these probes, or say that only gradients are wrong.

    Returns:
        The fact, if there is one, and what it names.
    """
    for probe in probes:
        for found, expected in _gradients(seen[probe.name], outputs.reference(probe)):
            if found is None:
                return [Fact("no-gradient", "No gradient reaches any input: your answer is cut off from autograd.")], []
            lost = [key for key, value in expected.items() if is_array(value) and _is_nothing(found.get(key), value)]
            if lost and len(lost) <= MAX_NAMED:
                names = list(dict.fromkeys(_input_name(key, outputs.mistake_set.parameters) for key in lost))
                told = ", ".join(f"`{name}`" for name in names)
                says = f"No gradient reaches {told}, though the right answer depends on it."
                return [Fact("no-gradient", says)], names
    if only_gradients_differ(outputs, seen):
        return [Fact("wrong-gradient", "The values are right, and the gradient is not.")], []
    return [], []


def only_gradients_differ(outputs: MistakeOutputs, seen: Observations) -> bool:
    """Return True if something is answered wrong, and only gradients are, where they are asked for."""
    wrong = [(n, p) for n, p in enumerate(outputs.probes) if not agree(seen[p.name], outputs.answer(n, 0), p)]
    return bool(wrong) and all(
        IN_GRADIENTS in outputs.special[n] and same(_values(seen[p.name]), _values(outputs.answer(n, 0)), p.atol)
        for n, p in wrong
    )


def where_cut_off(outputs: MistakeOutputs, seen: Observations, probes: Sequence[Probe]) -> str:
    """Say in few words what no gradient reaches in these probes; nothing if it reaches all.

    Of which inputs is the submission's choice: no more is told than fits into few bits.
    """
    facts, lost = missing_gradients(outputs, seen, probes)
    if lost:
        return f"`{lost[0]}`{' and more' if lost[1:] else ''}"
    return "any input" if any(fact.kind == "no-gradient" for fact in facts) else ""


def _gradients(seen: Any, expected: Any) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield what stands for gradients in an observation: by "argument N" and by the names of parameters."""
    if isinstance(expected, dict) and any(str(key).startswith("argument ") for key in expected):
        if seen is None or isinstance(seen, dict):
            yield seen, expected
    elif isinstance(expected, dict) and isinstance(seen, dict):
        for key, value in expected.items():
            yield from _gradients(seen.get(key), value) if key in seen else ()
    elif isinstance(expected, list) and isinstance(seen, list):
        for each, value in zip(seen, expected, strict=False):
            yield from _gradients(each, value)


def _values(observation: Any) -> Any:
    """Return an observation without its gradients."""
    if isinstance(observation, list):
        return [_values(each) for each in observation]
    if isinstance(observation, dict):
        keys = (key for key in observation if key != "grads" and not str(key).startswith("argument "))
        return {key: _values(observation[key]) for key in keys}
    return observation


def _is_nothing(found: Any, expected: Any) -> bool:
    return bool(to_numpy(expected).any()) and (found is None or (is_array(found) and not to_numpy(found).any()))


def _input_name(key: str, parameters: Sequence[str]) -> str:
    number = key.removeprefix("argument ").split("[")[0]  # of an entry it is its argument that has a name
    return parameters[int(number)] if number.isdigit() and int(number) < len(parameters) else key


def _first(value: Any, axis: int) -> Any:
    return value.swapaxes(0, axis)[0]


def _are_weights(value: Any) -> bool:
    found = to_numpy(value)
    return bool((found >= 0).all()) and bool((abs(found.sum(-1) - 1) < 1e-4).all())
