"""What the known mistakes of one function answer to its probes, alone and together: computed once, when first needed.

Answers of single mistakes and of the correct version are kept. Of combinations, which may be thousands, only the
fingerprints are kept and a few answers, so that a large batch needs no more memory than a small one.

A set of mistakes is an integer in which bit `i` stands for the mistake number `i`.
"""

from __future__ import annotations

import inspect
import itertools
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import Any

from grader.errors import SelfattendError
from grader.judge.diagnosis.circumstances import circumstances_of
from grader.judge.diagnosis.error_hints import hint_for
from grader.judge.errors import LearnerError
from grader.judge.mistakes.joined_changes import join_changes
from grader.judge.mistakes.mistake_set import Mistake, MistakeSet, Probe
from grader.judge.processes.remote_module import CallableModule, LocalModule
from grader.judge.transcript.prefetch import PrefetchedModule
from grader.judge.transcript.replay import NotRecorded
from grader.judge.transcript.transcript import Exchange, Recorder, Transcript
from grader.judge.values.compare import Raised, same
from grader.judge.values.fingerprint import ROUNDING, Fingerprint, fingerprint
from grader.judge.values.random_inputs import Rand, derive

# Probe inputs are the same in every run: the audit proves every mistake's margin on exactly these.
PROBE_SEED = 2017

# In place of an observation that could not be made because of the form of a value: it is evidence for nothing.
NO_EVIDENCE = Raised("no-evidence", "")

MAX_COMBINED_ANSWERS = 256  # kept of combinations
MOST_PAIRS = 1000  # of rare ways of writing; of more, none is compared: that takes seconds

Observations = dict[str, Any]
Key = tuple[int, int]  # the number of a probe, a set of mistakes


def observe(probe: Probe, subject: CallableModule, arrays: str) -> Any:
    """Run one probe on a subject and return what it observed; an error is an observation too."""
    seed = derive(PROBE_SEED, probe.name)
    subject.seed(0)
    try:
        return probe.run(subject, Rand(seed, arrays))
    except LearnerError as error:
        return Raised(error.kind, error.type_name, hint_for(str(error)).pattern)
    except NotRecorded:
        return NO_EVIDENCE
    except SelfattendError:
        raise  # an error of the grader
    except Exception as error:  # the probe could not use what the subject returned: None, a list, another rank
        return Raised("unusable", type(error).__name__)
    finally:
        if isinstance(subject, LocalModule):
            subject.release()


def agree(seen: Any, answer: Any, probe: Probe) -> bool:
    """Return True if an observation does not speak against an answer."""
    return seen is NO_EVIDENCE or same(seen, answer, probe.atol, probe.nan_tells_nothing)


def is_error(seen: Any, expected: Any) -> bool:
    """Return True if an error was seen, of which a probe may have made a word."""
    return isinstance(seen, Raised) or (isinstance(seen, str) and not isinstance(expected, str))


def has_value(seen: Any, expected: Any) -> bool:
    """Return True if a value was seen, and not only errors or what a probe says in words or by a yes or no."""
    if isinstance(seen, list):
        return any(has_value(each, expected) for each in seen)
    return not isinstance(seen, bool | str) and not is_error(seen, expected)  # a word may be what was made of an error


def speaks(seen: Any, expected: Any, answer: Any) -> bool:
    """Return True if an observation differs from what was expected by a value, or by an error of known cause.

    Args:
        answer: What a mistake gives there that may be the one.
    """
    for kind in (list, dict):
        if all(isinstance(each, kind) for each in (seen, expected, answer)):
            shortest = min((seen, expected, answer), key=len)
            keys = range(len(shortest)) if kind is list else [key for key in expected if key in seen and key in answer]
            return any(speaks(seen[key], expected[key], answer[key]) for key in keys)
    if is_error(seen, expected):
        return isinstance(seen, Raised) and seen == answer and " " in seen.type_name  # a cause stands behind the type
    return not same(seen, expected) and not isinstance(seen, bool)


def _holds_error(seen: Any) -> bool:
    inner = seen.values() if isinstance(seen, dict) else seen if isinstance(seen, list | tuple) else ()
    return isinstance(seen, Raised) or any(map(_holds_error, inner))


class MistakeOutputs:
    """The answers of a mistake set to its probes."""

    def __init__(self, mistake_set: MistakeSet, kinds: Mapping[str, str], arrays: str, probes: Sequence[Probe]) -> None:
        self.mistake_set, self.kinds, self.arrays, self.probes = mistake_set, kinds, arrays, probes
        self._answers: dict[Key, Any] = {}
        self._combined: OrderedDict[Key, Any] = OrderedDict()  # of combinations, unlike all others
        self._fingerprints: dict[Key, Fingerprint] = {}
        self._by_fingerprint: dict[Fingerprint, Any] = {}
        self._subjects: dict[int, LocalModule] = {}
        self._sets: dict[int, Sequence[int]] = {}

    def observe_all(self, subject: CallableModule, known: Mapping[str, Any] = MappingProxyType({})) -> Observations:
        """Observe a subject on every probe; prefetched replies are used where they go as far as the probe asks.

        Args:
            known: What is observed on some probes, by their names: they are not asked.
        """
        observations = dict(known)
        if isinstance(subject, PrefetchedModule):
            with suppress(LearnerError):  # then there is no worker, and each probe says so
                subject.fetch(list(self.transcripts.values()))
            for probe, transcript in self.transcripts.items():
                if player := subject.player(transcript):
                    observation = observe(probe, player, self.arrays)
                    if not player.parted:
                        observations[probe.name] = observation
        for probe in self.probes:
            if probe.name not in observations:
                observations[probe.name] = observe(probe, subject, self.arrays)
        return observations

    def reference(self, probe: Probe) -> Any:
        """Return the correct version's answer to a probe."""
        return self.answer(self.probes.index(probe), 0)

    def sets(self, size: int) -> Sequence[int]:
        """Return all sets of `size` mistakes that can be made at once: different ids, and steps that go together."""
        if size not in self._sets:
            self._sets[size] = list(self._make_sets(size))
        return self._sets[size]

    def _make_sets(self, size: int) -> Iterator[int]:
        usual = [(i, mistake) for i, mistake in self.joinable if not mistake.alone]
        for combination in itertools.combinations(usual if size > 1 else enumerate(self.mistake_set.mistakes), size):
            mistakes = sum(1 << i for i, _ in combination)
            if size == 1 or self.go_together(mistakes):
                yield mistakes

    @cached_property
    def rare_pairs(self) -> Sequence[int]:
        """All pairs with a mistake that `sets` has by itself alone; none where they are too many."""
        pairs = itertools.combinations(self.joinable, 2)
        rare = ((1 << i) | (1 << j) for (i, a), (j, b) in pairs if a.alone or b.alone)
        found = [*itertools.islice(filter(self.go_together, rare), MOST_PAIRS + 1)]
        return found if len(found) <= MOST_PAIRS else []

    def moves(self, probe: int, mistake: int) -> bool:
        """Return True if a mistake changes the answer to a probe where it is made by itself, and of errors always."""
        expected = self.answer(probe, 0)
        if not has_value(expected, expected):  # what keeps an error away runs what stands behind it
            return True
        mark, right = self.fingerprint(probe, mistake & self.reached[probe]), self.fingerprint(probe, 0)
        apart = abs(mark.total - right.total) + abs(mark.size - right.size)
        return mark.values != right.values or not apart <= ROUNDING * right.size

    @cached_property
    def recognised(self) -> list[tuple[int, Mistake]]:
        """The mistakes that certain probes recognise, none of them aside, and that may be made beside others."""
        asides = {probe.name for probe in self.probes if probe.aside}
        mistakes = enumerate(self.mistake_set.mistakes)
        return [(i, m) for i, m in mistakes if m.changes and m.version is None and m.only and asides.isdisjoint(m.only)]

    @cached_property
    def joinable(self) -> list[tuple[int, Mistake]]:
        """The mistakes that may be made beside others, with their numbers."""
        mistakes = enumerate(self.mistake_set.mistakes)
        return [(i, each) for i, each in mistakes if each.changes and each.version is None and not each.only]

    def go_together(self, mistakes: int) -> bool:
        """Return True if the mistakes of a set have different ids and steps that go together."""
        members = self.members(mistakes)
        return len({each.id for each in members}) == len(members) and self._join(members) is not None

    def members(self, mistakes: int) -> tuple[Mistake, ...]:
        """Return the mistakes of a set."""
        found = []
        while mistakes:
            found.append(self.mistake_set.mistakes[(mistakes & -mistakes).bit_length() - 1])  # the lowest bit
            mistakes &= mistakes - 1
        return tuple(found)

    @cached_property
    def reached(self) -> list[int]:
        """For each probe, the set of mistakes in steps that it runs: the others change nothing in its answer."""
        return [self._reached_by(probe) for probe in self.probes]

    def _reached_by(self, probe: Probe) -> int:
        used: set[str] = set()
        observe(probe, self.subject_for(self.mistake_set.source.build_watched(used)), self.arrays)
        mistakes = self.mistake_set.mistakes
        if any(isinstance(each.answer, LearnerError) for each in self.transcripts[probe].submission):
            return (1 << len(mistakes)) - 1  # a mistake may keep that error away, and run what stands behind it
        return sum(1 << i for i, m in enumerate(mistakes) if m.version or not used.isdisjoint(m.changes))

    @cached_property
    def transcripts(self) -> dict[Probe, Transcript]:
        """What the probes ask of the correct version."""
        transcripts = {probe: Transcript() for probe in self.probes}
        for probe, transcript in transcripts.items():
            observe(probe, Recorder(self.subject_with(()), self.kinds, transcript.submission), self.arrays)
        return transcripts

    @cached_property
    def special(self) -> list[frozenset[str]]:
        """For each probe, the circumstances in which it asks and most do not."""
        parameters = self.mistake_set.parameters
        to_build = list(inspect.signature(self.mistake_set.build({})).parameters)
        found = [circumstances_of(self.transcripts[probe].submission, parameters, to_build) for probe in self.probes]
        usual = [each for each, probe in zip(found, self.probes, strict=True) if not probe.aside]
        few = {words for each in found for words in each if 2 * sum(words in other for other in usual) <= len(usual)}
        return [each & few for each in found]

    def fingerprint(self, probe: int, mistakes: int) -> Fingerprint:
        """Return the fingerprint of the answer of a set of mistakes to the probe number `probe`."""
        if (probe, mistakes) not in self._fingerprints:
            self.answer(probe, mistakes)
        return self._fingerprints[probe, mistakes]

    def answer(self, probe: int, mistakes: int) -> Any:
        """Return the answer of a set of mistakes to the probe number `probe`; of the correct version if it is empty."""
        key = (probe, mistakes)
        for kept in (self._answers, self._combined):
            if key in kept:
                return kept[key]
        return self._keep(key, observe(self.probes[probe], self._subject(mistakes), self.arrays))

    def answer_ahead(self) -> Iterator[None]:
        """Find the fingerprints of all single mistakes, one at each step."""
        for number, reached in enumerate(self.reached):
            for mistake in self.sets(1):
                self.fingerprint(number, mistake & reached)
                yield

    def record(self, probe: int, mistake: int) -> list[Exchange]:
        """Return what a single mistake replies to each request of a probe; the answer is kept."""
        exchanges: list[Exchange] = []
        subject = self._subject(mistake)
        self._keep((probe, mistake), observe(self.probes[probe], Recorder(subject, self.kinds, exchanges), self.arrays))
        subject.release()
        return exchanges

    def _keep(self, key: Key, found: Any) -> Any:
        _, mistakes = key
        mark = self._fingerprints[key] = fingerprint(found)
        twin = self._by_fingerprint.get(mark, NO_EVIDENCE)
        if same(found, twin, atol=0.0) and not _holds_error(found):  # equal errors may be about other things
            self._answers[key] = twin
        elif mistakes.bit_count() < 2:
            self._answers[key] = self._by_fingerprint[mark] = found
        else:
            self._combined[key] = found
            if len(self._combined) > MAX_COMBINED_ANSWERS:
                self._combined.popitem(last=False)
        return found

    @property
    def count(self) -> int:
        """How many fingerprints are known."""
        return len(self._fingerprints)

    def to_data(self) -> dict[str, Any]:
        """Return the fingerprints that are known, and what else takes time to find, as plain data."""
        marks = [[*key, *mark] for key, mark in self._fingerprints.items()]
        return {**self._labels(), "reached": self.reached, "special": [*map(sorted, self.special)], "marks": marks}

    def restore(self, data: Any) -> None:
        """Take what `to_data` returned for the same mistakes and probes. Raises ValueError for anything else."""
        try:
            reached, special = list(map(int, data["reached"])), [frozenset(map(str, each)) for each in data["special"]]
            marks = {(int(p), int(m)): Fingerprint(float(t), float(s), int(n)) for p, m, t, s, n in data["marks"]}
            fits = {name: data[name] for name in self._labels()} == self._labels()
        except (KeyError, TypeError, OverflowError) as error:
            raise ValueError("no fingerprints") from error
        if not fits or not len(reached) == len(special) == len(self.probes):
            raise ValueError("fingerprints of other mistakes")
        self.reached, self.special = reached, special
        self._fingerprints |= marks

    def _labels(self) -> dict[str, list[str]]:
        mistakes = [mistake.label for mistake in self.mistake_set.mistakes]
        return {"probes": [probe.name for probe in self.probes], "mistakes": mistakes}

    def _subject(self, mistakes: int) -> LocalModule:
        subject = self._subjects.get(mistakes) or self.subject_with(self.members(mistakes))
        if mistakes.bit_count() < 2:
            self._subjects[mistakes] = subject
        return subject

    def subject_with(self, combination: Sequence[Mistake]) -> LocalModule:
        """Make the function with these mistakes, to be probed like a submission."""
        changes = self._join(combination) or {}
        version = combination[0].version if len(combination) == 1 else None
        return self.subject_for(self.mistake_set.build(changes, version))

    def _join(self, combination: Sequence[Mistake]) -> dict[str, str] | None:
        return join_changes([mistake.changes for mistake in combination], self.mistake_set.steps)

    def subject_for(self, version: Any) -> LocalModule:
        """Return any function of ours in the place of the one that the mistakes are about."""
        return LocalModule({self.mistake_set.function: version}, self.kinds)
