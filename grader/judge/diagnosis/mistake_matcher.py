"""Which known mistakes answer as one submission did: its observations beside the answers of sets of mistakes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

from grader.judge.diagnosis.mistake_outputs import (
    MOST_PAIRS,
    NO_EVIDENCE,
    MistakeOutputs,
    Observations,
    agree,
    has_value,
    speaks,
)
from grader.judge.mistakes.mistake_set import Probe
from grader.judge.values.compare import Raised
from grader.judge.values.fingerprint import fingerprint

MOST_PLACES = 4  # where a mistake is looked for by itself; at all of them takes seconds when nothing is known yet


class MistakeMatcher:
    """Compares one submission's observations with the answers of sets of mistakes."""

    def __init__(self, outputs: MistakeOutputs, seen: Observations) -> None:
        self.outputs, self.seen = outputs, seen
        self._fingerprints = {name: fingerprint(observation) for name, observation in seen.items()}
        self._agreed: list[dict[int, bool]] = [{} for _ in outputs.probes]
        self._telling = -1  # the probe that has ruled out the last set of mistakes: it rules out most of them

    def fits(self, mistakes: int) -> bool:
        """Return True if a set of mistakes answers as was seen.

        A single mistake has to on the probes that recognise it, a combination on every probe that is not aside, and
        where certain probes recognise one of its mistakes, these have to tell it from the others.
        """
        if mistakes.bit_count() == 1:
            only = self.outputs.members(mistakes)[0].only
            return self.answers(mistakes, only) if only else self.explains(mistakes)
        only_of = {bit: self.outputs.members(bit)[0].only for bit in self._bits if bit & mistakes}
        return self.explains(mistakes) and not any(
            only and self.answers(mistakes & ~bit, only) for bit, only in only_of.items()
        )

    def fits_beside(self, known: int, mistake: int) -> bool:
        """Return True if a mistake that certain probes recognise answers these as was seen, made beside known ones.

        Of two in one step it answers them alone, if the known ones change nothing there.
        """
        only, made = self.outputs.members(mistake)[0].only, known | mistake
        numbers = [number for number, probe in enumerate(self.outputs.probes) if probe.name in only]
        if not self.outputs.go_together(made):
            made = mistake
            if any(self.outputs.moves(number, known) for number in numbers):
                return False
        return self.answers(made, only) and all(self._raises_alike(number, made) for number in numbers)

    def _raises_alike(self, number: int, mistakes: int) -> bool:
        """Return True if an error that was seen is about the same as that of these mistakes; so is any value."""
        seen = self.seen[self.outputs.probes[number].name]
        answer = self.outputs.answer(number, mistakes & self.outputs.reached[number])
        return not (isinstance(seen, Raised) and isinstance(answer, Raised)) or seen.about == answer.about

    def answers(self, mistakes: int, only: Collection[str]) -> bool:
        """Return True if a set of mistakes answers these probes as was seen."""
        if all(self.seen[name] is NO_EVIDENCE for name in only):
            return False
        numbers = [number for number, probe in enumerate(self.outputs.probes) if probe.name in only]
        return not self._find_misfits(mistakes, numbers, frozenset())[1]

    def explains(self, mistakes: int) -> bool:
        """Return True if a set of mistakes answers every probe that is not aside as was seen."""
        telling = self._telling
        if telling >= 0 and self._is_ruled_out(telling, mistakes & self.outputs.reached[telling]):
            return False
        _, found = self._find_misfits(mistakes, self._order, frozenset())
        self._telling = found[0] if found else telling
        return not found

    @cached_property
    def likely_pairs(self) -> list[int]:
        """The pairs of mistakes that may answer as was seen, by what each of them answers alone.

        A probe that one of two mistakes moves, and the other does not, is taken to be answered as by that one alone.
        """
        bits = self._bits
        partners = {bit: sum(bits) ^ bit for bit in bits}
        for number in self._order:
            moving = [bit for bit in partners if self.outputs.moves(number, bit)]
            enough = sum(bit for bit in moving if self.agrees(number, bit))
            beside_none = enough | (~sum(moving) if self.agrees(number, 0) else 0)
            for bit, others in partners.items():
                if not bit & enough:
                    partners[bit] = others & (sum(moving) if bit in moving else beside_none)
            partners = {bit: others for bit, others in partners.items() if others}
        pairs = [bit | other for bit, others in partners.items() for other in bits if bit < other & others]
        return [pair for pair in pairs if self.outputs.go_together(pair)]

    @cached_property
    def pairs_of_seen(self) -> list[int]:
        """The pairs of a mistake that by itself explains some wrong value, with each other one: they may interact."""
        places = self.wrong_values[:MOST_PLACES]
        seen = [bit for bit in self._bits if any(self.agrees(number, bit) for number in places)]
        pairs = {bit | other for bit in seen for other in self._bits if bit != other}
        return sorted(filter(self.outputs.go_together, pairs)) if len(pairs) <= MOST_PAIRS else []

    @cached_property
    def wrong_values(self) -> list[int]:
        """The probes not aside to which a wrong value was returned, and no error raised."""
        return [number for number in self._order if self.returned(number) and not self.agrees(number, 0)]

    @cached_property
    def _bits(self) -> list[int]:
        return [1 << number for number, _ in (*self.outputs.joinable, *self.outputs.recognised)]

    def explains_apart(self, recognised: int, other: int) -> bool:
        """Return True if of two mistakes each explains what it alone changes, and values speak for the other one.

        Certain probes recognise the first in whatever way it is written; what else it changes says nothing here.
        """
        apart = [number for number in self._order if not self.outputs.moves(number, recognised)]
        if not all(self.agrees(number, other) for number in apart):
            return False
        speaking = [number for number in self.wrong_values if number in apart and self.speaks(number, other)]
        only = self.outputs.members(recognised)[0].only
        return bool(speaking) and not self.answers(other, only) and self.answers(recognised | other, only)

    def misfits(self, mistakes: int) -> tuple[str, list[Probe]]:
        """Return the probes on which a set of mistakes answers otherwise than was seen, and where these ask.

        That is a circumstance which all of them have, and fewest others; if there is none, it is empty, and not all of
        the probes are returned.
        """
        special = self.outputs.special
        shared, found = self._find_misfits(mistakes, self._order, self._circumstances)
        where = min(shared, key=lambda words: (sum(words in each for each in special), words), default="")
        return where, [self.outputs.probes[number] for number in found]

    @cached_property
    def _order(self) -> list[int]:
        """The probes not aside; what is asked in few special circumstances, which rules most mistakes out, is first."""
        numbers = [number for number, probe in enumerate(self.outputs.probes) if not probe.aside]
        return sorted(numbers, key=lambda number: len(self.outputs.special[number]))

    @cached_property
    def _circumstances(self) -> frozenset[str]:
        return frozenset[str]().union(*self.outputs.special)

    def _find_misfits(
        self, mistakes: int, numbers: Sequence[int], shared: frozenset[str]
    ) -> tuple[frozenset[str], list[int]]:
        """Return the probes on which a set of mistakes misfits, until they share none of these circumstances."""
        special, found, open_questions = self.outputs.special, [], []
        for number in numbers:
            few = mistakes & self.outputs.reached[number]
            known = self._agreed[number].get(few)
            if known is None:
                open_questions.append((number, few))
            elif not known:
                shared &= special[number]
                found.append(number)
                if not shared:
                    return shared, found
        # of smaller sets more answers are kept, and of all more fingerprints, which rule most of them out
        open_questions.sort(key=lambda pair: pair[1].bit_count())
        for is_misfit in (self._is_ruled_out, lambda *question: not self.agrees(*question)):
            likely = []
            for number, few in open_questions:
                if not is_misfit(number, few):
                    likely.append((number, few))
                    continue
                shared &= special[number]
                found.append(number)
                if not shared:
                    return shared, found
            open_questions = likely
        return shared, found

    def speaks(self, number: int, mistakes: int) -> bool:
        """Return True if a wrong answer to the probe number `number` speaks for a set of mistakes that has it, too."""
        seen, probe = self.seen[self.outputs.probes[number].name], self.outputs.probes[number]
        reached = mistakes & self.outputs.reached[number]
        return speaks(seen, self.outputs.reference(probe), self.outputs.answer(number, reached))

    def returned(self, number: int) -> bool:
        """Return True if a value was seen at the probe number `number`, and not only errors."""
        probe = self.outputs.probes[number]
        return has_value(self.seen[probe.name], self.outputs.reference(probe))

    def agrees(self, number: int, mistakes: int) -> bool:
        """Return True if a set of mistakes answers the probe number `number` as was seen."""
        mistakes &= self.outputs.reached[number]
        agreed = self._agreed[number]
        if mistakes not in agreed:
            probe = self.outputs.probes[number]
            agreed[mistakes] = not self._is_ruled_out(number, mistakes) and agree(
                self.seen[probe.name], self.outputs.answer(number, mistakes), probe
            )
        return agreed[mistakes]

    def _is_ruled_out(self, number: int, mistakes: int) -> bool:
        """Return True if fingerprints alone show that a set of mistakes answers otherwise than was seen."""
        probe = self.outputs.probes[number]
        seen, mark = self.seen[probe.name], self._fingerprints[probe.name]
        return seen is not NO_EVIDENCE and mark.rules_out(self.outputs.fingerprint(number, mistakes), probe.atol)
