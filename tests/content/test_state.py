"""No lesson is passed by code that keeps something between calls."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from support.factories import course, run_judge
from support.repeat import rarely

from grader.judge import examination
from grader.judge.course_files import load_file
from grader.judge.examination import Judge
from grader.judge.transcript.prefetch import may_be_asked_ahead
from grader.model import Submission
from grader.submission import read_artefact

# Appended to a reference: right at the first call with some inputs, wrong at the second.
ONCE = """

def first_time(name, args, kwargs):
    memory = first_time
    if not hasattr(memory, "{store}"):
        memory.{store} = {{}}
    key = name + repr([each.tolist() if hasattr(each, "tolist") else repr(each) for each in [*args, *kwargs.values()]])
    first = key not in memory.{store}
    memory.{store}[key] = name
    return first
"""
FUNCTION = """

right_{name} = {name}


def {name}(*args, **kwargs):
    value = right_{name}(*args, **kwargs)
    return value if first_time("{name}", args, kwargs) else None
"""
CLASS = """

right_{name} = {name}


class {name}(right_{name}):
    pass
"""
METHOD = """
    def {method}(self, *args, **kwargs):
        value = super().{method}(*args, **kwargs)
        return value if first_time("{method}", args, kwargs) else None
"""
STORES = ("kept", "data")  # the second is what a tensor has, too


def spoiled(lesson, store):
    parts = [lesson.solution_path.read_text(), ONCE.format(store=store)]
    namespace = vars(load_file(lesson.solution_path))
    for name, kind in lesson.kinds.items():
        parts.append((CLASS if kind == "class" else FUNCTION).format(name=name))
        if kind == "class":
            parts += [METHOD.format(method=each) for each in vars(namespace[name]) if not each.startswith("_")]
    return "".join(parts)


@pytest.mark.parametrize("name", rarely(course().lessons))
def test_code_that_is_right_once_does_not_pass(name, launcher, monkeypatch):
    """Asked alone, or ahead if nobody saw that it keeps something, each function fails; the reference scores 10.0."""
    lesson = course().lessons[name]

    def drive(judge: Judge) -> None:
        right, own, borrowed = lesson.solution_path.read_text(), *(spoiled(lesson, store) for store in STORES)
        weights = read_artefact(lesson.solution_path)
        for source, wrong in (right, set()), (own, set(lesson.kinds)), (borrowed, set(lesson.kinds)):
            if source == borrowed:
                monkeypatch.setattr(examination, "may_be_asked_ahead", lambda _submission: True)
            with judge.workers.one_learner() if source != own else nullcontext():
                result = judge.examine(lesson, Submission(name, f"{name}.py", source, artefact=weights), 7)
            assert {check.function for check in result.checks if not check.passed} == wrong
            assert result.score == 10.0 if not wrong else result.score < 7.0

    run_judge(launcher, name, drive, known=True)


def test_that_code_is_seen_to_keep_something():
    """Whatever its functions keep things on, none of it is asked ahead."""
    for lesson in course().lessons.values():
        for store in STORES:
            assert not may_be_asked_ahead(Submission(lesson.name, "", spoiled(lesson, store))), lesson.name
