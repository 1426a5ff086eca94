"""A release for learners: the course without `solutions/`, and beside it what the checks marked public need.

    public/release.json             the seeds there are answers for, and how many checks each lesson has
    public/<track>/test_<lesson>.py     the public checks
    public/<track>/<lesson>.answers     the inputs they draw, and the reference's answers, as they were recorded
    public/<track>/<lesson>.names       the names of known mistakes, locked with the answers of these

Where `solutions/` is there too, the hidden checks are used and none of this is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from grader.errors import CourseError, UsageError
from grader.files import is_file, read_file
from grader.model import Course, Lesson

PUBLIC_FOLDER = "public"
RELEASE_FILE = "release.json"
FORMAT = 1
ASK_AGAIN = "ask your instructor for the release again"


class Release(NamedTuple):
    """A release's description of itself; `checks` counts the public and all checks of each lesson."""

    seeds: tuple[int, ...]
    checks: Mapping[str, tuple[int, int]]

    def seed(self, asked: int | None) -> int:
        """Return the seed asked for, or any. Raises UsageError for a seed without recorded answers."""
        if asked is None:
            import secrets  # here: only a check without a seed needs it

            return secrets.choice(self.seeds)
        if asked not in self.seeds:
            known = " and ".join(", ".join(map(str, self.seeds)).rsplit(", ", 1))
            what = f"there are no answers for the seed {asked} in this release of the course"
            raise UsageError(what, next_step=f"leave out --seed, or take one that was recorded: {known}")
        return asked

    def note(self, lesson: str) -> str:
        """Say in a sentence what a score of the public checks is worth."""
        public, every = self.checks.get(lesson, (0, 0))
        if every <= public:
            return "Every check of this lesson is public; the mark is made in your instructor's run."
        checks = f"{public} public check{'s' if public > 1 else ''}"
        return f"{checks}; your instructor's run has {every - public} more, so this score is not your mark."

    @property
    def worth(self) -> str:
        """Say in a sentence what all scores are worth here; "" where no check is hidden."""
        hidden = any(public < every for public, every in self.checks.values())
        return "Scores are of the public checks alone; your instructor's run has more." if hidden else ""


def release_of(course: Course) -> Release | None:
    """Return the release that this course is; None if it has its solutions, or no public checks. Raises CourseError."""
    path = course.root / PUBLIC_FOLDER / RELEASE_FILE
    if course.has_solutions or not is_file(path):
        return None
    import json  # here: most courses have solutions

    try:
        return _release(json.loads(read_file(path)), path)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError):
        raise CourseError("this file of the release is damaged", where=str(path), next_step=ASK_AGAIN) from None


def passed_words(course: Course, lesson: str = "") -> str:
    """Say that a lesson, or without a name several, pass every check here: "solved" only if none is elsewhere."""
    release = release_of(course)
    if release is None:
        return "solved"
    public, every = release.checks.get(lesson, (0, 0))
    return f"passes the public checks ({public} of {every})" if lesson else "pass the public checks"


def _release(content: Any, path: Path) -> Release:
    if int(content["format"]) > FORMAT:
        what = f"this release has format {content['format']}; this version of selfattend reads {FORMAT}"
        raise CourseError(what, where=str(path), next_step="pip install --upgrade selfattend")
    seeds = tuple(int(seed) for seed in content["seeds"])
    lessons = {name: (int(counts["public"]), int(counts["checks"])) for name, counts in content["lessons"].items()}
    if not seeds:
        raise ValueError("no seeds")
    return Release(seeds, lessons)


def release_text(release: Release) -> str:
    """Return the text of `release.json`."""
    import json

    lessons = {name: {"public": public, "checks": every} for name, (public, every) in release.checks.items()}
    return json.dumps({"format": FORMAT, "seeds": list(release.seeds), "lessons": lessons}, indent=2) + "\n"


def public_checks(root: Path, lesson: Lesson) -> Path:
    """Return where the public checks of a lesson are in a release at *root*."""
    return root / PUBLIC_FOLDER / lesson.track / f"test_{lesson.name}.py"


def public_answers(root: Path, lesson: Lesson) -> Path:
    """Return where the recorded answers of a lesson are in a release at *root*."""
    return root / PUBLIC_FOLDER / lesson.track / f"{lesson.name}.answers"


def public_names(root: Path, lesson: Lesson) -> Path:
    """Return where the locked names of a lesson's mistakes are in a release at *root*."""
    return root / PUBLIC_FOLDER / lesson.track / f"{lesson.name}.names"
