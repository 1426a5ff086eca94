"""See in what a probe observed that a call has changed its arguments, where it asks what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grader.judge.diagnosis.circumstances import by_name
from grader.judge.diagnosis.mistake_outputs import MistakeOutputs, Observations
from grader.judge.mistakes.mistake_set import Probe
from grader.judge.values.compare import same

CHANGED = "changes-arguments"  # under which it is named


def changed_arguments(outputs: MistakeOutputs, seen: Observations) -> list[str]:
    """Return the names of the arguments that a call changes and the reference leaves alone."""
    for probe in outputs.probes:
        given = _given(outputs, probe)
        changed = [right for _, right in _differing(seen[probe.name], outputs.reference(probe), 0.0)] if given else []
        names = [name for name, value in given if any(same(value, right, 0.0) for right in changed)]
        if names:
            return list(dict.fromkeys(names))
    return []


def only_changes_arguments(outputs: MistakeOutputs, probe: Probe, seen: Any, answer: Any) -> bool:
    """Return True if all that is not as in an answer is that arguments are changed, which are left alone there."""
    given, differing = _given(outputs, probe), list(_differing(seen, answer, probe.atol))
    return bool(differing) and all(any(same(value, right, 0.0) for _, value in given) for _, right in differing)


def _given(outputs: MistakeOutputs, probe: Probe) -> list[tuple[str, Any]]:
    """Return the arguments of the calls after which a probe looks at them, with their names."""
    calls = [each.content for each in outputs.transcripts[probe].submission if each.operation == "call"]
    parameters = outputs.mistake_set.parameters
    return [pair for call in calls if call.get("after") for pair in by_name(parameters, call).items()]


def _differing(seen: Any, expected: Any, atol: float) -> Iterator[tuple[Any, Any]]:
    """Yield the parts that differ: the smallest, but for an array, which is one."""
    if isinstance(expected, dict) and isinstance(seen, dict) and seen.keys() == expected.keys():
        for key, value in expected.items():
            yield from _differing(seen[key], value, atol)
    elif isinstance(expected, list | tuple) and isinstance(seen, list | tuple) and len(seen) == len(expected):
        for each, value in zip(seen, expected, strict=True):
            yield from _differing(each, value, atol)
    elif not same(seen, expected, atol):
        yield seen, expected
