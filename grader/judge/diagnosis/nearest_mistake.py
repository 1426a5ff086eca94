"""Name a mistake beside which something is wrong that has no name: it explains all answers but those in a circumstance.

The circumstance, such as "with 4 axes" or "with `mask`", is one that every probe has which the mistake does not
explain, and fewer than half of all probes have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from grader.judge.diagnosis.mistake_outputs import MistakeMatcher, MistakeOutputs, Observations, agree
from grader.judge.diagnosis.mistake_set import Mistake, Probe
from grader.judge.values.compare import Raised, same

MAX_TOGETHER = 2  # mistakes at once: of three some fit almost anything


@dataclass(frozen=True)
class Nearest:
    """Mistakes that together answer as a submission does, but for some probes.

    Attributes:
        where: The circumstance in which they do not.
        misfits: Those probes.
    """

    mistakes: tuple[Mistake, ...]
    where: str
    misfits: Sequence[Probe]


def find_nearest(outputs: MistakeOutputs, seen: Observations) -> list[Nearest]:
    """Return the smallest sets of mistakes with the fewest misfits; several if they are equally near."""
    matcher = MistakeMatcher(outputs, seen)
    for size in range(1, min(outputs.mistake_set.together, MAX_TOGETHER) + 1):
        found = []
        for mistakes in outputs.sets(size):
            where, misfits = matcher.misfits(mistakes)
            if where and _is_evident(outputs, mistakes, where, seen):
                found.append(Nearest(outputs.members(mistakes), where, misfits))
        if found:
            fewest = min(len(each.misfits) for each in found)
            return [each for each in found if len(each.misfits) == fewest]
    return []


def _is_evident(outputs: MistakeOutputs, mistakes: int, where: str, seen: Observations) -> bool:
    """Return True if more than errors of some type speaks for these mistakes outside a circumstance.

    A mistake that is recognised by certain probes only is known by these, or not at all.
    """
    if any(mistake.only for mistake in outputs.members(mistakes)):
        return False
    asked = enumerate(zip(outputs.probes, outputs.special, outputs.reached, strict=True))
    return any(
        speaks(seen[probe.name], outputs.reference(probe), outputs.answer(number, mistakes & reached))
        for number, (probe, special, reached) in asked
        if not probe.aside and where not in special and not agree(seen[probe.name], outputs.reference(probe), probe)
    )


def speaks(seen: Any, expected: Any, answer: Any) -> bool:
    """Return True if an observation differs from what was expected by a value, or by an error of known cause."""
    for kind in (list, dict):
        if all(isinstance(each, kind) for each in (seen, expected, answer)):
            shortest = min((seen, expected, answer), key=len)
            keys = range(len(shortest)) if kind is list else [key for key in expected if key in seen and key in answer]
            return any(speaks(seen[key], expected[key], answer[key]) for key in keys)
    if is_error(seen, expected):
        return isinstance(seen, Raised) and seen == answer and " " in seen.type_name  # a cause stands behind the type
    return not same(seen, expected) and not isinstance(seen, bool)


def is_error(seen: Any, expected: Any) -> bool:
    """Return True if an error was seen, of which a probe may have made a word."""
    return isinstance(seen, Raised) or (isinstance(seen, str) and not isinstance(expected, str))
