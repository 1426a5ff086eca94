"""Test what runs a learner's code: the device, the workers, and every isolation layer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from grader.cli.doctor.finding import Finding
from grader.errors import IsolationError, SelfattendError
from grader.model import Course
from grader.terminal.spinner import Spinner

if TYPE_CHECKING:
    from grader.isolation_selftest.selftest import CombinedResult, LayerResult

REINSTALL = "pip install --force-reinstall selfattend"
DELEGATE = "systemd-run --user --scope -p Delegate=yes grader run ..., or a container with a limit of memory"
ON_TRUST = "--isolation process, if you trust the code; docs/isolation.md says more"


def findings(course: Course, *, for_class: bool) -> Iterator[Finding]:
    """Yield all findings. `for_class`: report it as broken, not as a note, if a class cannot be graded."""
    try:
        with Spinner("Trying the isolation"):
            found = _try(course, for_class)
    except (SelfattendError, ImportError) as error:
        found = [Finding("worker", "broken", str(error).split("\n")[0], REINSTALL)]
    yield from found
    if for_class:
        yield _memory()


def _try(course: Course, for_class: bool) -> list[Finding]:
    started = time.monotonic()
    from grader.isolation_selftest.selftest import prepare_selftest
    from grader.judge.session import describe_device

    with prepare_selftest(course) as selftest:
        ready = time.monotonic() - started
        found = [_layer(result) for result in selftest.try_each_layer()]
        found.append(Finding("device", "ok", describe_device(selftest.device, course.arrays)))
        found.append(_worker(selftest.try_learn_check(), ready))
        found.append(_packages(course))
        found.append(_grader_run(selftest.try_grader_run, for_class))
    return found


def _layer(result: LayerResult) -> Finding:
    """Report on one layer, tested alone."""
    layer = result.layer
    if result.missing:
        return Finding(layer.name, "note", f"not in force: {result.missing}")
    if result.escapes:
        return Finding(layer.name, "broken", f"it does not hold: {result.escapes}", "report this")
    return Finding(layer.name, "ok", result.observed or f"tried and refused: {layer.tries}")


def _worker(result: CombinedResult, seconds: float) -> Finding:
    """Report on a worker with all layers, as `learn check` uses it."""
    if result.escapes:
        return Finding("worker", "broken", f"it could do more than it should: {result.escapes}", "report this")
    within = ", ".join(result.layers) or "no isolation"
    return Finding("worker", "ok", f"ready after {seconds:.1f} s; `learn check` runs code within {within}")


def _packages(course: Course) -> Finding:
    """Report which of the installed packages a learner's code may import."""
    from grader.judge.processes.isolation_policy import shown_packages

    named = ", ".join(shown_packages(course))
    return Finding(
        "packages", "ok", f"a worker is shown {named} and what these need; `packages` in course.toml names more"
    )


def _memory() -> Finding:
    """Report on the limit of memory round a grading process and its workers together."""
    from grader.batch.processes.memory_group import MemoryGroups, can_limit, own_group

    with closing(MemoryGroups(own_group())) as groups:
        if groups.why_not:
            return Finding("memory together", "note", f"not in force: {groups.why_not}", DELEGATE)
        if not can_limit(groups):
            return Finding("memory together", "broken", "a process took more than its group may have", "report this")
    return Finding("memory together", "ok", "tried and ended: taking more than the judge and its workers may together")


def _grader_run(run: Callable[[], CombinedResult], for_class: bool) -> Finding:
    """Report on a worker with all layers, as `grader run` uses it."""
    try:
        result = run()
    except IsolationError as error:
        return Finding("grader run", "broken" if for_class else "note", error.what, ON_TRUST)
    if result.escapes:
        return Finding("grader run", "broken", f"it could do more than it should: {result.escapes}", "report this")
    shows = "so code can find out which paths exist"  # no version of Landlock forbids that
    without = f"; without bubblewrap, {shows}: {result.no_sandbox}" if result.no_sandbox else ""
    return Finding("grader run", "ok", f"isolated from files and network, within {', '.join(result.layers)}{without}")
