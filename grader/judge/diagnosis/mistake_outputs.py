"""What the known mistakes of one function answer, alone and together: found out when first asked, then remembered.

What single mistakes and the correct version answer is kept. Of several together, which may be thousands, only the
weights are, and a few answers: a batch of any size stays within the memory of a small one.

A set of mistakes is an integer, with bit `i` for the mistake number `i` of the family.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from grader.errors import SelfattendError
from grader.judge.diagnosis.mistakes import Family, Mistake, Probe
from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import LocalSubject, Subject
from grader.judge.transcript.prefetch import PrefetchedSubject
from grader.judge.transcript.replay import NotRecorded
from grader.judge.transcript.transcript import Recorder, Transcript
from grader.judge.values.compare import Raised, same
from grader.judge.values.fingerprint import Weight, weigh
from grader.judge.values.random_inputs import Rand, derive

# Probe inputs are the same in every run: the audit proves every mistake's margin on exactly these.
PROBE_SEED = 2017

# In place of an observation that could not be made for the form of what came back: it speaks for nothing.
NO_EVIDENCE = Raised("no-evidence", "")

MOST_KEPT = 256  # answers of several mistakes together

Observations = dict[str, Any]
Key = tuple[int, int]  # the number of a probe, a set of mistakes


def observe(probe: Probe, subject: Subject, arrays: str) -> Any:
    """One probe's observation of a subject; an error is an observation too."""
    seed = derive(PROBE_SEED, probe.name)
    try:
        return probe.run(subject, Rand(seed, arrays))
    except LearnerError as error:
        return Raised(error.kind, error.type_name)
    except NotRecorded:
        return NO_EVIDENCE
    except SelfattendError:
        raise  # ours, not what the subject returned
    except Exception as error:  # the probe could not use what the subject returned: None, a list, another rank
        return Raised("unusable", type(error).__name__)
    finally:
        if isinstance(subject, LocalSubject):
            subject.release()


def observe_all(known: Known, subject: Subject) -> Observations:
    """Observe a subject on every probe; prefetched replies are used where they go as far as the probe asks."""
    observations = {}
    if isinstance(subject, PrefetchedSubject):
        with suppress(LearnerError):  # then there is no worker, and each probe says so
            subject.fetch(list(known.transcripts.values()))
        for probe, transcript in known.transcripts.items():
            if player := subject.player(transcript):
                observation = observe(probe, player, known.arrays)
                if not player.parted:
                    observations[probe.name] = observation
    for probe in known.family.probes:
        if probe.name not in observations:
            observations[probe.name] = observe(probe, subject, known.arrays)
    return observations


def agree(seen: Any, answer: Any, probe: Probe) -> bool:
    """Whether an observation does not speak against an answer."""
    return seen is NO_EVIDENCE or same(seen, answer, probe.atol, probe.nan_tells_nothing)


class Known:
    """The known mistakes of one family, asked."""

    def __init__(self, family: Family, kinds: Mapping[str, str], arrays: str) -> None:
        self.family, self.kinds, self.arrays = family, kinds, arrays
        self._answers: dict[Key, Any] = {}
        self._several: OrderedDict[Key, Any] = OrderedDict()  # those of several mistakes that are unlike all others
        self._weights: dict[Key, Weight] = {}
        self._by_weight: dict[Weight, Any] = {}
        self._subjects: dict[int, LocalSubject] = {}
        self._sets: dict[int, Sequence[int]] = {}

    def sets(self, size: int) -> Sequence[int]:
        """All sets of `size` mistakes that can be made at once: different ids, different steps."""
        if size not in self._sets:
            self._sets[size] = list(self._joined(size))
        return self._sets[size]

    def _joined(self, size: int) -> Iterator[int]:
        numbered = list(enumerate(self.family.mistakes))
        joinable = [(i, m) for i, m in numbered if m.changes and m.version is None and not m.only]
        for combination in itertools.combinations(joinable if size > 1 else numbered, size):
            steps = [step for _, mistake in combination for step in mistake.changes]
            if size == 1 or (len(set(steps)) == len(steps) and len({m.id for _, m in combination}) == size):
                yield sum(1 << i for i, _ in combination)

    def members(self, mistakes: int) -> tuple[Mistake, ...]:
        """The mistakes of a set."""
        found = []
        while mistakes:
            found.append(self.family.mistakes[(mistakes & -mistakes).bit_length() - 1])  # the lowest bit
            mistakes &= mistakes - 1
        return tuple(found)

    @cached_property
    def counting(self) -> list[int]:
        """For each probe, the mistakes that it comes to. Of several at once, those in other steps change nothing."""
        return [self._counting(probe) for probe in self.family.probes]

    def _counting(self, probe: Probe) -> int:
        steps = self.family.steps
        used = {name for name, step in steps.items() if not _is_plain_function(step)}  # these count always
        recorded = {name: _recording(step, name, used) for name, step in steps.items() if name not in used}
        observe(probe, self.subject_for(self.family.build(recorded)), self.arrays)
        return sum(1 << i for i, m in enumerate(self.family.mistakes) if not used.isdisjoint(m.changes))

    @cached_property
    def transcripts(self) -> dict[Probe, Transcript]:
        """What the probes ask of the correct version."""
        transcripts = {probe: Transcript() for probe in self.family.probes}
        for probe, transcript in transcripts.items():
            observe(probe, Recorder(self.subject_with(()), self.kinds, transcript.submission), self.arrays)
        return transcripts

    def weight(self, probe: int, mistakes: int) -> Weight:
        """The weight of what a set of mistakes answers to the probe of this number."""
        if (probe, mistakes) not in self._weights:
            self.answer(probe, mistakes)
        return self._weights[probe, mistakes]

    def answer(self, probe: int, mistakes: int) -> Any:
        """What a set of mistakes answers to the probe of this number; the correct version if it is empty."""
        key = (probe, mistakes)
        for kept in (self._answers, self._several):
            if key in kept:
                return kept[key]
        found = observe(self.family.probes[probe], self._subject(mistakes), self.arrays)
        weight = self._weights[key] = weigh(found)
        twin = self._by_weight.get(weight, NO_EVIDENCE)
        if same(found, twin, atol=0.0):
            self._answers[key] = twin
        elif mistakes.bit_count() < 2:
            self._answers[key] = self._by_weight[weight] = found
        else:
            self._several[key] = found
            if len(self._several) > MOST_KEPT:
                self._several.popitem(last=False)
        return found

    def _subject(self, mistakes: int) -> LocalSubject:
        if mistakes.bit_count() > 1:
            return self.subject_with(self.members(mistakes))
        if mistakes not in self._subjects:
            self._subjects[mistakes] = self.subject_with(self.members(mistakes))
        return self._subjects[mistakes]

    def subject_with(self, combination: Sequence[Mistake]) -> LocalSubject:
        """The function with these mistakes in it, to be probed like a submission."""
        changes = {step: value for mistake in combination for step, value in mistake.changes.items()}
        version = combination[0].version if len(combination) == 1 else None
        return self.subject_for(self.family.build(changes, version))

    def subject_for(self, version: Any) -> LocalSubject:
        """Any function of ours in the place of the family's."""
        return LocalSubject({self.family.function: version}, self.kinds)


class Fitting:
    """One submission's observations, held against what is known."""

    def __init__(self, known: Known, seen: Observations) -> None:
        self._known, self._seen = known, seen
        self._weights = {name: weigh(observation) for name, observation in seen.items()}
        self._agreed: list[dict[int, bool]] = [{} for _ in known.family.probes]

    def fits_one(self, mistakes: int) -> bool:
        """Whether a single mistake answers as was seen, on every probe that it is recognised by."""
        (mistake,) = self._known.members(mistakes)
        probes = enumerate(self._known.family.probes)
        return all(self._agrees(i, mistakes) for i, probe in probes if not mistake.only or probe.name in mistake.only)

    def fits(self, mistakes: int) -> bool:
        """Whether several mistakes together answer every probe as was seen."""
        unknown = []
        for probe, (counting, agreed) in enumerate(zip(self._known.counting, self._agreed, strict=True)):
            known = agreed.get(mistakes & counting)
            if known is None:
                unknown.append((probe, mistakes & counting))
            elif not known:
                return False
        # what fewer answer is more often remembered
        return all(self._agrees(probe, few) for probe, few in sorted(unknown, key=lambda pair: pair[1].bit_count()))

    def _agrees(self, probe: int, mistakes: int) -> bool:
        agreed = self._agreed[probe]
        if mistakes not in agreed:
            agreed[mistakes] = self._compared(probe, mistakes)
        return agreed[mistakes]

    def _compared(self, number: int, mistakes: int) -> bool:
        probe = self._known.family.probes[number]
        seen = self._seen[probe.name]
        if seen is not NO_EVIDENCE and self._weights[probe.name].rules_out(
            self._known.weight(number, mistakes), probe.atol
        ):
            return False
        return agree(seen, self._known.answer(number, mistakes), probe)


def _is_plain_function(step: Any) -> bool:
    return callable(step) and not isinstance(step, type)


def _recording(step: Any, name: str, used: set[str]) -> Any:
    """The step itself, noting that it was come to."""

    def recorded(*args: Any, **kwargs: Any) -> Any:
        used.add(name)
        return step(*args, **kwargs)

    return recorded
