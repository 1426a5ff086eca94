"""Name the mistake: find the known mistakes with which every probe is answered exactly as the submission answers it.

If no single mistake does, pairs (and, where a mistake set says so, triples) of mistakes in different steps are tried.
Where several combinations fit, only what they have in common is certain, and only that is named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from grader.judge.diagnosis.changed_arguments import changed_arguments
from grader.judge.diagnosis.circumstances import IN_ARGUMENTS
from grader.judge.diagnosis.forgive import forgive_changes, forgive_names
from grader.judge.diagnosis.mistake_matcher import MistakeMatcher
from grader.judge.diagnosis.mistake_outputs import (
    MOST_PAIRS,
    MistakeOutputs,
    Observations,
    agree,
    is_error,
    observe,
)
from grader.judge.diagnosis.nearest_mistake import changes_arguments, find_absent, find_nearest
from grader.judge.diagnosis.output_format import describe_form, find_form_besides, reformat
from grader.judge.diagnosis.structural_facts import find_facts, only_gradients_differ, sizes_in, where_cut_off
from grader.judge.mistakes.mistake_set import Mistake, MistakeSet, Probe
from grader.judge.processes.remote_module import CallableModule
from grader.judge.values.compare import Raised, same
from grader.judge.values.difference_patterns import Fact
from grader.judge.values.mend import has_far_more
from grader.judge.values.scale_patterns import Sizes
from grader.model import Counterexample, Named


@dataclass
class Diagnosis:
    """What the probes of one function showed.

    Attributes:
        right: The stages of the probes that were answered right.
        wrong: Those of the others.
        first_wrong: The first of them, the submission's answer and the reference's.
        wrong_answers: All wrong answers of the submission, and the reference's.
        format_note: What is wrong with the form of the answers: a list in place of a tensor, say.
        raises: Beside what is named, which explains most that was seen, an error is raised.
        raises_besides: Beside what is named, which explains all that counts, an error is raised.
        facts: Where nothing has a name, sentences on what the answers depend on.
        sizes: What each size is in what the first wrong probe asks.
        only_gradients: Where nothing has a name, all values are right.
    """

    named: list[Named] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    first_wrong: tuple[Probe, Any, Any] | None = None
    wrong_answers: list[tuple[Any, Any]] = field(default_factory=list)
    format_note: str = ""
    raises: bool = False
    raises_besides: bool = False
    facts: list[Fact] = field(default_factory=list)
    sizes: Sizes = field(default_factory=dict)
    only_gradients: bool = False
    counterexamples: list[Counterexample] = field(default_factory=list)

    @property
    def wrong_form(self) -> str:
        """What is wrong with the form of the first wrong answer that has another one, if no answer is far too large."""
        if any(has_far_more(*pair) for pair in self.wrong_answers):
            return ""
        return next(filter(None, (describe_form(*pair) for pair in self.wrong_answers)), "")


class Diagnostician:
    """Names the mistakes of one function; what each known mistake answers is computed once.

    Args:
        asked: Probes made from the function's checks; those of the mistake set come after them.

    Raises:
        ValueError: A mistake is to be recognised by a probe that there is not.
    """

    def __init__(
        self, mistake_set: MistakeSet, kinds: Mapping[str, str], arrays: str, asked: Sequence[Probe] = ()
    ) -> None:
        self.mistake_set, self.arrays, self.probes = mistake_set, arrays, [*asked, *mistake_set.probes]
        self.outputs = MistakeOutputs(mistake_set, kinds, arrays, self.probes)
        known = {probe.name for probe in self.probes}
        for mistake in mistake_set.mistakes:
            if unknown := set(mistake.only) - known:
                raise ValueError(f"{mistake.id} names unknown probes {sorted(unknown)}; there are {sorted(known)}")

    def diagnose(
        self,
        subject: CallableModule,
        known: Mapping[str, Any] = MappingProxyType({}),
        beside: Collection[str] = (),
    ) -> Diagnosis:
        """Observe the subject on every probe and say what that means.

        Args:
            known: As for `observe_all`.
            beside: The ids of mistakes that were named in the lesson's other functions, which this one may call.
        """
        seen = self.outputs.observe_all(subject, known)
        diagnosis = self._compare(seen)
        if diagnosis.first_wrong is None:
            return diagnosis
        matcher = MistakeMatcher(self.outputs, seen)
        mistakes = self.explain(matcher)
        mistakes += self._explain_asides(matcher, mistakes) if mistakes else []
        diagnosis.raises_besides = self._raises_besides(mistakes, seen)
        if {each.id for each in mistakes} <= {*beside}:  # which are told there
            mistakes = self._explain_with_called(matcher, beside) or mistakes
        diagnosis.named = self._name(mistakes) or self._name_nearest(matcher, diagnosis)
        if not diagnosis.named and changed_arguments(self.outputs, seen):
            matcher = MistakeMatcher(self.outputs, forgive_changes(self.outputs, seen))
            diagnosis.named = self._name(self.explain(matcher, asides=False)) or self._name_nearest(matcher, diagnosis)
        if diagnosis.named:
            ids = {each.id for each in diagnosis.named}
            diagnosis.format_note = "" if diagnosis.raises else find_form_besides(self.outputs, seen, ids)
            return diagnosis
        changed, notes = self._reformat(seen)
        if any(notes):
            matcher = MistakeMatcher(self.outputs, changed)
            diagnosis.named = self._name(self.explain(matcher, asides=False))
            # a wrong form is told where it is the whole fault, beside a mistake that has a name, or where it shows at
            # once; elsewhere it would only hide that the values are wrong
            if diagnosis.named or notes[0] or not self._refuting(changed):
                diagnosis.format_note = next(filter(None, notes))
        if not diagnosis.named and not diagnosis.format_note:
            diagnosis.facts = find_facts(self.outputs, subject, seen)
            diagnosis.sizes = sizes_in(self.outputs, diagnosis.first_wrong[0])
            diagnosis.only_gradients = only_gradients_differ(self.outputs, seen)
        return diagnosis

    def _name(self, mistakes: Sequence[Mistake], but: str = "", of: Sequence[Mistake] = ()) -> list[Named]:
        """Name mistakes, and say of some, or of all behind the last one, what is said besides."""
        told = [each for each in mistakes if each in of] or mistakes[-1:]
        return [
            Named(each.id, self.mistake_set.function, f"{each.says}{but if each in told else ''}", each.suggests)
            for each in mistakes
        ]

    def _name_nearest(self, matcher: MistakeMatcher, diagnosis: Diagnosis) -> list[Named]:
        """Name the mistakes that explain most of what was seen, and say what they do not explain."""
        nearest, seen = find_nearest(matcher), matcher.seen
        if not nearest:
            return []
        misfits = [(seen[probe.name], self.outputs.reference(probe)) for probe in nearest[0].misfits]
        diagnosis.raises = any(is_error(found, expected) for found, expected in misfits)
        there = "it can raise an error" if diagnosis.raises else "it does something else besides"
        mistakes = _common([each.mistakes for each in nearest])
        absent = [each for each in find_absent(matcher, nearest[0]) if each in mistakes]
        if absent:
            there = "it is right" if len(absent) == len(mistakes) else "that is right"
        where = nearest[0].where
        but = f" ({where[0].upper()}{where[1:]} {there}.)"
        if where == IN_ARGUMENTS and not absent:  # they are changed; to what is no second mistake
            but = ""
        if not absent and changes_arguments(matcher, nearest[0]):
            but = " (Besides, the arguments are changed.)"
        elif cut_off := "" if absent else where_cut_off(self.outputs, seen, nearest[0].misfits):
            but = f" (Besides, no gradient reaches {cut_off}.)"
        asides = self._explain_asides(matcher, mistakes, nearest[0].where) if mistakes else []
        return self._name(mistakes, but, absent[-1:]) + self._name(asides)

    def explain(self, matcher: MistakeMatcher, *, asides: bool = True, rare: bool = True) -> list[Mistake]:
        """Return the mistakes that together answer exactly as was seen.

        Empty if none do, if it is not certain, or if nothing speaks against the reference.

        Args:
            asides: Probes aside count where all others are answered right.
            rare: Two mistakes may be it of which one is rare, which takes longest to find.
        """
        seen = matcher.seen
        wrong = self._refuting(seen, aside=False)
        if not wrong:
            return self._explain_asides(matcher) if asides else []
        # errors all look alike, and of two mistakes that raise them some pair fits almost any: values must speak too
        errors = [_is_only_errors(pair) for pair in wrong]
        most = 1 if all(errors) else self.mistake_set.together
        for size, sets in self._candidates(matcher, most, rare):
            found = [each for each in sets if (size > 1 or not self._asides_of(each)) and matcher.fits(each)]
            found = [each for each in found if size == 1 or self._is_confirmed(self.outputs.members(each), seen)]
            if size == 2 and any(errors):
                found = [each for each in found if self._is_usual(each) or self._is_evident(matcher, each)]
            if most == 1:
                found = [each for each in found if self._raises_alike(self.outputs.members(each), seen)]
            if found:
                fits = [self.outputs.members(each) for each in found]
                is_partial = size == 1 < most and not any(map(matcher.explains, found))
                return (is_partial and self._explain_beside(_common(fits), matcher)) or _common(fits)
        return self._explain_apart(matcher) if most > 1 else []

    def _candidates(self, matcher: MistakeMatcher, most: int, has_rare: bool) -> Iterator[tuple[int, Sequence[int]]]:
        """Yield the sets of mistakes to try, by their size: likely pairs before all, the usual ones before the rare.

        Of all pairs two may do together what neither does alone.
        """
        for size in range(1, most + 1):
            if size == 2:
                pairs = matcher.likely_pairs
                rare = [pair for pair in pairs if any(each.alone or each.only for each in self.outputs.members(pair))]
                yield size, sorted({*pairs}.difference(rare))
                yield size, rare if has_rare and len(rare) <= MOST_PAIRS else []
            yield size, self.outputs.sets(size)
            if size == 2 and has_rare:
                yield size, self.outputs.rare_pairs or matcher.pairs_of_seen

    def _explain_beside(self, known: Sequence[Mistake], matcher: MistakeMatcher) -> list[Mistake]:
        """Return two mistakes that answer every probe as was seen, where few probes have recognised one of them."""
        ids = {mistake.id for mistake in known}
        pairs = [(each, self.outputs.members(each)) for each in (*self.outputs.sets(2), *matcher.likely_pairs)]
        fits = [pair for each, pair in pairs if ids & {one.id for one in pair} and matcher.fits(each)]
        found = [pair for pair in fits if self._is_confirmed(pair, matcher.seen)]
        return _common(found) or self._explain_rest(known, matcher) or self._explain_apart(matcher)

    def _explain_apart(self, matcher: MistakeMatcher) -> list[Mistake]:
        """Return two mistakes of which certain probes recognise one, in whatever way it is written."""
        pairs = [(1 << i, 1 << j) for i, _ in self.outputs.recognised for j, _ in self.outputs.joinable]
        pairs = [pair for pair in pairs if self.outputs.go_together(sum(pair))]
        return _common([self.outputs.members(sum(pair)) for pair in pairs if matcher.explains_apart(*pair)])

    def _explain_with_called(self, matcher: MistakeMatcher, called: Collection[str]) -> list[Mistake]:
        """Return the mistake that answers as was seen together with one that is known, in a function that is called.

        It may be a rare one. If none answers all, it may be one that certain probes recognise.
        """
        changing = [(1 << i, each) for i, each in enumerate(self.mistake_set.mistakes) if each.changes]
        known = [bit for bit, each in changing if each.id in called]
        if any(map(matcher.explains, known)):
            return []
        pairs = [(bit, bit | one, other) for bit in known for one, other in changing if other.id not in called]
        pairs = [each for each in pairs if self.outputs.go_together(each[1])]
        told = [other for _, pair, other in pairs if matcher.explains(pair)]
        # where all that was seen are errors, each is explained by any mistake that makes one
        recognised = [each for each in pairs if each[2].only] if matcher.wrong_values else []
        told = told or [other for bit, pair, other in recognised if _tells(matcher, other.only, bit, pair)]
        return _common([(other,) for other in told])

    def _explain_rest(self, known: Sequence[Mistake], matcher: MistakeMatcher) -> list[Mistake]:
        """Return mistakes together with others that explain the rest, where wrong names in a state are forgiven."""
        explained = {name for mistake in known for name in mistake.only}
        both = {probe.name: (matcher.seen[probe.name], self.outputs.reference(probe)) for probe in self.probes}
        rest = {name: pair[1] if name in explained else forgive_names(*pair) for name, pair in both.items()}
        others = self.explain(MistakeMatcher(self.outputs, rest), asides=False, rare=False) if known else []
        is_shown = not any(explained & {*each.only} for each in others)  # and not by what is taken to be right here
        return [*known, *others] if others and is_shown else []

    def _explain_asides(
        self, matcher: MistakeMatcher, known: Sequence[Mistake] = (), unclear: str = ""
    ) -> list[Mistake]:
        """Return for each probe aside that is answered wrong the mistake that it recognises, if it is certain.

        Args:
            known: Mistakes that are made besides; what one of them does in some way of writing it is no other.
            unclear: A circumstance in which something else is wrong, too.
        """
        named: list[Mistake] = []
        made = sum(1 << self.mistake_set.mistakes.index(each) for each in known)
        ids = {each.id for each in known}
        ways = [made, *(1 << i for i, each in enumerate(self.mistake_set.mistakes) if each.id in ids)]
        for number, probe in enumerate(self.probes):
            is_clear = probe.aside and unclear not in self.outputs.special[number]
            if is_clear and not any(matcher.agrees(number, way) for way in ways):
                told = [each for each in self.outputs.sets(1) if probe.name in self._asides_of(each)]
                named += _common([self.outputs.members(each) for each in told if matcher.fits_beside(made, each)])
        return [each for each in {mistake.id: mistake for mistake in named}.values() if each not in known]

    def _asides_of(self, mistakes: int) -> set[str]:
        """Return the probes aside that recognise the first mistake of a set."""
        only = self.outputs.members(mistakes)[0].only
        return {probe.name for probe in self.probes if probe.aside and probe.name in only} if only else set()

    def _is_confirmed(self, combination: Sequence[Mistake], seen: Observations) -> bool:
        """Return True if a combination still fits when all that it answers is computed anew."""
        subject = self.outputs.subject_with(combination)
        probes = [probe for probe in self.probes if not probe.aside]
        return all(agree(seen[probe.name], observe(probe, subject, self.arrays), probe) for probe in probes)

    def _is_usual(self, mistakes: int) -> bool:
        return not any(each.alone or each.only for each in self.outputs.members(mistakes))

    def _is_evident(self, matcher: MistakeMatcher, pair: int) -> bool:
        """Return True if values speak for one of two mistakes at least, and each error is that which was seen.

        An error is explained by chance by one of so many pairs of which one is rare.
        """
        asked = [number for number, probe in enumerate(self.probes) if not probe.aside and matcher.returned(number)]
        speaking = [number for number in asked if matcher.speaks(number, pair)]
        singles = [1 << bit for bit in range(pair.bit_length()) if pair >> bit & 1]
        spoken = [any(not matcher.agrees(number, pair & ~one) for number in speaking) for one in singles]
        return any(spoken) and self._raises_alike(self.outputs.members(pair), matcher.seen, all)

    def _raises_alike(
        self,
        combination: Sequence[Mistake],
        seen: Observations,
        enough: Callable[[Iterable[bool]], bool] = any,
    ) -> bool:
        """Return True if one of its errors at least is that which was seen, and not only of the same type."""
        subject = self.outputs.subject_with(combination)
        answers = [(seen[probe.name], observe(probe, subject, self.arrays)) for probe in self.probes]
        alike = [found.about == answer.about for pair in answers for found, answer in _error_pairs(*pair)]
        return enough(alike) or not alike

    def _raises_besides(self, mistakes: Sequence[Mistake], seen: Observations) -> bool:
        """Return True if a probe aside saw an error that these mistakes do not make."""
        asked = [probe for probe in self.probes if probe.aside and isinstance(seen[probe.name], Raised)]
        if not mistakes or not asked or any(probe.name in each.only for probe in asked for each in mistakes):
            return False
        subject = self.outputs.subject_with(mistakes)
        return any(not agree(seen[probe.name], observe(probe, subject, self.arrays), probe) for probe in asked)

    def _compare(self, seen: Observations) -> Diagnosis:
        """Sort the probes by whether they were answered as the reference answers them."""
        diagnosis = Diagnosis()
        for probe in self.probes:
            expected = self.outputs.reference(probe)
            good = agree(seen[probe.name], expected, probe)
            no_evidence = good and not same(seen[probe.name], expected, probe.atol)
            if probe.stage and not no_evidence:
                (diagnosis.right if good else diagnosis.wrong).append(probe.stage)
            if not good:
                diagnosis.wrong_answers.append((seen[probe.name], expected))
            if not good and diagnosis.first_wrong is None:
                diagnosis.first_wrong = (probe, *_first_difference(seen[probe.name], expected, probe.atol))
        return diagnosis

    def _refuting(self, seen: Observations, *, aside: bool = True) -> list[tuple[Any, Any]]:
        """Return the observations that speak against the reference, each with what the reference answers."""
        asked = [probe for probe in self.probes if aside or not probe.aside]
        both = [(probe, seen[probe.name], self.outputs.reference(probe)) for probe in asked]
        return [(found, expected) for probe, found, expected in both if not agree(found, expected, probe)]

    def _reformat(self, seen: Observations) -> tuple[Observations, list[str]]:
        """Return the observations in the form that was asked for, and for each probe what had to be changed."""
        changed, said = {}, []
        for probe in self.probes:
            notes: list[str] = []
            changed[probe.name] = reformat(seen[probe.name], self.outputs.reference(probe), notes)
            said.append(notes[0] if notes else "")
        return changed, said


def _tells(matcher: MistakeMatcher, only: Collection[str], known: int, pair: int) -> bool:
    """Return True if a pair answers the probes that recognise the one mistake, on which the known one is nothing."""
    outputs = matcher.outputs
    telling = [(number, probe) for number, probe in enumerate(outputs.probes) if probe.name in only]
    alone = [(outputs.answer(number, known & outputs.reached[number]), probe) for number, probe in telling]
    is_nothing = all(same(answer, outputs.reference(probe), probe.atol) for answer, probe in alone)
    return is_nothing and matcher.answers(pair, only)


def _first_difference(seen: Any, expected: Any, atol: float) -> tuple[Any, Any]:
    """Return the first parts of two observations that differ."""
    if isinstance(seen, list) and isinstance(expected, list) and len(seen) == len(expected):
        pairs = zip(seen, expected, strict=True)
    elif isinstance(seen, dict) and isinstance(expected, dict) and seen.keys() == expected.keys():
        pairs = zip(seen.values(), expected.values(), strict=True)
    else:
        return seen, expected
    differing = next((pair for pair in pairs if not same(*pair, atol)), None)
    return _first_difference(*differing, atol) if differing else (seen, expected)


def _error_pairs(seen: Any, answer: Any) -> Iterator[tuple[Raised, Raised]]:
    """Yield the errors in an observation that are errors in an answer, too."""
    if isinstance(seen, Raised) and isinstance(answer, Raised):
        yield seen, answer
    elif isinstance(seen, list) and isinstance(answer, list):
        for pair in zip(seen, answer, strict=False):
            yield from _error_pairs(*pair)


def _is_only_errors(pair: tuple[Any, Any]) -> bool:
    """Return True if an observation differs from what was expected by errors only."""
    found, expected = pair
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return all(is_error(f, e) or same(f, e) for f, e in zip(found, expected, strict=True))
    return is_error(found, expected)


def _common(fits: list[tuple[Mistake, ...]]) -> list[Mistake]:
    """Return the mistakes that all combinations share, by id: the others are not certain."""
    if not fits:
        return []
    shared = set.intersection(*({mistake.id for mistake in combination} for combination in fits))
    return [mistake for mistake in fits[0] if mistake.id in shared]
