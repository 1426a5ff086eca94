"""Make the record of a hand-in from the results of its lessons."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.batch.settings import Settings
from grader.intake.formats.repositories import BACKDATED
from grader.intake.learner import Learner, printable
from grader.intake.name_patterns import JUDGED, UNDECIDED
from grader.model import LessonResult, Override
from grader.record import GRADED_OTHERWISE, HandedIn, Previous, Record, latest, lesson_from_json

LACKING = ("missing", "grader-error")
MAX_KEPT_CHARS = 1 << 16  # of the source of one lesson, for pages that show it
DOUBTS = (JUDGED, UNDECIDED, BACKDATED)  # in notes
MAX_ROW_BYTES = 15 << 20  # of a result as JSON: a row of the store has at most MAX_VALUE_BYTES
OF_ANOTHER_ACCOUNT = (
    "What was graded before here came from another account: neither it nor a human's score for it is kept."
)
OF_EARLIER = "This is of the hand-in graded on"  # and when


@dataclass(frozen=True)
class GradedHandIn:
    """What a grading process gives back for one hand-in.

    `fingerprints` (by lesson, plain data) are what its files are compared with others by; `isolation` are the layers of
    protection that the code ran under, None if no code ran.
    """

    record: Record
    fingerprints: dict[str, Any] = field(default_factory=dict)
    isolation: tuple[str, ...] | None = None

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GradedHandIn:
        """Read what `to_json` gave."""
        isolation = data["isolation"]
        record = Record.from_json(data["record"])
        return cls(record, data["fingerprints"], None if isolation is None else tuple(isolation))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, to be sent by a grading process."""
        return {**vars(self), "record": self.record.to_json()}


@dataclass(frozen=True)
class Judged:
    """A file of a hand-in, and the result of the lesson that it was judged for."""

    path: str
    result: LessonResult

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Judged:
        """Read what `to_json` gave."""
        return cls(data["path"], lesson_from_json(data["result"]["lesson"], data["result"]))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, to be sent by a grading process and to one."""
        return {"path": self.path, "result": self.result.to_dict()}


Graded = tuple[Learner, GradedHandIn]


def make_record(
    learner: Learner,
    results: Sequence[LessonResult],
    *,
    digest: str,
    notes: Iterable[str] = (),
    problem: str = "",
    newest: HandedIn | None = None,
    times: Mapping[str, HandedIn] | None = None,
) -> Record:
    """Make the record of a hand-in from the results of all its lessons.

    *times* say when the attempts came that the results are of. What came later and counts for nothing costs nobody
    points; where nothing counts the *newest* one's time is told.

    Notes that say which of several files was judged, or that dates do not fit, are a problem: a human should look.
    """
    notes = tuple(notes)
    times = times or {}
    came = latest(times.values()) or newest or HandedIn(learner.when, learner.late)
    record = Record(
        id=learner.id,
        learner=learner.learner,
        name=learner.name,
        account=learner.account,
        together=tuple(learner.together),
        attempt=learner.attempt,
        late=came.late,
        source=learner.source,
        submitted=learner.submitted,
        when=came.when,
        times=times,
        feedback=learner.feedback,
        digest=digest,
        problem=problem,
        notes=notes,
    )
    return with_lessons(record, results)


def with_lessons(record: Record, results: Sequence[LessonResult]) -> Record:
    """Return the record with the results of all its lessons, and with what follows from them."""
    every = [*record.notes, *(note for result in results for note in result.notes)]
    doubts = dict.fromkeys(note for note in every if any(word in note for word in DOUBTS))
    return replace(
        record,
        score=mean_score(results),
        complete=not any(result.state in LACKING for result in results),
        states=dict(Counter(result.state for result in results)),
        problem=printable(record.problem or " ".join(doubts)),
        duration_s=round(sum(result.duration_s or 0.0 for result in results), 3),
        lessons={result.lesson: result for result in results},
    )


def fit_row(record: Record, fingerprints: str) -> tuple[Record, str, str, str]:
    """Return a result as the JSON texts of its row, beside the record: it, its summary, its fingerprints.

    What makes it too large is left out, with a note: its code and pictures, then its fingerprints, then its lessons.
    """
    for small, prints in _smaller(record, fingerprints):
        text, summary = (json.dumps(each, allow_nan=False) for each in (small.to_json(), small.to_summary()))
        if sum(len(each.encode()) for each in (text, summary, prints)) <= MAX_ROW_BYTES:
            break
    return small, text, summary, prints


def _smaller(record: Record, fingerprints: str) -> Iterator[tuple[Record, str]]:
    """Yield a record and its fingerprints, each time with less in them."""
    yield record, fingerprints
    note = "There is too much of it to be kept: its code and pictures are on no page"
    bare = {name: {**one, "source": "", "pictures": ""} for name, one in json.loads(fingerprints).items()}
    yield replace(record, notes=(*record.notes, f"{note}.")), json.dumps(bare)
    yield replace(record, notes=(*record.notes, f"{note}, and it was compared with no other.")), "{}"
    yield with_lessons(replace(record, problem="Its results are too large to be kept."), []), "{}"


def better_result(new: LessonResult, old: LessonResult | None) -> LessonResult:
    """Return the one with the higher score; of equal ones the old one."""
    return new if old is None or (new.score or 0.0) > (old.score or 0.0) else old


def is_of_another(new: Record, old: Record) -> bool:
    """Return True for records of one id that came from two accounts."""
    return bool(new.account and old.account) and new.account != old.account


def combine(new: Record, old: Record, when: str, attempts: str, *, otherwise: bool = False) -> Record:
    """Return the record of a hand-in that replaces another, graded at *when*.

    "merge" keeps the old result of lessons that the new one lacks, "best" also those that scored higher. Where that was
    graded *otherwise*, by another course or with other settings, a note says so. Of another account nothing is kept.
    """
    if attempts not in ("merge", "best"):
        return new
    if is_of_another(new, old):
        return replace(new, notes=(*new.notes, OF_ANOTHER_ACCOUNT))
    note = f"{OF_EARLIER} {when[:16].replace('T', ' ')}."
    results = []
    times = dict(new.times)
    for name, now in new.lessons.items():
        before = old.lessons.get(name)
        kept = before and before.score is not None and (now.state == "missing" or attempts == "best")
        if before and kept and better_result(now, before) is before:
            notes = [] if any(one.startswith(OF_EARLIER) for one in before.notes) else [note]
            notes += [GRADED_OTHERWISE] if otherwise else []
            now = replace(before, notes=tuple(dict.fromkeys((*before.notes, *notes))))
            times[name] = old.times.get(name, HandedIn(old.when, old.late))
        results.append(now)
    came = latest(times.values()) or HandedIn(old.when, old.late)
    return with_lessons(replace(new, when=came.when, late=came.late, times=times), results)


def with_overrides(record: Record, overrides: Mapping[str, Override]) -> Record:
    """Return the record with a human's scores in place of the program's, in what a regrade replaced, too."""
    said = {name: one for name, one in overrides.items() if name in record.lessons}
    if not said:
        return record
    results = [_with_override(result, said.get(name)) for name, result in record.lessons.items()]
    shown = {name: replace(one, instead_of=record.lessons[name].score) for name, one in said.items()}
    previous = record.previous
    if previous:
        before = {**previous.lessons, **{name: one.score for name, one in said.items()}}
        previous = replace(previous, score=_mean(before.values()), lessons=before)
    return replace(with_lessons(record, results), overrides=shown, previous=previous)


def _with_override(result: LessonResult, override: Override | None) -> LessonResult:
    """Return a lesson with a human's score; one that the program could not grade is graded by that."""
    if override is None:
        return result
    return replace(result, score=override.score, state="graded" if result.state in LACKING else result.state)


def mean_score(results: Iterable[LessonResult]) -> float | None:
    """Return the mean of the scores that there are, to one decimal; 10.0 only if every one of them is."""
    return _mean(result.score for result in results)


def _mean(of: Iterable[float | None]) -> float | None:
    scores = [score for score in of if score is not None]
    if not scores:
        return None
    mean = round(sum(scores) / len(scores), 1)
    return mean if min(scores) == 10.0 else min(mean, 9.9)


def make_ungraded(lesson: str, state: str, settings: Settings, notes: Iterable[str] = ()) -> LessonResult:
    """Make the result of a lesson that was not judged: it is missing, or the grader failed."""
    device = "cpu" if settings.device == "auto" else settings.device
    return LessonResult(lesson, state, None, False, device, settings.seed, 0.0, notes=tuple(notes))


def make_failed(learner: Learner, settings: Settings, reason: str) -> GradedHandIn:
    """Make the result of a hand-in on which the grading process died each time."""
    reason = f"The grader itself failed on this submission, and its author is not to blame: {reason}"
    results = [make_ungraded(lesson, "grader-error", settings) for lesson in settings.lessons]
    return GradedHandIn(make_record(learner, results, digest="", problem=reason))


def make_late(learner: Learner, settings: Settings, reason: str) -> GradedHandIn:
    """Make the result of a hand-in that could not be graded in time; like one that cannot be read, it has no score."""
    results = [make_ungraded(lesson, "missing", settings) for lesson in settings.lessons]
    problem = f"It could not be graded in time: {reason}."
    return GradedHandIn(make_record(learner, results, digest=learner.stamp, problem=problem))


def make_previous(old: Record, when: str) -> Previous | None:
    """Return what a new record says of `old`, given at `when`, which it replaces.

    A record on which the grader failed changed no score: what it had replaced is returned.
    """
    if old.grader_failed:
        return old.previous
    return Previous(old.score, {name: lesson.score for name, lesson in old.lessons.items()}, when)
