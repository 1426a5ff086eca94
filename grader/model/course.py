"""The parts of a course, from the course itself down to one function to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

SCHEMA = 1  # version of every JSON object that the commands print
MIN_POINTS = 1e-6  # that a check is worth
MAX_PEOPLE = 100_000  # of a class
MAX_PAIRS = 100  # of hand-ins of a class that are alike
MAX_LESSONS = 1_000  # of a course, and so of what a class was graded on
KINDS = ("exercise", "lab", "capstone")
FULL_WAY = "full"  # the name of the way through every lesson
JUDGE_SECONDS = 10.0  # what the judge itself may take for one lesson, beyond what it grants a learner's code


@dataclass(frozen=True)
class Limits:
    """What one worker may use; seconds are wall clock, and a call that takes longer is killed with its worker.

    Of a call's, waits for a processor that others keep busy do not count. `answer_kb` is what an answer may hold beside
    four times what was asked.
    """

    call_seconds: float = 10.0
    total_seconds: float = 60.0
    memory_mb: int = 4096
    output_kb: int = 1024
    answer_kb: int = 1024

    @property
    def probe_seconds(self) -> float:
        """What the probes that name a mistake may take, after the checks."""
        return self.total_seconds / 4

    @property
    def judging_seconds(self) -> float:
        """After how long judging one lesson is ended from outside, and so is reading a hand-in."""
        return self.total_seconds + self.probe_seconds + JUDGE_SECONDS


class Function(NamedTuple):
    """One thing to write: name, parameters as written, and statement (the docstring)."""

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
    kind: str = KINDS[0]
    limits: Mapping[str, float] = field(default_factory=dict)  # those that differ from the course's
    traps: dict[str, tuple[str, ...]] = field(default_factory=dict)  # how a trap in the text begins -> known mistakes
    formulas: dict[str, tuple[str, ...]] = field(default_factory=dict)  # how a block in the text begins -> LaTeX

    @property
    def pictures_path(self) -> Path:
        """Return the file of pictures, which a lesson may have."""
        return self.solution_path.with_name(f"{self.name}_pictures.py")

    @property
    def build_path(self) -> Path:
        """Return the file that puts the lesson's model together for `learn build`, which few lessons have."""
        return self.solution_path.with_name(f"{self.name}_build.py")

    @property
    def kinds(self) -> dict[str, str]:
        """Return for each name to write "function" or "class"."""
        return {function.name: function.kind for function in self.functions}

    @property
    def all_hints(self) -> tuple[tuple[str, str], ...]:
        """Return all hints as (function, text), function by function."""
        return tuple((function, text) for function, ladder in self.hints.items() for text in ladder)


class Track(NamedTuple):
    """A folder of lessons, in the order to take them; a class is graded on an optional one where it is asked for."""

    name: str
    title: str
    lessons: tuple[str, ...]
    optional: bool = False


class Way(NamedTuple):
    """A way through the course: the lessons that it takes, in their order."""

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
    packages: tuple[str, ...] = ()  # that learners' code may import, by pip's names, beside torch or numpy
    shorter_ways: tuple[Way, ...] = ()

    @property
    def required_lessons(self) -> list[Lesson]:
        """Return the lessons of the tracks that are not optional; all of them where every track is.

        Capstones train for seconds a learner, so they are left out unless there is nothing else.
        """
        required = [name for track in self.tracks if not track.optional for name in track.lessons]
        listed = [self.lessons[name] for name in required if name in self.lessons] or list(self.lessons.values())
        return [lesson for lesson in listed if lesson.kind != "capstone"] or listed

    @property
    def ways(self) -> dict[str, Way]:
        """Return the ways through the course by name; the last takes every lesson."""
        every = Way(FULL_WAY, "the full way", tuple(self.lessons))
        readable = [way._replace(lessons=self._known(way.lessons)) for way in self.shorter_ways]
        return {way.name: way for way in (*readable, every)}

    def way(self, name: str = "") -> Way:
        """Return the way of this name; the first one where there is none (any more)."""
        return self.ways.get(name) or next(iter(self.ways.values()))

    def lessons_along(self, way: Way) -> list[Lesson]:
        """Return the lessons in the order to take them: those of the way, then all others."""
        return [self.lessons[name] for name in dict.fromkeys((*way.lessons, *self.lessons))]

    def needed(self, lesson: Lesson) -> set[str]:
        """Return all lessons that come before this one, by name."""
        needs = self._known(lesson.needs)
        return set(needs).union(*(self.needed(self.lessons[need]) for need in needs))

    def last_needed(self, lesson: Lesson) -> list[str]:
        """Return what a lesson needs, without that which another of these needs already."""
        implied = set[str]().union(*(self.needed(self.lessons[need]) for need in self._known(lesson.needs)))
        return [need for need in lesson.needs if need not in implied]

    def _known(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Leave out lessons that could not be read."""
        return tuple(name for name in names if name in self.lessons)

    def limits_for(self, *lessons: Lesson) -> Limits:
        """Return the limits within which all these lessons can be judged: of each the largest that one of them has."""
        own = [asdict(replace(self.limits, **lesson.limits)) for lesson in lessons]  # type: ignore[arg-type]  # read so
        return Limits(**{name: max(each[name] for each in own) for name in own[0]}) if own else self.limits

    @property
    def has_solutions(self) -> bool:
        """Return True if the solutions and checks are here; a release for learners has none."""
        return (self.root / "solutions").is_dir()
