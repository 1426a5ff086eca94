"""Collect the checks of some lessons once, then run them as often as wanted."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from grader.errors import CourseError, GraderError
from grader.files import AUDIT, at
from grader.judge.checks import pytest_plugin
from grader.judge.checks.check import Check
from grader.judge.course_files import line_in
from grader.judge.processes.remote_module import CallableModule
from grader.judge.values.random_inputs import Rand

# Plugins of pytest that checks do not need; each costs time at the start and for every check.
# fmt: off
UNUSED_PLUGINS = (
    "cacheprovider", "capture", "debugging", "doctest", "faulthandler", "junitxml", "legacypath", "logging",
    "monkeypatch", "nose", "pastebin", "recwarn", "setuponly", "setupplan", "stepwise", "terminal", "threadexception",
    "tmpdir", "unittest", "unraisableexception", "warnings",
)
# fmt: on


class CheckRunner:
    """The collected checks by file, and the subjects that the fixtures return during a run."""

    def __init__(self) -> None:
        self.checks: dict[Path, list[Check]] = {}
        self.submission: CallableModule | None = None
        self.reference: CallableModule | None = None
        self.make_rand: Callable[[str], Rand] | None = None
        self._error: BaseException | None = None

    def run(
        self, check: Check, submission: CallableModule, reference: CallableModule, make_rand: Callable[[str], Rand]
    ) -> BaseException | None:
        """Run one check and return what it raised."""
        self.submission, self.reference, self.make_rand = submission, reference, make_rand
        self._error = None
        if check.plain_arguments is None:
            runtestprotocol(check.item, log=False, nextitem=None)
        else:
            self._call(check, check.plain_arguments)
        return self._error

    def _call(self, check: Check, parameters: Mapping[str, Any]) -> None:
        """Call a check that uses our fixtures only: pytest's set-up for an item costs more than most checks."""
        ours = ("submission", "reference")
        fixtures: dict[str, Any] = {name: getattr(self, name) for name in ours if name in check.item.fixturenames}
        if "rand" in check.item.fixturenames:
            assert self.make_rand is not None
            fixtures["rand"] = self.make_rand(check.item.name)
        try:
            check.item.obj(**fixtures, **parameters)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # as pytest does: pytest.fail and pytest.skip raise no Exception
            self._error = error

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Keep the exception itself, and report without the costly rendering of its traceback."""
        if call.excinfo is not None and self._error is None:
            self._error = call.excinfo.value
        outcome: Any = "failed" if call.excinfo else "passed"
        when: Any = call.when
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)


class _Driver:
    """Plugin that calls `drive(runner)` in place of pytest's loop over the collected items."""

    def __init__(self, drive: Callable[[CheckRunner], None]) -> None:
        self.runner = CheckRunner()
        self.drive = drive
        self.error: BaseException | None = None
        self.broken: BaseException | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.register(self.runner, pytest_plugin.RUNNER)

    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]) -> None:
        if self.broken is None and isinstance(node, pytest.Collector) and call.excinfo is not None:
            self.broken, self.broken_file = call.excinfo.value, Path(node.path)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            if self.broken is not None:
                raise _cannot_be_used(self.broken_file, self.broken)
            for item in session.items:
                assert isinstance(item, pytest.Function)
                self.runner.checks.setdefault(Path(item.path), []).append(_make_check(item))
            self.drive(self.runner)
        except BaseException as error:  # pytest would swallow or print it: it is the caller's
            self.error = error
        return True


def _make_check(item: pytest.Function) -> Check:
    try:
        return Check(item)
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # of what its mark holds
        what = f"the mark of {item.name} cannot be used: {type(error).__name__}: {error}"
        raise CourseError(what, where=at(item.path, (item.location[1] or 0) + 1), next_step=AUDIT) from error


def _cannot_be_used(path: Path, error: BaseException) -> CourseError:
    """Return the error for a file of checks that pytest could not collect."""
    cause = error.__cause__ or error  # pytest wraps what an import raises
    what = f"{path.name} cannot be used: {type(cause).__name__}: {cause}"
    return CourseError(what, where=at(path, line_in(cause, path)), next_step=AUDIT)


def collect_and_drive(root: Path, files: Iterable[Path], drive: Callable[[CheckRunner], None]) -> None:
    """Collect the checks in `files` once, then call `drive(runner)`. Raises what `drive` raises."""
    driver, files = _Driver(drive), list(files)
    arguments = [str(path) for path in files]
    arguments += ["-c", os.devnull, "--rootdir", str(root), "--noconftest", "--import-mode=importlib"]
    for name in UNUSED_PLUGINS:
        arguments += ["-p", f"no:{name}"]
    before = set(sys.modules)
    # a known mistake may make torch warn: not of anything that somebody wrote
    with _without_user_plugins(), warnings.catch_warnings(action="ignore"):
        code = pytest.main(arguments, plugins=[driver, pytest_plugin])
    _forget(set(files), set(sys.modules) - before)
    if driver.error is not None:
        raise driver.error
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise GraderError(f"pytest ended with {code!r} before the checks ran.", next_step="grader audit")


def _forget(files: set[Path], names: set[str]) -> None:
    """Remove files of checks from `sys.modules`.

    pytest names them by their path in the course, and another course may have a lesson of the same name.
    """
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and Path(file) in files:
            del sys.modules[name]


@contextmanager
def _without_user_plugins() -> Iterator[None]:
    """Keep the plugins and options of the user's own pytest out of the run."""
    ours = {"PYTEST_ADDOPTS": None, "PYTEST_PLUGINS": None, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    saved = {name: os.environ.get(name) for name in ours}
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    _set_environment(ours)
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes
        _set_environment(saved)


def _set_environment(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
