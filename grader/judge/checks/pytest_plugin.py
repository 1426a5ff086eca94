"""The pytest plugin: the options, the mark and the fixtures of hidden checks.

The judge collects checks itself (`check_runner.py`). A course author runs one file as any pytest file:
`pytest solutions/core/test_softmax.py --submission FILE`.
"""

from __future__ import annotations

from typing import Any

import pytest

# Names under which the plugin that gives the fixtures their values is registered.
RUNNER = "selfattend-runner"
SINGLE_FILE = "selfattend-single-file"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--submission`, which runs one file of checks by itself."""
    group = parser.getgroup("selfattend", "checks of a selfattend course")
    group.addoption("--submission", metavar="FILE", help="the learner's file to run these checks on")
    group.addoption("--check-seed", type=int, help="seed of the checks' random inputs (default 0, in a release any)")
    group.addoption("--check-device", default="cpu", choices=["cpu", "cuda"], help="where the learner's code runs")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark that every check carries, and the run of a single file where it is asked for."""
    marker = "check(skill, points, needs, function, stage, public): a check of a selfattend course"
    config.addinivalue_line("markers", marker)
    if config.getoption("--submission", None) and not config.pluginmanager.has_plugin(SINGLE_FILE):
        # not at the top: every pytest of this environment imports this plugin
        from grader.judge.checks.pytest_single_file import SingleFileRun

        config.pluginmanager.register(SingleFileRun(config), SINGLE_FILE)


def _subjects(request: pytest.FixtureRequest) -> Any:
    """Return the object that holds `submission`, `reference` and `make_rand` for this check."""
    plugins = request.config.pluginmanager
    if runner := plugins.get_plugin(RUNNER):
        return runner
    if single_file := plugins.get_plugin(SINGLE_FILE):
        return single_file.subjects(request.node)
    return pytest.skip("hidden checks need a submission: pytest FILE --submission YOUR_FILE")


@pytest.fixture
def submission(request: pytest.FixtureRequest) -> Any:
    """Return the learner's functions, in their own process."""
    return _subjects(request).submission


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> Any:
    """Return the course's own functions, in this process."""
    return _subjects(request).reference


@pytest.fixture
def rand(request: pytest.FixtureRequest) -> Any:
    """Return random inputs drawn from the run's seed and the check's name."""
    return _subjects(request).make_rand(request.node.name)
