"""`doctor` on the isolation: it claims what it has tried, and finds what does not hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.run_in_worker import tiny

from grader.cli.doctor import isolation
from grader.errors import IsolationError
from grader.isolation_selftest import escape_attempts, selftest
from grader.isolation_selftest.selftest import CombinedResult, LayerResult, Selftest
from grader.judge.processes import isolation_policy
from grader.judge.processes.isolation_policy import LAYERS
from grader.worker.isolation import drop_privileges, process

linux = pytest.mark.skipif(not process.LINUX, reason="needs Linux: most layers exist there only")
WORKER_LAYERS = ("process-group", "limits", "no-new-privileges", "landlock", "seccomp", "unprivileged-user")


@pytest.fixture(scope="module")
def running() -> Iterator[Selftest]:
    """Both kinds of workers, for all tests here."""
    with selftest.prepare_selftest(tiny()) as started:
        yield started


def test_nothing_gets_through_a_layer_that_is_in_force(running):
    """Every layer is there with a finding: it cannot be had, or it refuses alone what it is there to refuse."""
    found = list(running.try_each_layer())

    assert [result.layer for result in found] == list(LAYERS)
    assert {result.layer.name: result.escapes for result in found if result.escapes} == {}
    available = isolation_policy.reasons_missing()
    for result in found:
        if result.layer.name not in ("unprivileged-user", "container"):
            assert bool(result.missing) == bool(available[result.layer.name])


@linux
def test_every_attempt_succeeds_where_nothing_refuses_it(running):
    """The attempts are real: with all layers off, each of them gets through."""
    _, escapes = running._run_attempts(running.plain, ())
    missing = {name for name, what in escapes.items() if not what}

    assert missing <= (set() if drop_privileges.is_root() else {"unprivileged-user"})
    assert "read /etc/passwd" in escapes["landlock"]
    for what in ("reach us by TCP", "reach us by a local socket", "send by UDP", "start a process", "signal us"):
        assert what in escapes["seccomp"]
    for what in ("find out that a file exists", "reach us by TCP", "see other processes"):
        assert what in escapes["namespaces"]


@linux
def test_a_process_that_ends_meanwhile_hides_no_other():
    """What was listed and is gone when it is looked at is none that was seen, and no end of the looking."""
    assert not escape_attempts._is_a_stranger("4194305")  # above any number that Linux gives


@linux
@pytest.mark.parametrize("layer", WORKER_LAYERS)
def test_each_layer_stops_what_the_others_let_through(running, layer):
    """Without one layer, what it is there for gets through, and nothing else does."""
    gone = {layer, "landlock", "seccomp"} if layer == "no-new-privileges" else {layer}
    layers, escapes = running._run_attempts(running.plain, tuple(name for name in WORKER_LAYERS if name not in gone))
    if not drop_privileges.is_root():
        gone -= {"unprivileged-user"}

    assert all(escapes[name] for name in gone)
    assert {name: escapes[name] for name in layers if escapes[name]} == {}


@linux
def test_the_commands_are_tried_as_they_are(running):
    """A worker as `learn check` has it, and one as `grader run` has it, hold against everything at once."""
    try:
        in_class = running.try_grader_run()
    except IsolationError:
        pytest.skip("needs a machine that can grade a class: grader doctor says what is missing")
    assert (running.try_learn_check().escapes, in_class.escapes) == ("", "")
    assert ("namespaces" in in_class.layers) == (not in_class.no_sandbox)


class FakeSelftest:
    """A selftest with given results."""

    device = "cpu"

    def __init__(self, layer_results=(), combined=None, run=None):
        combined = combined or CombinedResult(("limits",))
        self.try_each_layer = lambda: iter(layer_results)
        self.try_learn_check = lambda: combined
        self.try_grader_run = run or self.try_learn_check

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def findings(monkeypatch, fake, *, for_class=False):
    """What `doctor` says of such results, by name."""
    monkeypatch.setattr(selftest, "prepare_selftest", lambda _course: fake)
    return {finding.name: finding for finding in isolation.findings(tiny(), for_class=for_class)}


def test_what_is_missing_is_a_note_and_what_fails_is_broken(monkeypatch):
    """A layer that a machine lacks is no fault; one that lets something through is, and so is a worker."""
    lacking, leaking = LayerResult(LAYERS[4], "no Landlock"), LayerResult(LAYERS[5], "", "it could fork")
    container = LayerResult(LAYERS[7], observed="this runs in Podman")
    leaks = CombinedResult(("limits",), "it could write a file")
    found = findings(monkeypatch, FakeSelftest([lacking, leaking, container], leaks))

    assert (found["landlock"].state, found["landlock"].says) == ("note", "not in force: no Landlock")
    assert (found["seccomp"].state, found["seccomp"].says) == ("broken", "it does not hold: it could fork")
    assert (found["container"].state, found["container"].says) == ("ok", "this runs in Podman")
    assert found["worker"].state == found["grader run"].state == "broken"


@pytest.mark.parametrize(("for_class", "state"), [(False, "note"), (True, "broken")])
def test_a_class_that_cannot_be_graded_is_the_instructor_s_trouble(monkeypatch, for_class, state):
    """Where isolation is lacking, a learner is told, and for an instructor something is broken, with the way out."""

    def refuse():
        raise IsolationError("A learner's code cannot be isolated here from the network.")

    found = findings(monkeypatch, FakeSelftest(run=refuse), for_class=for_class)["grader run"]

    assert found.state == state
    assert "--isolation process" in found.next


def test_going_without_bubblewrap_is_said(monkeypatch):
    """The line on `grader run` says why its second wall is not there, and what only that would hide."""
    without = CombinedResult(("landlock", "seccomp"), no_sandbox="bubblewrap is not installed")
    assert (
        "without bubblewrap, so code can find out which paths exist: bubblewrap is not installed"
        in findings(monkeypatch, FakeSelftest(combined=without))["grader run"].says
    )
