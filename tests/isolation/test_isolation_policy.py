"""How much isolation is asked for, what is too little, and that the documentation says the same as the program."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest
from support import outer_sandbox
from support.course_files import ROOT
from support.run_in_worker import launched, load_request, run, tiny, within, without

from grader.errors import IsolationError, UsageError, WorkerError
from grader.judge import session
from grader.judge.processes import bubblewrap, isolation_policy
from grader.model import Submission
from grader.worker import isolation
from grader.worker.isolation import process

can_be_isolated = pytest.mark.skipif(
    bool(isolation_policy.lacking([name for name, why in isolation_policy.reasons_missing().items() if not why])),
    reason="needs Linux with Landlock and seccomp, or bubblewrap: grader doctor says what is missing",
)


@pytest.fixture(autouse=True)
def _stays_open():
    """A judge closes its memory to others of its user; the process of these tests stays as it was."""
    yield
    if process.LINUX:
        process.prctl(process.PR_SET_DUMPABLE, 1)


@pytest.fixture
def bare(monkeypatch):
    """A machine without Landlock and bubblewrap, as a worker sees it."""
    monkeypatch.setattr(bubblewrap, "_probe", lambda: ((), "bubblewrap is not installed (the command bwrap)"))
    monkeypatch.setattr(isolation.landlock, "why_unavailable", lambda: "this kernel has no Landlock")
    real = isolation_policy.policy_for
    monkeypatch.setattr(
        session, "policy_for", lambda course, device, without: real(course, device, ("landlock", *without))
    )


# --- the words --------------------------------------------------------------------------------------------------------


def test_the_documentation_has_the_same_table():
    """Each layer is in docs/isolation.md with the words that the program has for it, in the same order."""
    rows = re.findall(r"^\| `([\w-]+)` \| (.*) \|$", (ROOT / "docs/isolation.md").read_text(), re.MULTILINE)
    assert rows == [
        (layer.name, " | ".join((layer.what, layer.stops, layer.where, layer.tries)))
        for layer in isolation_policy.LAYERS
    ]


def test_every_layer_is_described():
    """What a worker can put on, and the two walls round it, are all there is."""
    assert {layer.name for layer in isolation_policy.LAYERS} == {*isolation.LAYERS, "namespaces", "container"}
    assert set(isolation_policy.reasons_missing()) == {layer.name for layer in isolation_policy.LAYERS}


def test_the_readme_of_isolation_names_every_degree():
    """Both words of --isolation are explained."""
    text = (ROOT / "docs/isolation.md").read_text()
    assert all(f"`{word}`" in text for word in ("required", "process"))


@pytest.mark.parametrize(
    ("layers", "missing"),
    [
        (["landlock", "seccomp"], ()),
        (["namespaces"], ()),
        (["landlock"], ("from the network",)),
        (["seccomp", "limits"], ("from the file system",)),
        (["process-group", "limits", "no-new-privileges", "unprivileged-user", "container"],
         ("from the file system", "from the network")),
    ],
)  # fmt: skip
def test_what_counts_as_isolation(layers, missing):
    """Landlock or bubblewrap for files, seccomp or bubblewrap for the network; nothing else will do."""
    assert isolation_policy.lacking(layers) == missing


def test_an_unknown_degree_is_a_usage_error():
    """A word that is none of the three is refused before anything starts."""
    with pytest.raises(UsageError, match="no isolation 'strong'"), session.with_workers(tiny(), "cpu", "strong"):
        pass


# --- required ---------------------------------------------------------------------------------------------------------


@can_be_isolated
def test_where_isolation_is_required_it_is_there_and_said():
    """The judge knows the layers in force before the first submission, and they isolate."""
    seen = []
    session.judge_with(tiny(), tiny().lessons.values(), lambda judge: seen.append(judge.launcher.layers),
                       device="cpu", isolation="required")  # fmt: skip
    assert isolation_policy.lacking(seen[0]) == ()
    assert ("namespaces" in seen[0]) == (not bubblewrap.why_not())


@pytest.mark.usefixtures("bare")
def test_a_machine_that_cannot_isolate_stops_before_anything_is_graded():
    """What is lacking, why, and what to do instead is said; nothing was judged and no process is left."""
    with pytest.raises(IsolationError) as caught:
        session.judge_with(tiny(), tiny().lessons.values(), lambda _: pytest.fail(), device="cpu", isolation="required")
    assert "cannot be isolated here from the file system (" in caught.value.what
    assert "landlock: this kernel has no Landlock; namespaces: bubblewrap is not installed" in caught.value.what
    assert "--isolation process" in caught.value.next_step and "grader doctor" in caught.value.next_step
    assert caught.value.exit_code == 3


@pytest.mark.usefixtures("bare")
def test_what_is_not_required_is_done_without():
    """The learner's own check goes on with what there is."""
    results = []
    lesson = tiny().lessons["argmax_2d"]
    jobs = [(lesson, Submission("argmax_2d", "argmax_2d.py", lesson.solution_path.read_text()), 0)]
    session.check_lessons(tiny(), jobs, seed=1, device="cpu", on_result=results.append)
    assert results[0].score == 10.0


@can_be_isolated
def test_one_worker_with_less_than_the_others_gets_no_code():
    """A worker that comes up with fewer layers than required is refused before anything is sent to it."""
    with launched(tiny(), sandbox=False, accept=isolation_policy.accept_for("required")) as launcher:
        assert run(launcher, "def f():\n    return 1\n") == 1
        with pytest.raises(IsolationError, match="from the network"):
            run(launcher, "def f():\n    return 1\n", policy=without(launcher, "seccomp"))
        with closing(launcher.lease(without(launcher, "landlock"))) as worker:
            with pytest.raises(IsolationError, match="from the file system"):
                worker.request("load")
            assert worker.layers is None


# --- process ----------------------------------------------------------------------------------------------------------


def test_trusted_code_is_in_a_process_with_limits():
    """With "process" no filter is put on and no sandbox made, and the layers say so."""
    with session.with_workers(tiny(), "cpu", outer_sandbox.ON_TRUST) as (launcher, _):
        layers = set(launcher.greet())
        assert not layers & {"landlock", "seccomp", "namespaces"}
        assert "process-group" in layers
        if process.LINUX:
            assert {"limits", "no-new-privileges"} <= layers
            assert run(launcher, "def f():\n    return len(open('/proc/version').read()) > 0\n") is True


BOMB = """
import os, time

def f():
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            time.sleep(0.001)
"""


@pytest.mark.skipif(not process.LINUX, reason="needs Linux: workers are forked there only")
def test_processes_of_trusted_code_end_with_it():
    """Where forking is not refused, a bomb of processes, each in a session of its own, goes with its worker."""
    assert (
        outer_sandbox.run("from isolation.test_isolation_policy import explode; explode(); print('ended')") == "ended\n"
    )


def explode() -> None:
    """Run the bomb, in the outer sandbox."""
    outer_sandbox.require()
    # as an ordinary user: the kernel limits the number of processes of nobody else
    policy = isolation_policy.policy_for(tiny(), "cpu", isolation_policy.NOT_WITH_PROCESS) | {"processes": 20}
    if isolation.drop_privileges.is_root():
        policy |= {"uid": 61235, "readable": []}
    with session.with_workers(tiny(), "cpu", outer_sandbox.ON_TRUST) as (launcher, _):
        with pytest.raises(WorkerError), closing(launcher.lease(policy)) as worker:
            worker.request("load", **load_request(BOMB, "f"))
            worker.request("call", 0.5, target="f", args=[], kwargs={})
        assert within(lambda: process_tree(launcher.process.pid) == [launcher.process.pid])
        assert run(launcher, "def f():\n    return 1\n") == 1


def process_tree(pid: int) -> list[int]:
    """A process and all below it that have not ended."""
    try:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return []
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(below for child in children for below in process_tree(int(child)))]


# --- the graphics card ------------------------------------------------------------------------------------------------


def test_a_gpu_is_not_isolated_and_that_is_said(monkeypatch):
    """Required isolation and --device cuda do not go together; "auto" is the CPU then."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert session._device_for("auto", "torch", "required") == "cpu"
    assert session._device_for("auto", "torch", "process") == "cuda"
    with pytest.raises(IsolationError, match="On a GPU") as caught:
        session._device_for("cuda", "torch", "required")
    assert "--isolation process" in caught.value.next_step
