"""A submission of a lesson, and the result of grading it: what every report shows."""

from __future__ import annotations

from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from typing import Any

from grader.model.course import SCHEMA

SKILLS = ("shape", "values", "masking", "stability", "gradients", "generality", "hygiene", "training")

# How one check can end. "grader-error" is never the learner's fault and never costs points.
# fmt: off
OUTCOMES = (
    "passed", "failed", "raised", "timed-out", "out-of-memory", "crashed", "forbidden", "skipped", "grader-error",
)
# fmt: on

# How one lesson of one submission can end; a missing lesson has no score.
STATES = ("graded", "missing", "would-not-import", "timed-out", "out-of-memory", "crashed", "grader-error")


@dataclass(frozen=True)
class Submission:
    """A learner's source text for one lesson, and the files beside it that it may import.

    `siblings` maps a module name to (path, source). Text, not paths, goes to the worker.
    `passing` names those whose last result, of this very text, was a pass; None where results are not known.
    `artefact` is what lies beside the file as LESSON.safetensors, of bounded size; None where there is none.
    """

    lesson: str
    path: str
    source: str
    siblings: dict[str, tuple[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    passing: frozenset[str] | None = None
    artefact: bytes | None = field(default=None, repr=False)

    @property
    def sources(self) -> tuple[str, ...]:
        """The text of the file, and of those that it may import."""
        return (self.source, *(source for _, source in self.siblings.values()))


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check.

    `says` is the check's sentence, `message` what was asked, returned and expected, `gist` the same without any input.
    `form` names the faults of form without which it passes: some of "axis, container, dtype, random".
    """

    id: str
    function: str
    says: str
    skill: str
    outcome: str
    points: float
    earned: float
    message: str = ""
    output: str = ""
    stage: str = ""  # what isolates the cause: "one row", "one head", ...
    gist: str = ""
    form: str = ""

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


@dataclass(frozen=True)
class Named:
    """A mistake recognised in a submission, by its id in the catalogue."""

    id: str
    function: str
    says: str
    suggests: str


@dataclass(frozen=True)
class Suggestion:
    """One thing to do next, with the command that does it."""

    says: str
    command: str


@dataclass(frozen=True)
class Counterexample:
    """The smallest call tried on which a submission goes wrong, as it can be typed again."""

    function: str
    call: str
    yours: str
    expected: str


@dataclass(frozen=True)
class WrongLine:
    """The line of a function on which right ends.

    `right` is the last line before it that is known to be right, 0 if none is; `gist` says no more than the line.
    """

    function: str
    line: int
    right: int
    says: str
    gist: str


@dataclass(frozen=True)
class LessonResult:
    """The result of one lesson of one submission: what every report renders."""

    lesson: str
    state: str
    score: float | None
    passed: bool
    device: str
    seed: int | None  # None where it would tell the hidden inputs
    duration_s: float | None
    checks: tuple[CheckResult, ...] = ()
    mistakes: tuple[Named, ...] = ()
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    counterexamples: tuple[Counterexample, ...] = ()
    lines: tuple[WrongLine, ...] = ()
    output: str = ""
    notes: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()  # those of the notes in which code that saw hidden inputs may have put them
    hints_used: int = 0
    file: str = ""
    public: bool = False  # made with the public checks alone, in a release for learners: no mark

    @property
    def points(self) -> float:
        """Return the points that could be earned; checks that our own machinery spoiled do not count."""
        return sum(check.points for check in self.checks if check.outcome != "grader-error")

    @property
    def earned(self) -> float:
        return sum(check.earned for check in self.checks if check.outcome != "grader-error")

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON object (docs/json.md).

        Only a release for learners has the key `public`.
        """
        content = {"schema": SCHEMA} | {name: _plain(value) for name, value in vars(self).items()}
        if not self.public:
            del content["public"]
        return content


def _plain(value: Any) -> Any:
    """Convert a field to plain data, as `asdict` does in twenty times the time."""
    if isinstance(value, tuple):
        return tuple([_plain(item) for item in value])
    return dict(vars(value)) if is_dataclass(value) else value


@dataclass(frozen=True)
class Override:
    """A human's score of one lesson, which counts in place of the program's.

    `digest` is that of the hand-in it was given for, and `instead_of` the program's score. Without a score it takes an
    earlier one back.
    """

    score: float | None
    says: str
    by: str
    when: str
    digest: str
    instead_of: float | None = None


@dataclass(frozen=True)
class Attempt:
    """One graded submission as the store keeps it; `result` is `LessonResult.to_dict()`."""

    lesson: str
    when: datetime  # UTC
    state: str
    score: float | None
    passed: bool
    source_sha256: str
    result: dict[str, Any]
