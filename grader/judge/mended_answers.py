"""Name mistakes beside what is wrong with the form of the answers: a tuple, an axis too many, dropout left on."""

from __future__ import annotations

from dataclasses import replace

from grader.judge.checks.mending import MendingModule
from grader.judge.diagnosis.name_mistake import Diagnosis, Diagnostician
from grader.model import Named


def diagnose_mended(diagnostician: Diagnostician, diagnosis: Diagnosis, mending: MendingModule) -> Diagnosis:
    """Return what is named once answers have the form that was asked for; what was found before if nothing is."""
    note = "" if diagnosis.named else diagnosis.wrong_form
    mended = diagnostician.diagnose(mending) if note else diagnosis
    return replace(mended, format_note=note) if mending.faults and mended.named else diagnosis


def name_drawn(
    diagnostician: Diagnostician, diagnosis: Diagnosis, mending: MendingModule, randomness: Named
) -> Diagnosis:
    """Return what is named where dropout is on: that, and what is named without it."""
    still = diagnostician.diagnose(mending)
    drawn = [mistake for mistake in diagnosis.named if mistake not in still.named]  # gone without dropout
    return replace(diagnosis, named=[*(drawn or [randomness]), *still.named])
