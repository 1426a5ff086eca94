"""One collected check: what its mark, its docstring and its parameters say."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import pytest

from grader.errors import CourseError
from grader.files import at
from grader.model import SKILLS, CheckResult, Lesson
from grader.model.course import MIN_POINTS

OUR_FIXTURES = ("submission", "reference", "rand")


class Check:
    """One collected check: its pytest item and what its mark and docstring say.

    Attributes:
        is_run: It trains a model, for seconds. It is asked once of a submission, and never of the reference.
    """

    def __init__(self, item: pytest.Function) -> None:
        mark = item.get_closest_marker("check")
        self.path, self.line = item.path, (item.location[1] or 0) + 1
        where = at(self.path, self.line)
        if mark is None:
            raise CourseError(f"{item.name} has no @pytest.mark.check(skill=..., points=...).", where=where)
        self.item, self.test = item, item.originalname
        self.name = item.name.removeprefix("test_")
        self.called = {self.name, self.test.removeprefix("test_")}  # in `needs`: a case, and all cases
        self.skill: str = mark.kwargs.get("skill", "")
        self.points = float(mark.kwargs.get("points", 1))
        needs = mark.kwargs.get("needs", ())
        self.needs = tuple(name.removeprefix("test_") for name in ((needs,) if isinstance(needs, str) else needs))
        self.function: str = mark.kwargs.get("function", "")
        callspec = getattr(item, "callspec", None)
        self.stage: str = mark.kwargs.get("stage", "").format(**(callspec.params if callspec else {}))
        self.public = bool(mark.kwargs.get("public", False))
        self.is_run = bool(mark.kwargs.get("run", False))
        self.says = (item.function.__doc__ or "").strip().splitlines()[0] if item.function.__doc__ else ""
        self.plain_arguments = _plain_arguments(item)
        if self.skill not in SKILLS or not self.says or not self.points >= MIN_POINTS:
            raise CourseError(f"{item.name} needs a skill of {', '.join(SKILLS)}, points and a docstring.", where=where)
        if self.is_run and self.public:
            raise CourseError(f"{item.name} is a run: what it is answered cannot be recorded as public.", where=where)

    def function_in(self, lesson: Lesson) -> str:
        """Name the function that the check is about; a lesson with one function need not say."""
        return self.function or lesson.functions[0].name

    def result(
        self,
        lesson: Lesson,
        outcome: str,
        message: str = "",
        output: str = "",
        gist: str | None = None,
        form: Iterable[str] = (),
    ) -> CheckResult:
        """Return the check's result with this outcome; "passed" earns its points, and so does a wrong form.

        Args:
            gist: The redacted explanation, where it differs from the message.
            form: The faults of form that are all that is wrong.
        """
        faults = ", ".join(sorted(form))
        return CheckResult(
            id=f"{lesson.name}.{self.name}",
            function=self.function_in(lesson),
            says=self.says,
            skill=self.skill,
            outcome=outcome,
            points=self.points,
            earned=self.points if outcome == "passed" or faults else 0.0,
            message=message,
            output=output,
            stage=self.stage,
            gist=message if gist is None else gist,
            form=faults,
        )


def _plain_arguments(item: pytest.Function) -> dict[str, Any] | None:
    """Return the parameters of a check that uses our fixtures only; None for a check that uses others."""
    callspec = getattr(item, "callspec", None)
    parameters = dict(callspec.params) if callspec is not None else {}
    arguments = set(inspect.signature(item.obj).parameters)
    # our own fixtures use `request`; any other name is a fixture that only pytest can set up
    others = set(item.fixturenames) - set(OUR_FIXTURES) - set(parameters) - {"request"}
    return None if others or "request" in arguments or item.cls is not None else parameters
