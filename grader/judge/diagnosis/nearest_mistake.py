"""Name a mistake beside which something is wrong that has no name: it explains all answers but those in a circumstance.

The circumstance, such as "with 4 axes" or "with `mask`", is one that every probe has which the mistake does not
explain, and fewer than half of all probes have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.judge.diagnosis.changed_arguments import only_changes_arguments
from grader.judge.diagnosis.mistake_matcher import MistakeMatcher
from grader.judge.diagnosis.mistake_outputs import agree
from grader.judge.mistakes.mistake_set import Mistake, Probe

MAX_TOGETHER = 2  # mistakes at once: of three some fit almost anything


@dataclass(frozen=True)
class Nearest:
    """Mistakes that together answer as a submission does, but for some probes.

    Attributes:
        number: The set of them.
        where: The circumstance in which they do not.
        misfits: Those probes.
    """

    mistakes: tuple[Mistake, ...]
    number: int
    where: str
    misfits: Sequence[Probe]


def find_nearest(matcher: MistakeMatcher) -> list[Nearest]:
    """Return the smallest sets of mistakes with the fewest misfits; several if they are equally near."""
    outputs = matcher.outputs
    evidence = {where: _wrong_values(matcher, where) for where in frozenset[str]().union(*outputs.special)}
    if not any(evidence.values()):
        return []
    for size in range(1, min(outputs.mistake_set.together, MAX_TOGETHER) + 1):
        found = []
        for mistakes in outputs.sets(size):
            where, misfits = matcher.misfits(mistakes)
            if where and _is_evident(matcher, mistakes, evidence[where]):
                found.append(Nearest(outputs.members(mistakes), mistakes, where, misfits))
        if found:
            fewest = min(len(each.misfits) for each in found)
            return [each for each in found if len(each.misfits) == fewest]
    return []


def find_absent(matcher: MistakeMatcher, nearest: Nearest) -> tuple[Mistake, ...]:
    """Return those of the mistakes that are not made in the circumstance, if without them all is explained there.

    A check may ask in the circumstance and outside of it: each of its answers is explained by either. A mistake that
    may be made there, since nothing asks for it, is none of them.
    """
    outputs, whole = matcher.outputs, nearest.number
    singles = [1 << bit for bit in range(whole.bit_length()) if whole >> bit & 1]
    numbers = [outputs.probes.index(probe) for probe in nearest.misfits]
    kept = singles if len(singles) > 1 else []
    left = [each for each in (*kept, 0) if all(_is_either(matcher, number, whole, each) for number in numbers)]
    if not left:
        return ()
    made = 0 if len(left) > len(kept) else left[0]
    return outputs.members(whole & ~made)


def changes_arguments(matcher: MistakeMatcher, nearest: Nearest) -> bool:
    """Return True if all that is not explained is that arguments are changed, which the reference leaves alone."""
    return all(_changes_arguments(matcher, nearest.number, probe) for probe in nearest.misfits)


def _changes_arguments(matcher: MistakeMatcher, mistakes: int, probe: Probe) -> bool:
    outputs, number = matcher.outputs, matcher.outputs.probes.index(probe)
    answer = outputs.answer(number, mistakes & outputs.reached[number])
    return only_changes_arguments(outputs, probe, matcher.seen[probe.name], answer)


def _is_either(matcher: MistakeMatcher, number: int, whole: int, left: int) -> bool:
    probe, reached = matcher.outputs.probes[number], matcher.outputs.reached[number]
    seen = matcher.seen[probe.name]
    answers = [matcher.outputs.answer(number, each & reached) for each in (left, whole)]
    lists = (seen, *answers)
    if agree(seen, answers[0], probe):
        return True
    if not all(isinstance(each, list) for each in lists) or len({*map(len, lists)}) > 1:
        return False
    return all(any(agree(found, answer, probe) for answer in pair) for found, *pair in zip(*lists, strict=True))


def _is_evident(matcher: MistakeMatcher, mistakes: int, wrong: Sequence[int]) -> bool:
    """Return True if values speak for each of these mistakes outside a circumstance, and not only errors.

    That is so where without it the others do not fit. A mistake that is recognised by certain probes only is known by
    these, or not at all.

    Args:
        wrong: What `_wrong_values` returned for the circumstance.
    """
    if any(mistake.only for mistake in matcher.outputs.members(mistakes)):
        return False
    speaking = [number for number in wrong if matcher.speaks(number, mistakes)]
    singles = (1 << bit for bit in range(mistakes.bit_length()) if mistakes >> bit & 1)
    return all(any(not matcher.agrees(number, mistakes & ~one) for number in speaking) for one in singles)


def _wrong_values(matcher: MistakeMatcher, where: str) -> list[int]:
    """Return the probes outside a circumstance, none of them aside, that are answered wrong.

    What mostly raises errors is explained by them: then only those that are answered by values.
    """
    probes = zip(matcher.outputs.probes, matcher.outputs.special, strict=True)
    asked = [number for number, (probe, special) in enumerate(probes) if where not in special and not probe.aside]
    returned = [number for number in asked if matcher.returned(number)]
    evidence = asked if 2 * len(returned) > len(asked) else returned
    return [number for number in evidence if not matcher.agrees(number, 0)]
