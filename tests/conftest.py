"""Fixtures that several test files share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from support.factories import course

from grader.judge.processes.launcher import Launcher, start_launcher
from grader.judge.session import policy_for
from grader.model import Limits
from grader.worker.preload import settle_torch

settle_torch()  # as the judge does: tests of diagnosis use its parts without it


@contextmanager
def _launcher(limits: Limits, arrays: str = "torch", spawn: bool = False) -> Iterator[Launcher]:
    policy = policy_for(dataclasses.replace(course(), limits=limits, arrays=arrays), "cpu")
    launcher = start_launcher(arrays, policy, limits, spawn=spawn)
    try:
        yield launcher
    finally:
        launcher.close()


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    """One warm parent of workers for the whole run, with the course's own limits."""
    with _launcher(course().limits) as started:
        yield started


@pytest.fixture(scope="session")
def launcher_with() -> Callable[..., AbstractContextManager[Launcher]]:
    """Makes a launcher with other limits, for a `with` block."""
    return _launcher
