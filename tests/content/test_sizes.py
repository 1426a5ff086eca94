"""No lesson is passed by code that is right for the sizes of some runs and wrong for all others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from support.factories import course, run_judge
from support.repeat import rarely

from grader.judge.course_files import load_file
from grader.judge.examination import Judge
from grader.worker.arrays import map_leaves

KNOWN_RUNS, OTHER_RUNS = (11, 13, 15), (12, 1 << 100)
SMALL = 99


def sizes_in(*values: Any) -> tuple[Any, ...]:
    """Return the sizes that a call is about: of its arrays, texts and lists, and its whole numbers."""
    found: list[Any] = [len(each) for value in values for each in value if isinstance(each, list)]
    for value in values:
        map_leaves(value, lambda leaf: found.append(
            tuple(leaf.shape) if hasattr(leaf, "shape") else len(leaf) if isinstance(leaf, str) else leaf)
            if isinstance(leaf, int | str | torch.Tensor) else None)  # fmt: skip
    return tuple(found)


def numbers_in(key: Any) -> list[int]:
    """Return all sizes and numbers in a key of what is known by heart."""
    if isinstance(key, tuple):
        return [number for each in key for number in numbers_in(each)]
    return [key] if isinstance(key, int) else []


class ByHeart:
    """A lesson's reference that is right for sizes of the known runs, and wrong for others."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.known: set[tuple[Any, ...]] = set()
        self.learning = True

    def knows(self, *key: Any) -> bool:
        if self.learning:
            self.known.add(key)
        return key in self.known

    def made(self, name: str) -> Any:
        """Return the function or class of this name."""
        original = self.namespace[name]
        return self._class(original) if isinstance(original, type) else self._function(name, original)

    def _function(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def function(*args: Any, **kwargs: Any) -> Any:
            return original(*args, **kwargs) if self.knows(name, sizes_in(args, kwargs)) else None

        return function

    def _class(self, original: type) -> type:
        by_heart = self
        if not hasattr(original, "forward"):
            constructor = self._function("__init__", vars(original)["__init__"])
            return type(original.__name__, (original,), {"__init__": constructor})

        class Module(original):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.sizes = sizes_in(args, kwargs)

            def forward(self, *args: Any, **kwargs: Any) -> Any:
                value = super().forward(*args, **kwargs)
                return value if by_heart.knows(self.sizes, sizes_in(args, kwargs)) else 0.0 * value

        return Module


class Small(ByHeart):
    """A lesson's reference that is right for small sizes and numbers, and wrong for all others."""

    def knows(self, *key: Any) -> bool:
        return all(number <= SMALL for number in numbers_in(key))


# the sizes of a capstone's model are those of its language, which everybody knows
EXERCISES = [name for name, lesson in course().lessons.items() if lesson.kind == "exercise"]
LABS = [name for name, lesson in course().lessons.items() if lesson.kind == "lab"]
OF_ONE_SIZE = {"two_tokens", "readings"}


@pytest.mark.parametrize("name", rarely(EXERCISES))
def test_sizes_known_by_heart_do_not_pass(name, launcher):
    """Code that knows all sizes of three runs is right in those; in another one each of its functions fails a check."""
    lesson = course().lessons[name]

    def drive(judge: Judge) -> None:
        by_heart = ByHeart(vars(load_file(lesson.solution_path)))
        namespace = {**by_heart.namespace, **{function: by_heart.made(function) for function in lesson.kinds}}
        for seed in KNOWN_RUNS:
            assert judge.examine_own(lesson, namespace, seed).score == 10.0
        by_heart.learning = False
        assert judge.examine_own(lesson, namespace, KNOWN_RUNS[0]).score == 10.0
        for seed in OTHER_RUNS:
            result = judge.examine_own(lesson, namespace, seed)
            failed = {check.function for check in result.checks if not check.passed}
            assert failed == set(lesson.kinds) and result.score < 10.0

    run_judge(launcher, name, drive, known=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", rarely(EXERCISES + LABS))
def test_what_is_right_for_small_sizes_alone_does_not_pass(name, launcher):
    """Each function that is wrong where an axis or a number is over 99 fails a check, in every run."""
    lesson = course().lessons[name]
    asked = set(lesson.kinds) - OF_ONE_SIZE

    def drive(judge: Judge) -> None:
        small = Small(vars(load_file(lesson.solution_path)))
        namespace = {**small.namespace, **{function: small.made(function) for function in asked}}
        for seed in OTHER_RUNS:
            result = judge.examine_own(lesson, namespace, seed)
            assert {check.function for check in result.checks if not check.passed} == asked

    run_judge(launcher, name, drive, known=True)
