"""Turn records into marks: shares of the points of a gradebook's column, or the reasons why there are none.

    points     share = points earned / points possible; of a whole submission the mean of its lessons' shares
    score      share = score / 10, of a lesson or of the whole submission: 10.0 is all the points, 1.0 a tenth

A lesson that was not handed in gives no share, or zero with `missing_as_zero`. A lesson on which the grader failed, and
work that could not be read, such as a damaged archive, are never a zero: somebody has to look at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from grader.model import LessonResult
from grader.record import Record
from grader.reports.charts import score_share
from grader.reports.html_document import prose
from grader.reports.record_view import MAX_SCORE, notes_of, override_texts
from grader.reports.redact_record import redact

MAX_SENTENCES = 3  # about one lesson, in a comment
COMMENT_BEGINS = '<div class="selfattend">'
NOT_HANDED_IN = "not handed in"
NOT_READ = "handed in, could not be read"
GRADER_FAILED = "the grader itself failed on it"


@dataclass(frozen=True)
class Rule:
    """What is exported: one lesson, or "" for the whole submission; and how its score becomes a share."""

    lesson: str = ""
    scale: str = "points"
    missing_as_zero: bool = False


@dataclass(frozen=True)
class Mark:
    """One record's share of the points (0 to 1), or None and the reason."""

    id: str
    learner: str
    name: str
    attempt: int
    share: float | None
    why: str = ""
    note: str = ""  # what a human said of it
    comment: str = ""  # HTML for its learner

    @property
    def label(self) -> str:
        return f"{self.name} ({self.id})" if self.name and self.name != self.id else self.id


def make_marks(records: Iterable[Record], rule: Rule, missing: Iterable[Mapping[str, str]] = ()) -> list[Mark]:
    """Return a mark for each record, for members of its group without a record, and for each entry of `missing`.

    `missing` are the entries of the roster ("id", "name") without a hand-in.
    """
    own: list[Mark] = []
    shared: list[Mark] = []
    for record in records:
        mark = Mark(
            record.id,
            record.learner,
            record.name,
            record.attempt,
            *_share(record, rule),
            _note(record, rule),
            _comment(record, rule),
        )
        own.append(mark)
        shared += [replace(mark, id=other, learner=other, name="") for other in record.together]
    alone = {mark.learner for mark in own}
    share = 0.0 if rule.missing_as_zero else None
    none = [Mark(entry["id"], entry["id"], entry.get("name", ""), 0, share, NOT_HANDED_IN) for entry in missing]
    return own + [mark for mark in shared if mark.learner not in alone] + none


def _note(record: Record, rule: Rule) -> str:
    overrides = {name: one for name, one in record.overrides.items() if rule.lesson in ("", name)}
    return " ".join(override_texts(replace(record, overrides=overrides)))


def _comment(record: Record, rule: Rule) -> str:
    """Return what the learner may read beside the grade, as HTML, with all text escaped."""
    record = redact(record)
    said = list(notes_of(record))
    for name, lesson in record.lessons.items():
        if rule.lesson in ("", name):
            score = "no score" if lesson.score is None else f"{lesson.score:.1f} of 10"
            said.append(" ".join([f"`{name}`: {score}.", *lesson.weaknesses[:MAX_SENTENCES]]))
    paragraphs = "".join(f"<p>{prose(' '.join(text.split()))}</p>" for text in said)
    return f"{COMMENT_BEGINS}{paragraphs}</div>"


def _share(record: Record, rule: Rule) -> tuple[float | None, str]:
    if record.is_unreadable:
        return None, f"{NOT_READ}: {record.problem}"
    names = [rule.lesson] if rule.lesson else list(record.lessons)
    shares: list[float] = []
    missing: list[str] = []
    for name in names:
        lesson = record.lessons.get(name)
        if lesson and lesson.state == "grader-error":
            return None, GRADER_FAILED
        graded = lesson is not None and lesson.state != "missing"
        share = _lesson_share(lesson, rule.scale, by_hand=name in record.overrides) if lesson and graded else None
        if share is None:
            missing.append(name)
        shares.append(share or 0.0)
    if missing and not rule.missing_as_zero:
        return None, NOT_HANDED_IN if rule.lesson or len(missing) == len(names) else f"without {', '.join(missing)}"
    whole = not rule.lesson and rule.scale == "score" and not missing
    # the submission's own score where there is one: it is rounded, and what everything else shows
    return (record.score / MAX_SCORE if whole and record.score is not None else sum(shares) / len(shares)), ""


def _lesson_share(lesson: LessonResult, scale: str, *, by_hand: bool) -> float | None:
    if by_hand and scale == "points":
        return max(0.0, score_share(lesson.score) or 0.0)
    if scale == "score":
        return None if lesson.score is None else lesson.score / MAX_SCORE
    return lesson.earned / lesson.points if lesson.points else None
