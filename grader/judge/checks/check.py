"""One collected check: what its mark, its docstring and its parameters say."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from grader.errors import CourseError
from grader.model import SKILLS, CheckResult

OUR_FIXTURES = ("submission", "reference", "rand")


class Check:
    """One collected check: its pytest item and what its mark and docstring say."""

    def __init__(self, item: pytest.Function) -> None:
        mark = item.get_closest_marker("check")
        where = f"{item.path}:{item.location[1] or 0}"
        if mark is None:
            raise CourseError(f"{item.name} has no @pytest.mark.check(skill=..., points=...).", where=where)
        self.item = item
        self.name = item.name.removeprefix("test_")
        self.skill: str = mark.kwargs.get("skill", "")
        self.points = float(mark.kwargs.get("points", 1))
        needs = mark.kwargs.get("needs", ())
        self.needs = tuple(name.removeprefix("test_") for name in ((needs,) if isinstance(needs, str) else needs))
        self.function: str = mark.kwargs.get("function", "")
        self.stage: str = mark.kwargs.get("stage", "")
        self.public = bool(mark.kwargs.get("public", False))
        self.says = (item.function.__doc__ or "").strip().splitlines()[0] if item.function.__doc__ else ""
        self.plain_arguments = _plain_arguments(item)
        if self.skill not in SKILLS or not self.says or self.points <= 0:
            raise CourseError(f"{item.name} needs a skill of {', '.join(SKILLS)}, points and a docstring.", where=where)

    def result(self, lesson: str, outcome: str, message: str = "", output: str = "", function: str = "") -> CheckResult:
        """The check's result with this outcome; only "passed" earns its points."""
        earned = self.points if outcome == "passed" else 0.0
        name = self.function or function
        return CheckResult(
            f"{lesson}.{self.name}",
            name,
            self.says,
            self.skill,
            outcome,
            self.points,
            earned,
            message,
            output,
            self.stage,
        )


def _plain_arguments(item: pytest.Function) -> dict[str, Any] | None:
    """The parameters of a check that uses no fixtures but ours; None for one that does."""
    callspec = getattr(item, "callspec", None)
    parameters = dict(callspec.params) if callspec is not None else {}
    asked = set(inspect.signature(item.obj).parameters)
    # `request` is what our own fixtures ask for; any other name is a fixture that only pytest can set up
    others = set(item.fixturenames) - set(OUR_FIXTURES) - set(parameters) - {"request"}
    return None if others or "request" in asked or item.cls is not None else parameters
