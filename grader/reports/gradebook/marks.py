"""Turn records into marks: shares of the points of a gradebook's column, or the reasons why there are none.

    points     share = points earned / points possible; of a whole submission the mean of its lessons' shares
    score      share = score / 10, of a lesson or of the whole submission: 10.0 is all the points, 1.0 a tenth

A lesson that was not handed in gives no share, or zero with `missing_as_zero`. A lesson on which the grader failed, and
work that could not be read, such as a damaged archive, are never a zero: somebody has to look at them. With weights the
mean is weighted; with `best` it is that of so many lessons, those with the highest shares, and it came when they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from grader.model import LessonResult
from grader.model.person_id import fold_id
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
    exclude_missing: bool = False  # lessons that were not handed in do not count, if any was
    weights: Mapping[str, float] = field(default_factory=dict)  # of lessons; 1 for others
    best: int | None = None


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
    when: float | None = None
    is_late: bool = False  # by the platform's mark
    is_timeless: bool = False  # no hand-in's time is its own: a human's score of what was not handed in
    zeros: tuple[str, ...] = ()  # lessons that count as 0, as nothing was handed in for them

    @property
    def label(self) -> str:
        return f"{self.name} ({self.id})" if self.name and self.name != self.id else self.id


def make_marks(
    records: Iterable[Record], rule: Rule, missing: Iterable[Mapping[str, str]] = (), *, finished: bool = True
) -> list[Mark]:
    """Return a mark for each record, for members of its group without a record, and for each entry of `missing`.

    `missing` are the entries of the roster ("id", "name") without a hand-in. Of a run that is not *finished* a member
    without a record gets no mark: their own hand-in may be what is not graded yet.
    """
    own: list[Mark] = []
    shared: list[Mark] = []
    for record in records:
        share, why, counted = _share(record, rule)
        came = record.handed_in(counted)
        mark = Mark(
            record.id,
            record.learner,
            record.name,
            record.attempt,
            share,
            why,
            _note(record, rule),
            _comment(record, rule),
            came.when if came else None,
            bool(came and came.late),
            is_timeless=came is None,
            zeros=tuple([name for name in counted if _share_of(record, name, rule.scale) is None]),
        )
        own.append(mark)
        shared += [replace(mark, id=other, learner=other, name="") for other in record.together if finished]
    alone = {fold_id(mark.learner) for mark in own}
    marks = own + [mark for mark in shared if fold_id(mark.learner) not in alone]
    zero = 0.0 if rule.missing_as_zero else None
    none = [
        Mark(entry["id"], entry["id"], entry.get("name", ""), 0, zero, NOT_HANDED_IN, zeros=("nothing handed in",))
        for entry in missing
    ]
    there = {fold_id(mark.learner) for mark in marks}
    return marks + [mark for mark in none if fold_id(mark.learner) not in there]


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


def _share(record: Record, rule: Rule) -> tuple[float | None, str, list[str]]:
    """Return the share and the lessons that count for it; or None, and why."""
    unread = f"{NOT_READ}: {record.problem}"
    if record.is_unreadable:
        return None, unread, []
    names = [rule.lesson] if rule.lesson else list(record.lessons)
    if any(name in record.lessons and record.lessons[name].state == "grader-error" for name in names):
        return None, GRADER_FAILED, []
    shares = {name: _share_of(record, name, rule.scale) for name in names}
    missing = [name for name, share in shares.items() if share is None]
    if missing and record.is_unread:  # a human's score for a lesson says nothing of the others
        return None, unread, []
    there = len(shares) - len(missing)
    enough = there >= rule.best if rule.best else rule.exclude_missing and there
    if missing and not rule.missing_as_zero and not (enough and not rule.lesson):
        return None, NOT_HANDED_IN if rule.lesson or not there else f"without {', '.join(missing)}", []
    if record.score is not None and not (missing or rule.lesson or rule.weights or rule.best) and rule.scale == "score":
        return record.score / MAX_SCORE, "", names  # it is rounded, and what everything else shows
    counted = _choose_counted(record, shares, rule)
    weights = [rule.weights.get(name, 1.0) for name in counted]
    mean = sum((shares[name] or 0.0) * weight for name, weight in zip(counted, weights, strict=True)) / sum(weights)
    return mean, "", counted


def _choose_counted(record: Record, shares: Mapping[str, float | None], rule: Rule) -> list[str]:
    """Return the lessons that count: what is missing is 0, or left out; of `best` equal ones those that came first."""

    def rank(name: str) -> tuple[float, float, bool, float]:
        came = record.handed_in([name])
        late, when = (came.late, came.when or 0.0) if came else (False, 0.0)
        return -(shares[name] or 0.0), -rule.weights.get(name, 1.0), late, when

    names = [name for name, share in shares.items() if share is not None or not rule.exclude_missing]
    return sorted(names, key=rank)[: None if rule.lesson else rule.best]


def _share_of(record: Record, name: str, scale: str) -> float | None:
    """Return the share of a lesson; None if it was not handed in."""
    lesson = record.lessons.get(name)
    if lesson is None or lesson.state == "missing":
        return None
    return _lesson_share(lesson, scale, by_hand=name in record.overrides)


def _lesson_share(lesson: LessonResult, scale: str, *, by_hand: bool) -> float | None:
    if by_hand and scale == "points":
        return max(0.0, score_share(lesson.score) or 0.0)
    if scale == "score":
        return None if lesson.score is None else lesson.score / MAX_SCORE
    return lesson.earned / lesson.points if lesson.points else None
