"""What the reports read of a record: the checks as they are listed, the points, the states in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from grader.model import CheckResult, LessonResult, Override
from grader.record import Record
from grader.terminal.text import score_text

# What a lesson's state means: in a report, and at the learner's own terminal. "graded" needs no words.
_STATE_TEXTS = {
    "graded": ("", ""),
    "missing": ("Not handed in: no file for this lesson was found.", "There is no file for this lesson."),
    "would-not-import": (
        "The file could not be loaded, so nothing could be checked.",
        "Your file could not be loaded, so nothing was checked.",
    ),
    "timed-out": (
        "The code did not finish in time, so it was stopped.",
        "Your code did not finish in time, so it was stopped.",
    ),
    "out-of-memory": (
        "The code asked for more memory than it may use.",
        "Your code asked for more memory than it may use.",
    ),
    "crashed": ("The process that ran the code died.", "The process that runs your code died."),
    "grader-error": (
        "The grader itself failed here. That is not your fault and costs no points.",
        "Some checks failed by a fault of ours, at no cost to you. `learn doctor` looks for the cause.",
    ),
}
STATES = {state: report for state, (report, _) in _STATE_TEXTS.items()}
TERMINAL_STATES = {state: terminal for state, (_, terminal) in _STATE_TEXTS.items()}

UNREADABLE = "What you handed in could not be read. Hand it in again: .py files or notebooks, or a .zip of them."
MAX_SCORE = 10.0
MAX_POINTS = 1e6  # that a platform gives for it
_RANK = {"skipped": 1, "passed": 2}


class CheckLine(NamedTuple):
    """One check as it is listed. One that ran on several inputs is one line, with the outcome of the worst."""

    function: str
    says: str
    outcome: str
    points: float
    earned: float
    inputs: int
    inputs_alike: int  # inputs with this outcome
    message: str
    output: str

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    @property
    def outcome_text(self) -> str:
        return self.outcome.replace("-", " ")

    @property
    def rank(self) -> int:
        """Its place in a list: what did not pass first, then what was not run, then what passed."""
        return _RANK.get(self.outcome, 0)

    @property
    def inputs_text(self) -> str:
        """Return "" for one input, else how many of them ended like this."""
        if self.inputs == 1:
            return ""
        every = self.inputs_alike == self.inputs
        return f"{self.inputs} inputs" if every else f"{self.inputs_alike} of {self.inputs} inputs"


def prints_title(printed: str) -> str:
    """Return what stands above what a learner's code printed: torch's warnings are among it."""
    return "Your prints, and warnings" if "Warning: " in printed else "Your prints"


def check_lines(checks: Iterable[CheckResult]) -> list[CheckLine]:
    """Group checks in the course's order. The ids of a check on several inputs differ in their brackets only."""
    groups: dict[tuple[str, str], list[CheckResult]] = {}
    for check in checks:
        groups.setdefault((check.id.partition("[")[0], check.says), []).append(check)
    return [_make_line(group) for group in groups.values()]


def listed_lines(checks: Iterable[CheckResult]) -> list[CheckLine]:
    """Group checks in the order of every list and row of them: by function, and what is wrong first."""
    lines, worst = check_lines(checks), dict[str, int]()
    for line in sorted(lines, key=lambda line: line.rank):
        worst.setdefault(line.function, len(worst))
    return sorted(lines, key=lambda line: (worst[line.function], line.rank))


def _make_line(group: list[CheckResult]) -> CheckLine:
    worst = min(group, key=lambda check: _RANK.get(check.outcome, 0))
    counted = [check for check in group if check.outcome != "grader-error"]
    return CheckLine(
        function=worst.function,
        says=worst.says,
        outcome=worst.outcome,
        points=sum(check.points for check in counted),
        earned=sum(check.earned for check in counted),
        inputs=len(group),
        inputs_alike=sum(check.outcome == worst.outcome for check in group),
        message=worst.message,
        output=worst.output,
    )


def lessons_of(head: Mapping[str, Any], record: Record) -> Iterator[tuple[str, str, LessonResult]]:
    """Iterate over a record's lessons in the course's order: name, title, result."""
    titles = head.get("titles") or {}
    for name in head["lessons"]:
        if name in record.lessons:
            yield name, titles.get(name) or name, record.lessons[name]


def absent_text(record: Record) -> str:
    """Say why a lesson without a file has none: what was handed in could not be read, or there was nothing."""
    return "not read" if record.is_unread else "not handed in"


def course_title(head: Mapping[str, Any]) -> str:
    """Return the course's title, or its id; "" if the head has neither."""
    course = head.get("course") or {}
    return str(course.get("title") or course.get("id") or "")


def number_text(value: float) -> str:
    """Write a number with at most two decimals and no trailing zeros: 3, 2.5, 14.29."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def score_out_of(score: float, out_of: float) -> float:
    """Convert a score from 1 to 10 to points: score x out_of / 10, to two decimals, so that 10.0 is all of them."""
    return round(score * out_of / MAX_SCORE, 2)


def override_texts(record: Record) -> list[str]:
    """Say of each score that a human gave which it is, in place of which, and why."""
    return [_override_text(name, one, record) for name, one in record.overrides.items()]


def _override_text(lesson: str, override: Override, record: Record) -> str:
    by = f" ({override.by})" if override.by else ""
    instead = "no score" if override.instead_of is None else score_text(override.instead_of)
    earlier = "" if override.digest == record.digest else " That was said of an earlier hand-in."
    said = f"{lesson}: a human{by} gave {score_text(override.score)} in place of the program's {instead}"
    stop = "" if override.says.endswith((".", "!", "?")) else "."
    return f"{said}: {override.says}{stop}{earlier}"


def notes_of(record: Record) -> Iterator[str]:
    """Yield what a human said of a hand-in, its problem, and the notes that it does not say already."""
    yield from override_texts(record)
    if record.problem:
        yield record.problem
    yield from (note for note in record.notes if note and note not in record.problem)
