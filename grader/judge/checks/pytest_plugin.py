"""The pytest plugin: gives hidden checks their fixtures, and runs them again and again without collecting twice.

Two ways in. By hand: `pytest solutions/core/test_softmax.py --submission FILE`. Driven: `collect_and_drive`, which
collects the checks of some lessons once and hands the caller a `Bench` to run them with, as often as it likes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.errors import CourseError, GraderError
from grader.judge.checks.check import Check

if TYPE_CHECKING:
    from grader.judge.processes.remote_module import Subject
    from grader.judge.values.random_inputs import Rand

# What a run of hidden checks does not need; each costs start-up time and time for every item.
WITHOUT = (
    "cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging",
    "monkeypatch", "nose", "pastebin", "recwarn", "setuponly", "setupplan", "stepwise", "terminal", "threadexception",
    "tmpdir", "unittest", "unraisableexception", "warnings",
)  # fmt: skip


class Bench:
    """The collected checks, and the subjects that their fixtures give out at the moment."""

    def __init__(self) -> None:
        self.checks: dict[Path, list[Check]] = {}
        self.submission: Subject | None = None
        self.reference: Subject | None = None
        self.make_rand: Callable[[str], Rand] | None = None
        self._error: BaseException | None = None

    def run(
        self, check: Check, submission: Subject, reference: Subject, make_rand: Callable[[str], Rand]
    ) -> BaseException | None:
        """Run one check; returns what it raised. Raises Diverged."""
        self.submission, self.reference, self.make_rand = submission, reference, make_rand
        if check.plain_arguments is not None:
            return self._call(check, check.plain_arguments)
        from _pytest.runner import runtestprotocol

        self._error = None
        runtestprotocol(check.item, log=False, nextitem=None)
        return self._returned(self._error)

    def _call(self, check: Check, parameters: Mapping[str, Any]) -> BaseException | None:
        """Call a check that asks for nothing but our fixtures and its parameters: pytest's own set-up for an item costs
        more than most checks."""
        ours = ("submission", "reference")
        given: dict[str, Any] = {name: getattr(self, name) for name in ours if name in check.item.fixturenames}
        if "rand" in check.item.fixturenames:
            assert self.make_rand is not None
            given["rand"] = self.make_rand(check.item.name)
        try:
            check.item.obj(**given, **parameters)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # what pytest itself would catch: pytest.fail and pytest.skip are among it
            return self._returned(error)
        return None

    @staticmethod
    def _returned(error: BaseException | None) -> BaseException | None:
        """What a check raised; unless it tells nothing but that the check is to be run again."""
        from grader.judge.transcript.prefetch import (
            Diverged,  # not before a check is run: every pytest imports this plugin
        )

        if isinstance(error, Diverged):
            raise error
        return error

    # --- pytest hooks ---------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """A report without the costly rendering of tracebacks: the exception itself is kept."""
        if call.excinfo is not None and self._error is None:
            self._error = call.excinfo.value
        outcome: Any = "failed" if call.excinfo else "passed"
        when: Any = call.when
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)


class _Driver:
    """The plugin object of a driven run."""

    def __init__(self, drive: Callable[[Bench], None]) -> None:
        self.bench = Bench()
        self.drive = drive
        self.error: BaseException | None = None
        self.broken: list[str] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(str(report.longrepr))

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            if self.broken:
                lines = self.broken[0].strip().splitlines() or [""]
                what = f"A file of hidden checks cannot be used: {lines[-1]}"
                raise CourseError(what, where=lines[0], next_step="grader audit")
            for item in session.items:
                assert isinstance(item, pytest.Function)
                self.bench.checks.setdefault(Path(item.path), []).append(Check(item))
            self.drive(self.bench)
        except BaseException as error:  # pytest would swallow or print it: it is the caller's
            self.error = error
        return True


def collect_and_drive(root: Path, files: Iterable[Path], drive: Callable[[Bench], None]) -> None:
    """Collect the checks in `files` once, then call `drive(bench)`. Raises what `drive` raises."""
    driver, files = _Driver(drive), list(files)
    arguments = [str(path) for path in files]
    arguments += ["-c", os.devnull, "--rootdir", str(root), "--noconftest", "--import-mode=importlib"]
    for name in WITHOUT:
        arguments += ["-p", f"no:{name}"]
    before = set(sys.modules)
    with _quiet_environment():
        code = pytest.main(arguments, plugins=[driver, driver.bench, sys.modules[__name__]])
    _forget(set(files), set(sys.modules) - before)
    if driver.error is not None:
        raise driver.error
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise GraderError(f"pytest ended with {code!r} before the checks ran.", next_step="grader audit")


def _forget(files: set[Path], names: set[str]) -> None:
    """Take files of checks out of `sys.modules`: pytest names them by their place in the course, and another course
    may have a lesson of the same name."""
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and Path(file) in files:
            del sys.modules[name]


@contextmanager
def _quiet_environment() -> Iterator[None]:
    """No plugin and no option of the user's own pytest takes part."""
    saved = {name: os.environ.pop(name, None) for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")}
    autoload = os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        restored = {**saved, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": autoload}
        for name, value in restored.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


# --- fixtures and options of the plugin -------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--submission` is what turns a file of checks into a run by hand."""
    group = parser.getgroup("selfattend", "checks of a selfattend course")
    group.addoption("--submission", metavar="FILE", help="the learner's file to run these checks on")
    group.addoption("--check-seed", type=int, help="seed of the checks' random inputs (default 0, in a release any)")
    group.addoption("--check-device", default="cpu", choices=["cpu", "cuda"], help="where the learner's code runs")


def pytest_configure(config: pytest.Config) -> None:
    """The mark that every check carries."""
    marker = "check(skill, points, needs, function, stage, public): a check of a selfattend course"
    config.addinivalue_line("markers", marker)
    if config.getoption("--submission", None) and not config.pluginmanager.has_plugin("selfattend-by-hand"):
        from grader.judge.checks.pytest_single_file import ByHand

        config.pluginmanager.register(ByHand(config), "selfattend-by-hand")


def _bench(request: pytest.FixtureRequest) -> Any:
    for plugin in request.config.pluginmanager.get_plugins():
        if isinstance(plugin, Bench):
            return plugin
    by_hand = request.config.pluginmanager.get_plugin("selfattend-by-hand")
    if by_hand is None:
        pytest.skip("hidden checks need a submission: pytest FILE --submission YOUR_FILE")
    return by_hand.bench(request.node)


@pytest.fixture
def submission(request: pytest.FixtureRequest) -> Any:
    """The learner's functions, in their own process."""
    return _bench(request).submission


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> Any:
    """The course's own functions, in this process."""
    return _bench(request).reference


@pytest.fixture
def rand(request: pytest.FixtureRequest) -> Any:
    """Random inputs, from the run's seed and the check's name."""
    return _bench(request).make_rand(request.node.name)
