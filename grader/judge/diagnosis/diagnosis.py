"""Name the mistake: which known wrong version answers every probe exactly as the submission does?

One fingerprint must fit on every probe, and no other may; then it is named. If no single mistake fits, pairs (and,
where a family says so, triples) of mistakes in different steps are tried. Where several combinations fit, only what
they have in common is certain, and only that is named. Nothing is ever guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.judge.diagnosis.mistake_outputs import (
    NO_EVIDENCE,
    Fitting,
    Known,
    Observations,
    agree,
    observe,
    observe_all,
)
from grader.judge.diagnosis.mistakes import Family, Mistake, Probe
from grader.judge.processes.remote_module import LocalSubject, Subject
from grader.judge.values.compare import Raised, is_array, is_tensor, kind_of, same
from grader.model import Counterexample, Named


@dataclass
class Diagnosis:
    """What the probes of one function showed. `right` and `wrong` are the stages of the probes."""

    named: list[Named] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    first_wrong: tuple[Probe, Any, Any] | None = None  # (probe, submission's, reference's)
    format_note: str = ""
    counterexamples: list[Counterexample] = field(default_factory=list)


class Diagnostician:
    """Knows one lesson's families, and remembers what its known mistakes answer."""

    def __init__(self, families: Sequence[Family], kinds: Mapping[str, str], arrays: str) -> None:
        self.families = {family.function: family for family in families}
        self.arrays = arrays
        self._known = {family.function: Known(family, kinds, arrays) for family in families}

    def diagnose(self, function: str, subject: Subject) -> Diagnosis:
        """Observe the subject on every probe of `function` and say what that means."""
        family = self.families[function]
        seen = observe_all(self._known[function], subject)
        diagnosis = Diagnosis()
        self._sort(family, seen, diagnosis)
        if diagnosis.first_wrong is None:
            return diagnosis
        found = self.explain(family, seen)
        if not found:
            changed, note = self._in_right_format(family, seen)
            found = self.explain(family, changed) if note else []
            # a wrong form is told where it is the whole fault, beside a mistake that has a name, or where it shows at
            # once; elsewhere it would only hide that the values are wrong
            first = family.probes[0].name
            if note and (found or not self._wrong(family, changed) or changed[first] is not seen[first]):
                diagnosis.format_note = note
        diagnosis.named = [Named(m.id, function, m.says, m.suggests) for m in found]
        return diagnosis

    def explain(self, family: Family, seen: Observations) -> list[Mistake]:
        """The mistakes that together answer exactly as was seen; empty when none do, or when it is not certain. What
        does not speak against the reference either has no mistake that could be named."""
        wrong = self._wrong(family, seen)
        if not wrong:
            return []
        # errors all look alike, and of two mistakes that raise them some pair fits almost any: values must speak too
        most = 1 if all(isinstance(observation, Raised) for observation in wrong) else family.together
        known = self._known[family.function]
        fitting = Fitting(known, seen)
        for size in range(1, most + 1):
            fits = fitting.fits_one if size == 1 else fitting.fits
            found = [known.members(mistakes) for mistakes in known.sets(size) if fits(mistakes)]
            found = [combination for combination in found if size == 1 or self._confirmed(family, combination, seen)]
            if found:
                return _common(found)
        return []

    def reference(self, family: Family, probe: Probe) -> Any:
        """What the family's correct version answers."""
        return self._known[family.function].answer(family.probes.index(probe), 0)

    def _confirmed(self, family: Family, combination: Sequence[Mistake], seen: Observations) -> bool:
        """Whether a combination still fits when nothing that was remembered of its parts is used."""
        subject = self.subject_with(family, combination)
        return all(agree(seen[probe.name], observe(probe, subject, self.arrays), probe) for probe in family.probes)

    def subject_with(self, family: Family, combination: Sequence[Mistake]) -> LocalSubject:
        """The function with these mistakes in it, to be probed like a submission."""
        return self._known[family.function].subject_with(combination)

    def subject_for(self, family: Family, version: Any) -> LocalSubject:
        """Any function of ours in the place of the family's."""
        return self._known[family.function].subject_for(version)

    def _sort(self, family: Family, seen: Observations, diagnosis: Diagnosis) -> None:
        for probe in family.probes:
            expected = self.reference(family, probe)
            good = agree(seen[probe.name], expected, probe)
            silent = good and not same(seen[probe.name], expected, probe.atol)
            if probe.stage and not silent:
                (diagnosis.right if good else diagnosis.wrong).append(probe.stage)
            if not good and diagnosis.first_wrong is None:
                diagnosis.first_wrong = (probe, seen[probe.name], expected)

    def _wrong(self, family: Family, seen: Observations) -> list[Any]:
        """The observations that speak against the reference."""
        return [
            seen[probe.name]
            for probe in family.probes
            if not agree(seen[probe.name], self.reference(family, probe), probe)
        ]

    def _in_right_format(self, family: Family, seen: Observations) -> tuple[Observations, str]:
        """The observations with lists, numpy arrays, tuples and other dtypes turned into what was asked for, and a
        sentence that says what had to be turned."""
        notes: list[str] = []
        changed = {
            probe.name: _reformat(seen[probe.name], self.reference(family, probe), notes) for probe in family.probes
        }
        return changed, notes[0] if notes else ""


def _common(fits: list[tuple[Mistake, ...]]) -> list[Mistake]:
    """What all fitting combinations share, by id: the rest is not certain."""
    shared = set.intersection(*({mistake.id for mistake in combination} for combination in fits))
    return [mistake for mistake in fits[0] if mistake.id in shared]


def _reformat(value: Any, expected: Any, notes: list[str]) -> Any:
    """`value` in the form of `expected`, where it holds the same kind of data in another container or dtype. What a
    probe could not use for its form is no evidence either way."""
    if isinstance(value, Raised) and value.kind == "unusable":
        return NO_EVIDENCE
    if isinstance(expected, dict) and isinstance(value, dict):
        return {key: _reformat(value.get(key), item, notes) for key, item in expected.items()}
    found = _as_asked(value, expected)
    if found is None:
        return value
    if found is not value:
        wanted = "the number alone" if isinstance(expected, float) else kind_of(expected).split(" of shape")[0]
        only = "only the output, " if isinstance(value, tuple) and is_array(expected) else ""
        notes.append(f"It returns {kind_of(value)}; return {only}{wanted}.")
    if isinstance(expected, list | tuple):
        return type(expected)(_reformat(v, e, notes) for v, e in zip(found, expected, strict=True))
    return found


def _as_asked(value: Any, expected: Any) -> Any:
    """`value` in the container and dtype of `expected`; None if there is no way to turn it into that."""
    if is_array(expected):
        return _as_array(value, expected)
    if isinstance(expected, list | tuple):
        return _as_sequence(value, expected)
    if isinstance(expected, float) and isinstance(value, tuple):
        floats = [item for item in value if isinstance(item, float)]
        return floats[0] if len(floats) == 1 else None
    return None


def _as_sequence(value: Any, expected: list[Any] | tuple[Any, ...]) -> Any:
    numbers = is_array(value) and value.ndim == 1 and all(isinstance(item, float) for item in expected)
    found = value.tolist() if numbers else value
    if not isinstance(found, list | tuple) or len(found) != len(expected):
        return None
    return found if type(found) is type(expected) else type(expected)(found)


def _as_array(value: Any, expected: Any) -> Any:
    if isinstance(value, tuple):
        fitting = [item for item in value if is_array(item) and item.shape == expected.shape]
        return _as_array(fitting[0], expected) if fitting else None
    try:
        if is_tensor(expected):
            import torch

            found = value if is_tensor(value) else torch.as_tensor(value)
            return found if found.dtype == expected.dtype else found.to(expected.dtype)
        import numpy

        found = value.detach().numpy() if is_tensor(value) else numpy.asarray(value)
        if found.dtype.kind not in "biufc":
            return None  # numpy makes an array of anything, of None too
        return found if found is value and found.dtype == expected.dtype else found.astype(expected.dtype)
    except (TypeError, ValueError, RuntimeError):
        return None
