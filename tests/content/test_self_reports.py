"""What a worker says of itself, rather than answers, can be a lie: no check that rests on it weighs much."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.factories import course, run_judge
from support.repeat import FEW_LESSONS, rarely

from grader.judge.course_files import load_file
from grader.judge.examination import Judge
from grader.judge.processes.remote_module import LocalModule
from grader.worker.arrays import map_leaves

MAX_WEIGHT = 0.2  # of the ten points of a score
MOST_LESSONS = [name for name in course().lessons if name not in FEW_LESSONS]
WITHOUT_REPORTS = {"char_tokenizer", "learning_rate"}  # no array goes in or comes out


class Tattler(LocalModule):
    """A module whose answers are right, and whose reports of itself are bad in every way there is.

    Of what was run it says nothing, or that all ran in the wrong mode, with a graph.
    """

    says_of_events: Any = None

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        reply = super().ask(operation, **content)
        if operation == "call":
            grad = content.get("grad")
            reply |= {"there": False, "devices": ("cuda",)}
            reply["after"] = map_leaves(reply.get("after", [[], {}]), _change)
            if grad is not None and not grad["wrt"] and reply["grads"] is None:
                reply["grads"] = {}
        if operation == "events":
            is_run = lambda event: event[0] == "forward" and self.says_of_events
            reply["events"] = [["forward", True, event[2], True] for event in reply["events"] if is_run(event)]
        if operation == "build":
            reply |= {"missing": ["surplus"], "unexpected": ["surplus"]}
        if operation == "state":
            reply |= {"training": not reply["training"], "parameters": []}
        return reply


def _change(leaf: Any) -> Any:
    return torch.logical_not(leaf) if isinstance(leaf, torch.Tensor) else leaf


@pytest.mark.parametrize("name", rarely(FEW_LESSONS) + rarely(MOST_LESSONS, slow=MOST_LESSONS))
def test_no_report_weighs_more_than_a_fifth_of_a_point(name, launcher):
    """A check that bad reports alone make fail could be passed by lying: it is worth 0.2 of the score at most."""
    lesson = course().lessons[name]

    def drive(judge: Judge) -> dict[str, float]:
        checks = judge.lesson_checks(lesson, 7)
        tattler = Tattler(vars(load_file(lesson.solution_path)), lesson.kinds)
        total = sum(check.points for check in checks.checks)
        found = {}
        for tattler.says_of_events in (False, True):
            found |= {
                check.name: 9 * check.points / total
                for check in checks.checks
                if not check.is_run and checks.run(check, tattler)
            }
        return found

    resting = run_judge(launcher, name, drive)
    assert bool(resting) is (name not in WITHOUT_REPORTS)
    assert max(resting.values(), default=0.0) <= MAX_WEIGHT, resting
