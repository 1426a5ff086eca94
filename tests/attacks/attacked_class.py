"""A class under attack: a grading process, an honest learner, and the facts that an insider knows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from attacks.attack import Attack, as_facts
from attacks.canaries import Canaries
from attacks.grading_process import GradingProcess
from attacks.packages import pack_up
from support import outer_sandbox
from support.course_files import ROOT

from grader.batch.settings import make_settings
from grader.course import load
from grader.course.course_files import digest
from grader.intake.discover import discover
from grader.judge.processes.isolation_policy import ON_TRUST

COURSES = {"core": ROOT, "training": ROOT, "tiny": ROOT / "tests" / "courses" / "tiny"}
LESSONS = {"core": ("softmax", "attention", "causal_mask"), "training": ("adamw",), "tiny": ("argmax_2d",)}
LIMITS = {"call_seconds = ": "2.5", "total_seconds = ": "5.0", "memory_mb = ": "1024", "output_kb = ": "256"}
SEED = 20_171
EVERYWHERE = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run")


@dataclass(frozen=True)
class AttackResult:
    """The record of a graded attack, and the harm it did besides."""

    record: dict[str, Any]
    harm: list[str]


def require_sandbox(isolation: str, without: Iterable[str]) -> None:
    """Raise RuntimeError where files or network may be open to an attack, and no sandbox is round all of it."""
    if isolation in ON_TRUST or (isolation != "required" and without):
        outer_sandbox.require()


class AttackedClass:
    """A grading process for one course's lessons. `places`: the folders where an attack may try to plant files."""

    def __init__(
        self,
        name: str,
        ground: Path,
        canaries: Canaries,
        *,
        isolation: str = "required",
        without: Iterable[str] = (),
        watched: bool = True,
        places: Iterable[str] = EVERYWHERE,
        **environment: str,
    ) -> None:
        require_sandbox(isolation, without)
        self.name, self.ground, self.canaries, self.places = name, ground, canaries, list(places)
        self.course = load(copy_course(name, ground))
        lessons = [self.course.lessons[lesson] for lesson in LESSONS[name]]
        settings = make_settings(self.course, lessons, SEED, "cpu", "test", isolation)
        self.process = GradingProcess(
            asdict(settings) | {"files": digest(self.course)},
            without,
            watched,
            SECRET_OF_THE_JUDGE=canaries.secret,
            **environment,
        )

    def begin(self) -> None:
        """Wait until it grades; note an honest learner's record and the processes that are always there."""
        self.process.begin()
        self.honest = self.grade_honest()
        self.process.note_own()

    def grade(self, attack: Attack) -> AttackResult:
        """Grade an attack handed in by mallory, beside alice's honest work."""
        with tempfile.TemporaryDirectory(dir=self.ground) as name:
            folder = Path(name)
            folder.chmod(0o755)
            write_files(folder / "alice", _answers(self.name))
            pack_up(attack, folder, self._facts(folder))
            before = read_files(folder)
            learner = next(found for found in discover(folder).learners if found.id == "mallory")
            record = self.process.grade(learner.to_dict())
            harm = self.canaries.touched()
            if self.process.strangers():
                harm.append("a process lives on")
            if read_files(folder) != before:
                harm.append("what was handed in was changed")
        return AttackResult(record, harm)

    def grade_honest(self) -> dict[str, Any]:
        """Grade an honest learner; return the record without its times."""
        with tempfile.TemporaryDirectory(dir=self.ground) as folder:
            write_files(Path(folder, "alice"), _answers(self.name))
            (learner,) = discover(Path(folder)).learners
            record = self.process.grade(learner.to_dict())
        lessons = {name: {**lesson, "duration_s": 0} for name, lesson in record["lessons"].items()}
        return {**record, "duration_s": 0, "lessons": lessons}

    def _facts(self, folder: Path) -> dict[str, Any]:
        lesson = self.course.lessons[LESSONS[self.name][0]]
        return as_facts({
            **self.canaries.facts(),
            "course": self.course.root / "course.toml",
            "solutions": lesson.solution_path.parent,
            "reference": lesson.solution_path,
            "checks": lesson.checks_path,
            "mistakes": lesson.mistakes_path,
            "submissions": folder,
            "own": folder / "mallory" / f"{lesson.name}.py",
            "other": folder / "alice" / f"{lesson.name}.py",
            "judge": self.process.process.pid,
            "fork_server": min(self.process.own),
            "places": self.places,
        })  # fmt: skip


@cache
def _answers(course: str) -> dict[str, str]:
    """Read a correct answer to every lesson: the reference, from the original course."""
    lessons = load(COURSES[course]).lessons
    return {f"{name}.py": lessons[name].solution_path.read_text() for name in LESSONS[course]}


def copy_course(name: str, ground: Path) -> Path:
    """Copy a course with shorter limits, readable by anybody: only the layers keep attacks out."""
    target = ground / f"course-{name}"
    if not target.exists():
        for part in ("lessons", "exercises", "solutions"):
            shutil.copytree(COURSES[name] / part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
        lines = (COURSES[name] / "course.toml").read_text().splitlines()
        found = [next((key + value for key, value in LIMITS.items() if line.startswith(key)), line) for line in lines]
        (target / "course.toml").write_text("\n".join(found) + "\n")
    return target


def write_files(folder: Path, files: dict[str, str]) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def read_files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Read every file below a folder: its mode and its bytes."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path): (path.stat().st_mode, path.read_bytes()) for path in files}


def breaches(record: dict[str, Any], lesson: str) -> list[str]:
    """Return what an attack reports that it got through."""
    lines = record["lessons"][lesson]["output"].splitlines()
    return sorted({line.removeprefix("BREACH: ") for line in lines if line.startswith("BREACH: ")})
