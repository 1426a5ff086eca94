"""Observations without what is known to be wrong with them, so that what else is wrong can be recognised."""

from __future__ import annotations

from typing import Any

from grader.judge.diagnosis.circumstances import IN_GRADIENTS
from grader.judge.diagnosis.mistake_outputs import NO_EVIDENCE, MistakeOutputs, Observations, is_error


def forgive_changes(outputs: MistakeOutputs, seen: Observations) -> Observations:
    """Return the observations without errors where gradients are asked for: torch lets no input be changed then."""
    probes = zip(outputs.probes, outputs.special, strict=True)
    asked = {probe.name: probe for probe, special in probes if IN_GRADIENTS in special}
    failed = {name for name, probe in asked.items() if is_error(seen[name], outputs.reference(probe))}
    return {name: NO_EVIDENCE if name in failed else found for name, found in seen.items()}


def forgive_names(seen: Any, expected: Any) -> Any:
    """Return an observation with what the reference has in the place of names that an object lacks, or has too many."""
    if isinstance(seen, list) and isinstance(expected, list) and len(seen) == len(expected):
        return [forgive_names(*pair) for pair in zip(seen, expected, strict=True)]
    is_of_names = all(isinstance(each, dict) and {*each} == {"missing", "unexpected"} for each in (seen, expected))
    return expected if is_of_names else seen
