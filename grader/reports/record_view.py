"""What the reports on a class read from a record: its checks as they are listed, its points, its states in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What a lesson's state means, said to its learner; "graded" needs no words.
STATES = {
    "graded": "",
    "missing": "Not handed in: no file for this lesson was found.",
    "would-not-import": "The file could not be loaded, so nothing could be checked.",
    "timed-out": "The code did not finish in time, so it was stopped.",
    "out-of-memory": "The code asked for more memory than it may use.",
    "crashed": "The process that ran the code died.",
    "grader-error": "The grader itself failed here. That is not your fault and costs no points.",
}

BEST = 10.0
_RANK = {"skipped": 1, "passed": 2}


@dataclass(frozen=True)
class CheckLine:
    """One check as it is listed. One that ran on several inputs is one line, with the outcome of the worst."""

    function: str
    says: str
    outcome: str
    points: float
    earned: float
    inputs: int
    like_this: int  # inputs with this outcome
    message: str
    output: str

    @property
    def inputs_text(self) -> str:
        """ "" for one input, else how many of them ended like this."""
        if self.inputs == 1:
            return ""
        every = self.like_this == self.inputs
        return f"{self.inputs} inputs" if every else f"{self.like_this} of {self.inputs} inputs"


def check_lines(lesson: Mapping[str, Any]) -> list[CheckLine]:
    """A lesson's checks in the course's order. The ids of a check on several inputs differ in their brackets only."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for check in lesson["checks"]:
        groups.setdefault((check["id"].partition("[")[0], check["says"]), []).append(check)
    return [_line(group) for group in groups.values()]


def _line(group: Sequence[Mapping[str, Any]]) -> CheckLine:
    worst = min(group, key=lambda check: _RANK.get(check["outcome"], 0))
    outcome = worst["outcome"]
    counted = [check for check in group if check["outcome"] != "grader-error"]
    return CheckLine(
        worst["function"], worst["says"], outcome,
        sum(check["points"] for check in counted), sum(check["earned"] for check in counted),
        len(group), sum(check["outcome"] == outcome for check in group), worst["message"], worst["output"],
    )  # fmt: skip


def points_of(lessons: Mapping[str, Mapping[str, Any]]) -> tuple[float, float]:
    """Points earned and points possible over some lessons of a record. What was not handed in has none of either, nor
    has a check that the grader itself spoiled."""
    checks = [check for lesson in lessons.values() for check in lesson["checks"] if check["outcome"] != "grader-error"]
    return sum(check["earned"] for check in checks), sum(check["points"] for check in checks)


def lessons_of(head: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """A record's lessons in the course's order: name, title, result."""
    titles = head.get("titles") or {}
    for name in head["lessons"]:
        if name in record["lessons"]:
            yield name, titles.get(name) or name, record["lessons"][name]


def learner_of(record: Mapping[str, Any]) -> str:
    """Whose record it is, in words: the name with the id, or the id alone."""
    name, learner = record.get("name") or "", record.get("learner") or record["id"]
    return f"{name} ({learner})" if name and name != learner else str(learner)


def grader_failed(record: Mapping[str, Any]) -> bool:
    """Whether the grader itself failed somewhere: then there is no score that could be given out."""
    return "grader-error" in record["states"]


def unreadable(record: Mapping[str, Any]) -> str:
    """Why nothing could be graded of work that was handed in, such as a damaged archive; "" where something could."""
    return str(record["problem"]) if record["problem"] and record["states"].keys() == {"missing"} else ""


def number(value: float) -> str:
    """A number with at most two decimals and none that say nothing: 3, 2.5, 14.29."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def score_out_of(score: float, out_of: float) -> float:
    """A score from 1 to 10 as points: score x out_of / 10, to two decimals, so that 10.0 is all of them."""
    return round(score * out_of / BEST, 2)
