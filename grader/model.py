"""The nouns of the engine: frozen dataclasses, no I/O, no torch.

A *course* has tracks of *lessons*; a lesson has *functions* to write. Judging a *submission* of a lesson gives a
*LessonResult*: one *CheckResult* a check, the *Named* mistakes, and the feedback made from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

SCHEMA = 1

SKILLS = ("shape", "values", "masking", "stability", "gradients", "generality", "hygiene", "training")

# How one check can end. "grader-error" is never the learner's fault and never costs points.
OUTCOMES = (
    "passed", "failed", "raised", "timed-out", "out-of-memory", "crashed", "forbidden", "skipped", "grader-error",
)  # fmt: skip

# How one lesson of one submission can end; a missing lesson has no score.
STATES = ("graded", "missing", "would-not-import", "timed-out", "out-of-memory", "crashed", "grader-error")


@dataclass(frozen=True)
class Limits:
    """What one worker may use. Seconds are wall clock; a call that is longer is killed with its worker."""

    call_seconds: float = 10.0
    total_seconds: float = 60.0
    memory_mb: int = 4096
    output_kb: int = 1024


@dataclass(frozen=True)
class Function:
    """One thing to write: its name, its parameters as written, and the statement (its docstring)."""

    name: str
    kind: str  # "function" or "class"
    signature: str
    statement: str
    line: int


@dataclass(frozen=True)
class Lesson:
    """One lesson: the files that make it, and what its front matter says."""

    name: str
    track: str
    title: str
    minutes: int
    needs: tuple[str, ...]
    concepts: tuple[str, ...]
    forbids: tuple[str, ...]
    aliases: tuple[str, ...]
    hints: dict[str, tuple[str, ...]]  # function name -> ladder, mildest first
    functions: tuple[Function, ...]
    text_path: Path
    exercise_path: Path
    solution_path: Path
    checks_path: Path
    mistakes_path: Path

    @property
    def kinds(self) -> dict[str, str]:
        """What each name to write is: "function" or "class"."""
        return {function.name: function.kind for function in self.functions}

    @property
    def all_hints(self) -> tuple[tuple[str, str], ...]:
        """Every hint as (function, text), function by function."""
        return tuple((function, text) for function, ladder in self.hints.items() for text in ladder)


@dataclass(frozen=True)
class Track:
    """A folder of lessons, in the order to take them."""

    name: str
    title: str
    lessons: tuple[str, ...]


@dataclass(frozen=True)
class Course:
    """A folder with a `course.toml`."""

    root: Path
    id: str
    title: str
    version: str
    arrays: str  # "torch" or "numpy"
    tracks: tuple[Track, ...]
    lessons: dict[str, Lesson]  # by name, in the order of the syllabus
    limits: Limits = field(default_factory=Limits)

    @property
    def has_solutions(self) -> bool:
        """Whether the answers and checks are here (a release for learners has none)."""
        return (self.root / "solutions").is_dir()


@dataclass(frozen=True)
class Submission:
    """A learner's source text for one lesson, and the files beside it that it may import.

    `siblings` maps a module name to (path, source). Text, not paths, goes to the worker.
    """

    lesson: str
    path: str
    source: str
    siblings: dict[str, tuple[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckResult:
    """How one check ended. `says` is the check's sentence, `message` what was asked, returned and expected, `gist` the
    same in words that show no input."""

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
class LessonResult:
    """The verdict on one lesson of one submission: the object that every report renders."""

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
    output: str = ""
    notes: tuple[str, ...] = ()
    hints_used: int = 0
    file: str = ""
    public: bool = False  # made with the public checks alone, in a release for learners: no mark

    @property
    def points(self) -> float:
        """Points that could be earned; a check that our own machinery spoiled does not count."""
        return sum(check.points for check in self.checks if check.outcome != "grader-error")

    @property
    def earned(self) -> float:
        return sum(check.earned for check in self.checks if check.outcome != "grader-error")

    def to_dict(self) -> dict[str, Any]:
        """The documented JSON object (README, "What `--json` prints"); only a release for learners says `public`."""
        content = {"schema": SCHEMA} | {name: _plain(value) for name, value in vars(self).items()}
        if not self.public:
            del content["public"]
        return content


def _plain(value: Any) -> Any:
    """A field of a result as plain data. As `asdict`, which takes twenty times as long over what is flat."""
    if isinstance(value, tuple):
        return tuple([_plain(item) for item in value])
    return dict(vars(value)) if is_dataclass(value) else value


@dataclass(frozen=True)
class Attempt:
    """One judged submission of a lesson as the store keeps it; `result` is `LessonResult.to_dict()`."""

    lesson: str
    when: datetime  # UTC
    state: str
    score: float | None
    passed: bool
    source_sha256: str
    result: dict[str, Any]


@dataclass(frozen=True)
class LessonProgress:
    """What the store knows of one lesson. Times are UTC; a lesson of which only hints were read has no scores."""

    lesson: str
    attempts: int = 0
    best_score: float | None = None
    last_score: float | None = None
    last_when: datetime | None = None
    solved_when: datetime | None = None  # when all checks passed for the first time
    hints_used: int = 0
    solution_seen: bool = False
    gave_up: bool = False
    last_mistakes: tuple[Named, ...] = ()

    @property
    def solved(self) -> bool:
        return self.solved_when is not None


# --- the quiz ---------------------------------------------------------------------------------------------------------

CERTAINTIES = ("guess", "fairly", "sure")
MODES = ("quiz", "exam", "redo", "review", "audit")  # what an answer was given in
CLAIMS = ("yes", "partly", "no")


@dataclass(frozen=True)
class Answered:
    """One answer of a learner as the store keeps it: the only evidence there is."""

    family: str
    topic: str
    kind: str
    attempt: int  # which variant of the family, from 1
    session: str
    mode: str
    typed: str
    credit: float  # 0 to 1
    guess: float  # what guessing earns on average
    certainty: str  # one of CERTAINTIES, or "" where it was not asked for
    tags: tuple[str, ...]  # misconceptions
    first: bool  # not a second try in the same session, after feedback
    when: datetime  # UTC
    seconds: float = 0.0


@dataclass(frozen=True)
class Claimed:
    """A key point, or a trap, of an open question as the learner marked it in their own answer."""

    topic: str
    point: str
    mark: str  # one of CLAIMS; for a trap "yes" means that the answer fell into it
    trap: bool
    session: str
    when: datetime


@dataclass(frozen=True)
class QuizSession:
    """One sitting. `predicted` is the score from 0 to 10 that the learner expected, before and after answering."""

    id: str
    mode: str
    topics: tuple[str, ...]
    started: datetime
    finished: datetime | None = None
    predicted: float | None = None
    predicted_after: float | None = None
