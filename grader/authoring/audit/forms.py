"""What each fault of form costs in each lesson: about the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.authoring.audit.lesson_audit import LessonAudit
from grader.judge.values.wrong_forms import FORMS

MAX_SPREAD = 2.0  # between the scores of one fault in two lessons


def find_uneven(audits: Sequence[LessonAudit]) -> list[tuple[LessonAudit, str]]:
    """Return what is wrong where a fault of form costs more in one lesson than in another."""
    found = []
    for form in FORMS:
        scores = [(score, audit) for audit in audits for score in audit.forms.get(form, {}).values()]
        if not scores:
            continue
        (least, lowest), (most, highest) = (choose(scores, key=lambda pair: pair[0]) for choose in (min, max))
        if most - least > MAX_SPREAD:
            what = f"“{form}” scores {least} here and {most} in {highest.lesson}; {MAX_SPREAD:g} apart are allowed."
            found.append((lowest, what))
    return found


def form_table(audits: Sequence[LessonAudit]) -> list[str]:
    """Return lines with the score of each fault of form in each lesson; the lowest, where it has several functions."""
    rows = [form for form in FORMS if any(form in audit.forms for audit in audits)]
    width = max([len("a fault of form"), *map(len, rows)])
    lines = ["  ".join(["a fault of form".ljust(width), *(audit.lesson for audit in audits)])]
    for form in rows:
        cells = [_cell(audit.forms.get(form, {})).rjust(len(audit.lesson)) for audit in audits]
        lines.append("  ".join([form.ljust(width), *cells]))
    return lines if rows else []


def _cell(scores: Mapping[str, float]) -> str:
    return f"{min(scores.values()):.1f}" if scores else "–"
