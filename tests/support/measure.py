"""Measure the processor time of each test, and write which are long, as `tests/long_tests.txt` names them.

PYTHONPATH=tests pytest -p support.measure -m "not soak" -n 2 --long-tests=tests/long_tests.txt

Whatever a test starts counts: the processes below this one, and those that have ended.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from support.process_tree import descendants
from support.repeat import read_long_tests

LONG_SECONDS = 0.2  # of processor time
NAME = "processor seconds"
TICKS = os.sysconf("SC_CLK_TCK")

Reporting = Generator[None, pytest.TestReport, pytest.TestReport]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the name of the file that is written."""
    parser.addoption("--long-tests", type=Path, help="file to which the names of the long tests are written")


def pytest_configure(config: pytest.Config) -> None:
    """Collect what is measured where the tests are not run, or are shared out."""
    if path := config.getoption("--long-tests"):
        config.pluginmanager.register(_Measure() if hasattr(config, "workerinput") else _Writer(path.resolve()))
        if config.getoption("dist", "no") == "no":
            config.pluginmanager.register(_Measure())


class _Measure:
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self._began = _processor_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Reporting:
        report = yield
        if call.when == "teardown" and not _is_marked(item):
            report.user_properties.append((NAME, _processor_seconds() - self._began))
        return report


class _Writer:
    def __init__(self, path: Path) -> None:
        self.path, self.seconds = path, dict[str, float]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.removeprefix("tests/")
        for seconds in (value for key, value in report.user_properties if key == NAME):
            self.seconds[name] = float(str(seconds))

    def pytest_sessionfinish(self) -> None:
        shortest: dict[str, float] = {}
        for name, seconds in self.seconds.items():
            file = name.partition("::")[0]
            shortest[file] = min(seconds, shortest.get(file, seconds))
        long = [
            name
            for name, seconds in self.seconds.items()
            if seconds >= LONG_SECONDS and seconds > shortest[name.partition("::")[0]]
        ]
        self.path.write_text("".join(f"{name}\n" for name in sorted(long)))


def _is_marked(item: pytest.Item) -> bool:
    """Return True for a test that is marked as slow where it stands."""
    is_slow = item.get_closest_marker("slow") is not None
    return is_slow and item.nodeid.removeprefix("tests/") not in read_long_tests()


def _processor_seconds() -> float:
    """Return what this process and all below it have used so far."""
    seconds = 0.0
    for process in (os.getpid(), *descendants(os.getpid())):
        with suppress(OSError):  # it has ended
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:15])) / TICKS
    return seconds
