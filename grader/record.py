"""A learner's result: what the store keeps, the files hold and every report shows.

    {"id", "learner", "name", "account", "together", "attempt", "late", "source", "feedback", "digest", "score",
     "complete", "submitted", "when", "times", "states": {STATE: number of lessons}, "problem", "notes", "duration_s",
     "previous": null or {"score", "lessons": {LESSON: score}, "when"},
     "overrides": {LESSON: {"score", "says", "by", "when", "digest", "instead_of"}},
     "lessons": {LESSON: the object of `learn check --json`}}

`score` is the mean over the lessons that have one, to one decimal; 10.0 only when each of them is 10.0; null when none
has. A lesson that was not handed in has no score; one on which the grader failed has the score of the checks that did
run, or none. Neither is a zero, and `complete` says that something is lacking. Where a human gave a score, that counts,
and `overrides` has the program's (`instead_of`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.files import MAX_NUMBERED_BYTES, file_name
from grader.model import CheckResult, Counterexample, LessonResult, Named, Override, Suggestion, WrongLine

PARTS: dict[str, type[Any]] = {
    "checks": CheckResult,
    "mistakes": Named,
    "suggestions": Suggestion,
    "counterexamples": Counterexample,
    "lines": WrongLine,
}
TEXTS = ("strengths", "weaknesses", "notes", "measured")
NOT_GRADED: Mapping[str, Any] = {"passed": False, "device": "", "seed": None, "duration_s": None}
STATUSES = (
    "scored",
    "partial",
    "unreadable",
    "nothing handed in",
    "our fault",
)  # of a hand-in, the same words everywhere
GRADED_OTHERWISE = "It was graded by the checks as they were then."  # a note on a lesson of an earlier hand-in
DETAILS = ("notes", "lessons")  # what makes a record long


@dataclass(frozen=True)
class HandedIn:
    """When something was handed in, in seconds since 1970 where that is known, and whether it is marked as late."""

    when: float | None
    late: bool


def latest(times: Iterable[HandedIn]) -> HandedIn | None:
    """Return the latest of some times, and whether one is marked as late; None for no times."""
    times = list(times)
    when = max((one.when for one in times if one.when is not None), default=None)
    return HandedIn(when, any(one.late for one in times)) if times else None


@dataclass(frozen=True)
class Previous:
    """The scores that the same work had before it was graded again."""

    score: float | None
    lessons: Mapping[str, float | None]
    when: str


@dataclass(frozen=True)
class Record:
    """The result of one hand-in. `redacted`: hidden inputs were taken out, so that its learner may see it."""

    id: str
    learner: str = ""
    name: str = ""
    account: str = ""  # a digest of its address, where a platform gives one
    together: tuple[str, ...] = ()
    attempt: int = 1
    late: bool = False
    source: str = ""
    submitted: float | None = None  # orders hand-ins of one learner: a time, or a platform's number
    when: float | None = None  # it was handed in, in seconds since 1970, where that is known
    times: Mapping[str, HandedIn] = field(default_factory=dict)  # of lessons, whose attempts may differ
    feedback: str = ""
    digest: str = ""
    score: float | None = None
    complete: bool = True
    states: Mapping[str, int] = field(default_factory=dict)
    problem: str = ""
    notes: tuple[str, ...] = ()
    duration_s: float | None = None
    previous: Previous | None = None
    overrides: Mapping[str, Override] = field(default_factory=dict)
    lessons: Mapping[str, LessonResult] = field(default_factory=dict)
    redacted: bool = False

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """Read a record, or its summary, that any version wrote."""
        known = _known_fields(cls, data)
        previous = data.get("previous")
        known |= {name: tuple(data.get(name, ())) for name in ("together", "notes")}
        known["learner"] = data.get("learner") or data["id"]
        if feedback := data.get("feedback"):
            known["feedback"] = file_name(feedback, MAX_NUMBERED_BYTES)
        known["previous"] = Previous(**previous) if previous else None
        overrides = data.get("overrides") or {}
        known["overrides"] = {name: Override(**_known_fields(Override, one)) for name, one in overrides.items()}
        times = (data.get("times") or {}).items()
        known["times"] = {name: HandedIn(**_known_fields(HandedIn, one)) for name, one in times}
        known["lessons"] = {name: lesson_from_json(name, lesson) for name, lesson in data["lessons"].items()}
        return cls(**known, redacted=bool(data.get("concealed")))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object; only that of a redacted record says `concealed`."""
        data = vars(self) | {
            "together": list(self.together),
            "notes": list(self.notes),
            "previous": dict(vars(self.previous)) if self.previous else None,
            "overrides": {name: dict(vars(override)) for name, override in self.overrides.items()},
            "times": {name: dict(vars(one)) for name, one in self.times.items()},
            "lessons": {name: lesson.to_dict() for name, lesson in self.lessons.items()},
        }
        return data | {"concealed": True} if data.pop("redacted") else data

    def handed_in(self, lessons: Collection[str] = ()) -> HandedIn | None:
        """Return when the newest of some lessons came, or of all, and whether any is marked as late; None if unknown.

        A lesson without a time, beside others that have one, was not handed in: the others' is not its own. Where none
        has one, as earlier versions wrote it and where nothing could be graded, the time of the hand-in counts.
        """
        if not (lessons and self.times):
            return HandedIn(self.when, self.late)
        return latest(self.times[name] for name in lessons if name in self.times)

    def to_summary(self) -> dict[str, Any]:
        """Return the JSON object without its details: each lesson has its state and score only."""
        data = {name: value for name, value in self.to_json().items() if name not in DETAILS}
        lessons = {name: {"state": lesson.state, "score": lesson.score} for name, lesson in self.lessons.items()}
        return data | {"lessons": lessons}

    @property
    def label(self) -> str:
        """The learner's name and id, or the id alone."""
        return f"{self.name} ({self.learner})" if self.name and self.name != self.learner else self.learner

    @property
    def grader_failed(self) -> bool:
        """Whether the grader failed on some of it: no score can be given out, and it is to be graded again."""
        return "grader-error" in self.states

    @property
    def status(self) -> str:
        """One of STATUSES: "unreadable" if nothing could be graded of what was handed in; `problem` says why."""
        return status_of(self.states, self.problem)

    @property
    def is_unreadable(self) -> bool:
        """Whether nothing could be graded of what was handed in, such as a damaged archive."""
        return self.status == "unreadable"

    @property
    def is_unread(self) -> bool:
        """Whether what was handed in could not be read, whatever score a human has given for a lesson of it."""
        states = [lesson.state for name, lesson in self.lessons.items() if name not in self.overrides]
        return status_of(states, self.problem) == "unreadable"


def status_of(states: Collection[str], problem: str) -> str:
    """Return which of STATUSES a hand-in has, by the states of its lessons."""
    if "grader-error" in states:
        return "our fault"
    if set(states) <= {"missing"}:
        return "unreadable" if problem else "nothing handed in"
    return "partial" if "missing" in states else "scored"


def count_statuses(statuses: Iterable[str]) -> str:
    """Say how many hand-ins have each status: `30 scored, 2 partial`."""
    counts = Counter(statuses)
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def tell_scored(scored: int, hand_ins: int) -> str:
    """Say of which hand-ins a mean is, unless it is of all."""
    return "" if scored == hand_ins else f" of the {scored} that have one"


def lesson_from_json(name: str, data: Mapping[str, Any]) -> LessonResult:
    """Read what `LessonResult.to_dict` gave, or a lesson of a summary."""
    known = _known_fields(LessonResult, data)
    for part in PARTS.keys() & data.keys():  # a summary has none
        kind = PARTS[part]
        known[part] = tuple([kind(**_known_fields(kind, item)) for item in data[part]])
    known |= {text: tuple(data[text]) for text in TEXTS if text in data}
    return LessonResult(**{"lesson": name, **NOT_GRADED, **known})


def _known_fields(kind: type[object], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that this version knows."""
    fields = vars(kind)["__dataclass_fields__"]
    return {name: value for name, value in data.items() if name in fields}
