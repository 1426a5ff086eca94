"""The part of `doctor` about running a learner's code: the device, the workers, and every layer round them, tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from grader.cli.doctor.finding import Finding
from grader.errors import IsolationError, SelfattendError
from grader.model import Course
from grader.terminal.spinner import Spinner

if TYPE_CHECKING:
    from grader.isolation_selftest.selftest import Together, Trial

REINSTALL = "pip install --force-reinstall selfattend"
ON_TRUST = "--isolation process, if you trust the code; docs/isolation.md says more"


def findings(course: Course, *, for_class: bool) -> Iterator[Finding]:
    """All of it, once everything was tried. `for_class`: it is broken, not only a note, if a class cannot be graded."""
    try:
        with Spinner("Trying the isolation"):
            found = _try(course, for_class)
    except (SelfattendError, ImportError) as error:
        found = [Finding("worker", "broken", str(error).split("\n")[0], REINSTALL)]
    yield from found


def _try(course: Course, for_class: bool) -> list[Finding]:
    started = time.monotonic()
    from grader.isolation_selftest.selftest import with_trials
    from grader.judge.session import describe_device

    with with_trials(course) as trials:
        ready = time.monotonic() - started
        found = [_layer(trial) for trial in trials.each()]
        found.append(Finding("device", "ok", describe_device(trials.device, course.arrays)))
        found.append(_worker(trials.learn_check(), ready))
        found.append(_grader_run(trials.grader_run, for_class))
    return found


def _layer(trial: Trial) -> Finding:
    """One layer, tried by itself."""
    layer = trial.layer
    if trial.missing:
        return Finding(layer.name, "note", f"not in force: {trial.missing}")
    if trial.through:
        return Finding(layer.name, "broken", f"it does not hold: {trial.through}", "report this")
    return Finding(layer.name, "ok", trial.found or f"tried and refused: {layer.tries}")


def _worker(together: Together, seconds: float) -> Finding:
    """As `learn check` runs code, with all its layers at once."""
    if together.through:
        return Finding("worker", "broken", f"it could do more than it should: {together.through}", "report this")
    within = ", ".join(together.layers) or "no isolation"
    return Finding("worker", "ok", f"ready after {seconds:.1f} s; `learn check` runs code within {within}")


def _grader_run(run: Callable[[], Together], for_class: bool) -> Finding:
    """As `grader run` does."""
    try:
        together = run()
    except IsolationError as error:
        return Finding("grader run", "broken" if for_class else "note", error.what, ON_TRUST)
    if together.through:
        return Finding("grader run", "broken", f"it could do more than it should: {together.through}", "report this")
    without = f"; without bubblewrap: {together.without}" if together.without else ""
    return Finding("grader run", "ok", f"isolated from files and network, within {', '.join(together.layers)}{without}")
