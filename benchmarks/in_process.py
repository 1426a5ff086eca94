"""A pytest plugin that runs hidden checks the way others do: the learner's code in the process of the checks.

Only to be measured against. It isolates nothing and can be fooled from inside a submission.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.course.load_course import load
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.random_inputs import Rand, derive

COURSE = load(Path(__file__).resolve().parent.parent)
LESSONS = {lesson.checks_path: lesson for lesson in COURSE.lessons.values()}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for the learner's folder."""
    parser.addoption("--learner")


def pytest_configure(config: pytest.Config) -> None:
    """Register the checks' mark, as our plugin is not loaded; let a learner's lesson import another of theirs."""
    config.addinivalue_line("markers", "check: a check of a selfattend course")
    sys.path.insert(0, config.getoption("--learner"))


def subject(path: Path, request: pytest.FixtureRequest) -> LocalModule:
    """Load the functions of one file in this process."""
    lesson = LESSONS[Path(request.node.path)]
    name = f"{path.parent.name}_{path.stem}"
    if name not in sys.modules:
        spec: Any = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return LocalModule(vars(sys.modules[name]), lesson.kinds)


@pytest.fixture
def submission(request: pytest.FixtureRequest) -> LocalModule:
    """Load the learner's functions."""
    lesson = LESSONS[Path(request.node.path)]
    return subject(Path(request.config.getoption("--learner")) / f"{lesson.name}.py", request)


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> LocalModule:
    """Load the course's functions."""
    return subject(LESSONS[Path(request.node.path)].solution_path, request)


@pytest.fixture
def rand(request: pytest.FixtureRequest) -> Rand:
    """Make inputs from one seed."""
    return Rand(derive(1, LESSONS[Path(request.node.path)].name, request.node.name))
