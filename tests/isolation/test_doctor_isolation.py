"""`doctor` on the isolation: it claims what it has tried, and finds what does not hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.run_in_worker import tiny

from grader.cli.doctor import isolation
from grader.errors import IsolationError
from grader.isolation_selftest import selftest
from grader.isolation_selftest.selftest import Together, Trial, Trials
from grader.judge.processes.isolation_policy import LAYERS
from grader.worker.isolation import drop_privileges, process

linux = pytest.mark.skipif(not process.LINUX, reason="needs Linux: most layers exist there only")
WORKER_LAYERS = ("process-group", "limits", "no-new-privileges", "landlock", "seccomp", "unprivileged-user")


@pytest.fixture(scope="module")
def trials() -> Iterator[Trials]:
    """Both kinds of workers, for all tests here."""
    with selftest.with_trials(tiny()) as running:
        yield running


def test_nothing_gets_through_a_layer_that_is_in_force(trials):
    """Every layer is there with a finding: it cannot be had, or it refuses alone what it is there to refuse."""
    found = list(trials.each())

    assert [trial.layer for trial in found] == list(LAYERS)
    assert {trial.layer.name: trial.through for trial in found if trial.through} == {}
    available = selftest.reasons_missing()
    for trial in found:
        if trial.layer.name not in ("unprivileged-user", "container"):
            assert bool(trial.missing) == bool(available[trial.layer.name])


@linux
def test_every_attempt_succeeds_where_nothing_refuses_it(trials):
    """The attempts are real: with all layers off, each of them gets through."""
    _, through = trials._attempt(trials.plain, ())
    missing = {name for name, what in through.items() if not what}

    assert missing <= (set() if drop_privileges.is_root() else {"unprivileged-user"})
    assert "read /etc/passwd" in through["landlock"]
    for what in ("reach us by TCP", "reach us by a local socket", "send by UDP", "start a process", "signal us"):
        assert what in through["seccomp"]
    for what in ("find out that a file exists", "reach us by TCP", "see other processes"):
        assert what in through["namespaces"]


@linux
@pytest.mark.parametrize("layer", WORKER_LAYERS)
def test_each_layer_stops_what_the_others_let_through(trials, layer):
    """Without one layer, what it is there for gets through, and nothing else does."""
    gone = {layer, "landlock", "seccomp"} if layer == "no-new-privileges" else {layer}
    layers, through = trials._attempt(trials.plain, tuple(name for name in WORKER_LAYERS if name not in gone))
    if not drop_privileges.is_root():
        gone -= {"unprivileged-user"}

    assert all(through[name] for name in gone)
    assert {name: through[name] for name in layers if through[name]} == {}


@linux
def test_the_commands_are_tried_as_they_are(trials):
    """A worker as `learn check` has it, and one as `grader run` has it, hold against everything at once."""
    try:
        in_class = trials.grader_run()
    except IsolationError:
        pytest.skip("needs a machine that can grade a class: grader doctor says what is missing")
    assert (trials.learn_check().through, in_class.through) == ("", "")
    assert ("namespaces" in in_class.layers) == (not in_class.without)


class Pretended:
    """Trials with set results."""

    device = "cpu"

    def __init__(self, each=(), together=None, run=None):
        together = together or Together(("limits",))
        self.each = lambda: iter(each)
        self.learn_check = lambda: together
        self.grader_run = run or self.learn_check

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def findings(monkeypatch, pretended, *, for_class=False):
    """What `doctor` says of such results, by name."""
    monkeypatch.setattr(selftest, "with_trials", lambda _course: pretended)
    return {finding.name: finding for finding in isolation.findings(tiny(), for_class=for_class)}


def test_what_is_missing_is_a_note_and_what_fails_is_broken(monkeypatch):
    """A layer that a machine lacks is no fault; one that lets something through is, and so is a worker."""
    lacking, leaking, seen = Trial(LAYERS[4], "no Landlock"), Trial(LAYERS[5], "", "it could fork"), LAYERS[7]
    leaks = Together(("limits",), "it could write a file")
    found = findings(monkeypatch, Pretended([lacking, leaking, Trial(seen, found="this runs in Podman")], leaks))

    assert (found["landlock"].state, found["landlock"].says) == ("note", "not in force: no Landlock")
    assert (found["seccomp"].state, found["seccomp"].says) == ("broken", "it does not hold: it could fork")
    assert (found["container"].state, found["container"].says) == ("ok", "this runs in Podman")
    assert found["worker"].state == found["grader run"].state == "broken"


@pytest.mark.parametrize(("for_class", "state"), [(False, "note"), (True, "broken")])
def test_a_class_that_cannot_be_graded_is_the_instructor_s_trouble(monkeypatch, for_class, state):
    """Where isolation is lacking, a learner is told, and for an instructor something is broken, with the way out."""

    def refuse():
        raise IsolationError("A learner's code cannot be isolated here from the network.")

    found = findings(monkeypatch, Pretended(run=refuse), for_class=for_class)["grader run"]

    assert found.state == state
    assert "--isolation process" in found.next


def test_going_without_bubblewrap_is_said(monkeypatch):
    """The line on `grader run` says why its second wall is not there."""
    without = Together(("landlock", "seccomp"), without="bubblewrap is not installed")
    assert (
        "without bubblewrap: bubblewrap is not installed"
        in findings(monkeypatch, Pretended(together=without))["grader run"].says
    )
