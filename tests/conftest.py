"""Fixtures that several test files share, and how `pytest -n` shares the tests out."""

from __future__ import annotations

import dataclasses
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from support import repeat
from support.factories import course
from support.forked_processes import CAN_FORK, FOLDER, ForkServers, start_by_fork

from grader.judge.processes import launcher as launchers
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import Launcher, start_launcher
from grader.model import Limits
from grader.worker.preload import configure_torch

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so a script starts what runs beside it; tests type Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A shell may forbid Python to keep what it compiles. Then each process of the run would compile all tests, which pytest
# rewrites first, and each command that a test starts the engine.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A tree that passes once passes again: the examples follow from the test, not from the clock. Others are tried by
# `pytest --hypothesis-profile=default`.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Configure torch as the judge does, for tests of its parts; the process that only shares tests out needs none."""
    if config.getoption("dist", "no") == "no":
        gc.disable()  # until all is collected, which stays: to search it meanwhile takes a seventh of the time
        configure_torch()
    if not CAN_FORK:
        return
    if hasattr(config, "workerinput"):
        from support.schedule import rotate_rooms

        rotate_rooms(config, int(config.workerinput["workerid"].removeprefix("gw")), config.workerinput["workercount"])
    else:
        servers = ForkServers()
        config.add_cleanup(servers.close)
        os.environ[FOLDER] = str(servers.folder)
    start_by_fork(Path(os.environ[FOLDER]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Share the tests out as `support.schedule` says."""
    from support.schedule import Scheduler  # only where there is pytest-xdist

    config.option.loadscopereorder = False
    return Scheduler(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start one process more than there are cores with `-n auto`: many tests wait for a time limit or a process."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest tests where several processes share them; of long tests only a share may be asked for."""
    repeat.mark_long_tests(items)
    repeat.keep_share(config, items)
    if hasattr(config, "workerinput"):
        from support.schedule import sort_longest_first

        sort_longest_first(items)


def pytest_collection_finish() -> None:
    """Collect garbage from here on, and search nothing that was there before."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _own_configuration(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what tests choose and compute out of the configuration and the cache of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_CACHE_HOME", str(_cache_folder(request.config, tmp_path_factory.getbasetemp())))
        yield


def _cache_folder(config: pytest.Config, place: Path) -> Path:
    """Return a folder that the processes of a run share, and runs: each computed the fingerprints of the same mistakes.

    Those of other files or libraries have other names. `pytest --cache-clear` begins from nothing.
    """
    with suppress(AttributeError, OSError):  # pytest keeps no cache, or may write none
        return config.cache.mkdir("computed")
    return (place.parent if "PYTEST_XDIST_WORKER" in os.environ else place) / "cache"


@contextmanager
def _launcher(
    limits: Limits, arrays: str = "torch", spawn: bool = False, without: tuple[str, ...] = ()
) -> Iterator[Launcher]:
    policy = policy_for(dataclasses.replace(course(), limits=limits, arrays=arrays), "cpu", without)
    launcher = start_launcher(arrays, policy, limits, spawn=spawn)
    try:
        yield launcher
    finally:
        launcher.close()


@pytest.fixture
def new_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each process of the engine that a test starts be a new Python, as users have it."""
    monkeypatch.setattr(launchers, "subprocess", subprocess)


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """One warm parent of workers for the whole run, with the course's own limits."""
    with _launcher(course().limits) as started:
        yield started


@pytest.fixture(scope="session")
def launcher_with() -> Callable[..., AbstractContextManager[Launcher]]:
    """Makes a launcher with other limits, for a `with` block."""
    return _launcher
