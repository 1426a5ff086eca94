"""Workers and their parents: started, limited, ended, with nothing left behind."""

from __future__ import annotations

import dataclasses
import math
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from support.course_files import ROOT
from support.factories import course

from grader.errors import IsolationError, WorkerCrashed, WorkerTimeout
from grader.judge import session
from grader.judge.errors import LearnerError
from grader.judge.processes.connection import Worker
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import start_launcher
from grader.judge.processes.remote_module import LocalModule, RemoteModule
from grader.judge.values.compare import same
from grader.judge.values.random_inputs import Rand
from grader.worker import fork_server, warm_up
from grader.worker.models.factories import make
from grader.worker.operations import ModuleHost, describe_error
from grader.worker.preload import configure_torch
from grader.worker.process_state import is_unchanged, read_process_state

LIMITS = dataclasses.replace(course().limits, call_seconds=20.0)


def loaded(launcher, source: str, forbids: list[str] | None = None):
    """A worker with `source` loaded as module `work`."""
    worker = launcher.lease()
    reply = worker.request(
        "load",
        name="work",
        path="work.py",
        source=source,
        siblings={},
        forbids=forbids or [],
        names=["f", "C"],
        device="cpu",
        shared=False,
    )
    assert "error" not in reply, reply
    return worker


@pytest.fixture(scope="module", params=["forked", "spawned"])
def any_launcher(request, launcher_with):
    """Workers made by fork, and by exec as on platforms without a safe fork."""
    with launcher_with(LIMITS, spawn=request.param == "spawned") as launcher:
        yield launcher


def test_warming_up_answers_every_call_and_leaves_the_process_as_it_was(monkeypatch):
    """What a waiting worker runs first raises nothing, and no later lesson could tell that it ran."""
    replies, perform = [], ModuleHost.perform
    monkeypatch.setattr(ModuleHost, "perform", lambda self, request: replies.append(perform(self, request)))
    before = read_process_state()
    warm_up.warm_up(("softmax", "layer_norm"))
    after = read_process_state()
    before["threads"] = min(before["threads"], after["threads"])  # one that another test has left may end meanwhile
    assert is_unchanged(before, after)
    assert [next(iter(reply)) for reply in replies] == ["handle", "value", "value", "value"], replies


def test_a_warm_worker_draws_the_numbers_of_a_cold_one(launcher_with):
    """What ran before a lesson is loaded takes nothing from its random generators."""
    drawn = []
    for warm_for in (None, ("softmax",)):
        with launcher_with(LIMITS) as launcher:
            launcher.warm_for = warm_for
            worker = loaded(launcher, "import numpy, torch\ndef f():\n    return torch.rand(3), numpy.random.rand()\n")
            drawn.append(worker.request("call", target="f", args=[], kwargs={})["value"])
            worker.close()
    assert same(*drawn)


both_kinds_of_worker = pytest.mark.parametrize(
    "any_launcher", ["forked", pytest.param("spawned", marks=pytest.mark.slow)], indirect=True
)


def test_both_kinds_of_worker_answer_alike(any_launcher):
    """A call, its gradients and a change of its argument look the same however the worker was made."""
    worker = loaded(any_launcher, "def f(x, *, scale=2.0):\n    y = x * scale\n    return y\n")
    subject = RemoteModule(worker, {"f": "function"})
    x, weights = torch.randn(2, 3), torch.randn(2, 3)

    observed = subject.f.observe(x, scale=3.0)
    gradients = subject.f.gradients(x, wrt=[0], weights=weights)
    worker.close()

    assert torch.equal(observed.value, x * 3) and torch.equal(observed.args[0], x)
    assert torch.allclose(gradients["argument 0"], 2 * weights)


@both_kinds_of_worker
@pytest.mark.parametrize("forbids", [[], ["softmax"]], ids=["free", "forbidding"])
def test_streams_can_be_set_up_for_utf8(any_launcher, forbids):
    """A file may give the streams another encoding, or make them anew; what it prints comes in order."""
    source = """
import io, sys
sys.stdout.reconfigure(encoding="utf-8")
sys.stderr.reconfigure(encoding="utf-8", errors="replace")
print("\u2713 1", flush=True)
print("\u2717 2", file=sys.stderr)
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
print("\u2713 3", flush=True)
def f():
    print("\u2713 4")
"""
    worker = loaded(any_launcher, source, forbids)
    RemoteModule(worker, {"f": "function"}).f()
    output = worker.take_output()
    worker.close()

    assert output == "\u2713 1\n\u2717 2\n\u2713 3\n\u2713 4\n"


def test_a_traceback_of_crashes_can_be_asked_for(launcher):
    """`faulthandler.enable()` does no harm where no handler of a signal can be set."""
    loaded(launcher, "import faulthandler, sys\nfaulthandler.enable(sys.stderr)\n", ["softmax"]).close()


@both_kinds_of_worker
def test_deterministic_algorithms_can_be_asked_for(any_launcher):
    """torch's switch for them works, though its own function looks for a folder that no worker has."""
    source = "import torch\ntorch.use_deterministic_algorithms(True, warn_only=True)\n\ndef f():\n    " + (
        "return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()\n"
    )
    worker = loaded(any_launcher, source)
    found = RemoteModule(worker, {"f": "function"}).f()
    worker.close()

    assert found == (True, True)


@both_kinds_of_worker
def test_a_number_of_numpy_that_is_a_float_is_one(any_launcher):
    """`np.float64` is a subclass of Python's float, and comes as that; `np.float32` is not, and stays an array."""
    worker = loaded(any_launcher, "import numpy as np\n\ndef f():\n    return np.float64(0.5), np.float32(0.5)\n")
    double, single = RemoteModule(worker, {"f": "function"}).f()
    worker.close()

    assert type(double) is float and double == 0.5
    assert isinstance(single, np.ndarray) and single.dtype == np.float32


@both_kinds_of_worker
def test_a_value_can_be_read_after_the_next_call(any_launcher):
    """A buffer that is given back each time holds by then what the next call wrote; a new tensor stays as it was."""
    source = "import torch\nkept = torch.zeros(2)\n\ndef f(x, new):\n    return x + 0 if new else kept.copy_(x)\n"
    worker = loaded(any_launcher, source)
    subject = RemoteModule(worker, {"f": "function"})
    one, two = torch.ones(2), torch.full((2,), 2.0)

    new, kept = (subject.f.before_call([two, is_new], one, is_new) for is_new in (True, False))
    worker.close()

    assert torch.equal(new, one) and torch.equal(kept, two)


@both_kinds_of_worker
def test_gradients_reach_what_is_inside_of_an_argument(any_launcher):
    """An entry of a pair is a place of its own: what is cut off on the way has no gradient."""
    worker = loaded(any_launcher, "def f(x, pair):\n    return x * pair[0] + pair[1].detach()\n")
    subject = RemoteModule(worker, {"f": "function"})
    x, scale, shift, weights = torch.randn(4, 3)

    gradients = subject.f.gradients(x, (scale, shift), wrt=[0, (1, 0), (1, 1)], weights=weights)
    worker.close()

    assert torch.allclose(gradients["argument 0"], scale * weights)
    assert torch.allclose(gradients["argument 1[0]"], x * weights) and gradients["argument 1[1]"] is None


@both_kinds_of_worker
def test_a_worker_that_does_not_answer_is_killed(any_launcher):
    """After its deadline a call ends in WorkerTimeout, and the process is gone."""
    worker = loaded(
        any_launcher,
        "import signal\ndef f():\n    try: signal.signal(15, signal.SIG_IGN)\n    except OSError: pass\n"
        "    while True: pass\n",
    )
    with pytest.raises(WorkerTimeout):
        worker.request("call", 0.3, target="f", args=[], kwargs={})
    pid = worker.pid
    worker.close()

    assert_gone(pid)


BUSY = (
    "import time\ndef f(seconds):\n    end = time.thread_time() + seconds\n    while time.thread_time() < end: pass\n"
)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="needs a Linux that counts waits for a processor")
def test_time_without_a_processor_is_not_the_calls_own(launcher):
    """On a processor shared with three others, a call within its limit is answered; one that runs on is not."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        worker = loaded(launcher, BUSY)
        os.sched_setaffinity(int(host_pid(worker)), {min(cores)})
        assert worker.request("call", 0.6, target="f", args=[0.4], kwargs={})["value"] is None
        with pytest.raises(WorkerTimeout):
            worker.request("call", 0.6, target="f", args=[60.0], kwargs={})
        worker.close()
    finally:
        os.sched_setaffinity(0, cores)
        for other in others:
            other.kill()
            other.wait()


def host_pid(worker: Worker) -> str:
    """The number of a worker's process, as this process sees it."""
    lines = Path(f"/proc/self/fdinfo/{worker.pidfd}").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Pid:"))


def assert_gone(pid: int) -> None:
    """The process ends soon (a zombie has ended)."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            state = (ROOT / f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return
        if state in "ZX":
            return
        time.sleep(0.02)
    raise AssertionError(f"process {pid} lives")


def test_a_dead_worker_stays_dead(launcher):
    """Asking a worker that was ended raises at once."""
    worker = loaded(launcher, "def f():\n    return 1\n")
    worker.kill()

    with pytest.raises(WorkerCrashed):
        worker.request("call", target="f", args=[], kwargs={})
    worker.close()


def test_the_exit_status_is_told(launcher):
    """A process that ends itself is reported with its status, one that dies of a signal with its name."""
    endings = {"os._exit(7)": "exit status 7", "os.abort()": "SIGABRT", "os.kill(os.getpid(), 41)": "real-time signal"}
    for code, words in endings.items():
        worker = loaded(launcher, f"import os\ndef f():\n    {code}\n")
        with pytest.raises(WorkerCrashed, match=words):
            worker.request("call", target="f", args=[], kwargs={})
        worker.close()


@pytest.mark.parametrize(
    "forgery",
    [
        "os.write(3, b'\\0' * 64)",
        "os.write(3, b'x' * 100000)",
        "sock.sendall(b'\\0\\0\\0\\2' + b'\\0' * 8 + b'{}')",
        "sock.sendall(b'\\xff' * 12)",
        "os.close(3)",
    ],
)
def test_forged_frames_are_crashes(launcher, forgery):
    """Whatever a submission writes on the line itself is a crash of its own, never an answer."""
    worker = loaded(
        launcher,
        "import os, socket\n"
        "def f():\n"
        "    sock = socket.socket(fileno=os.dup(3))\n"
        f"    {forgery}\n"
        "    os._exit(0)\n",
    )  # fmt: skip
    with pytest.raises((WorkerCrashed, WorkerTimeout)):
        worker.request("call", 2.0, target="f", args=[], kwargs={})
    assert not worker.alive
    worker.close()


def test_a_forged_reply_of_the_right_form_is_still_only_data(launcher):
    """A submission that writes a reply has given an answer, and what is malformed in it makes it none."""
    worker = loaded(
        launcher,
        "import os, socket, sys\n"
        "def f(x):\n"
        "    frame = sys._getframe()\n"
        "    while 'wire' not in frame.f_globals:\n"
        "        frame = frame.f_back\n"
        "    wire = frame.f_globals['wire']\n"
        "    sock = socket.socket(fileno=os.dup(3))\n"
        "    wire.send(sock, {'id': 2, 'value': 'passed', 'after': 7})\n"
        "    os._exit(0)\n",
    )  # fmt: skip
    with pytest.raises(LearnerError) as caught:
        RemoteModule(worker, {"f": "function"}).f.observe(torch.ones(2))
    worker.close()

    assert caught.value.kind in ("crashed", "raised")


def test_what_is_printed_is_capped(launcher_with):
    """A flood of output ends the worker; what was printed before is kept."""
    with launcher_with(dataclasses.replace(LIMITS, output_kb=64)) as launcher:
        worker = loaded(launcher, "def f():\n    print('first')\n    while True: print('x' * 1000)\n")
        with pytest.raises(WorkerCrashed, match="64 kB"):
            worker.request("call", target="f", args=[], kwargs={})
        output = worker.take_output()
        worker.close()

    assert output.startswith("first\n") and len(output) <= 64 << 10


def test_a_flood_between_two_calls_ends_the_worker(launcher_with):
    """What a thread prints after the answer came counts too: the next request says so, and nothing is raised before.

    Without seccomp: elsewhere no worker starts a thread.
    """
    with launcher_with(dataclasses.replace(LIMITS, output_kb=64), without=("seccomp",)) as launcher:
        worker = loaded(
            launcher,
            "import os, threading, time\n"
            "def flood():\n    time.sleep(0.2)\n    while True: os.write(1, b'x' * 60000)\n"
            "def f():\n    threading.Thread(target=flood, daemon=True).start()\n",
        )
        worker.request("call", target="f", args=[], kwargs={})
        deadline = time.monotonic() + 60
        while worker.alive and time.monotonic() < deadline:
            assert worker.take_output() is not None
        with pytest.raises(WorkerCrashed):
            worker.request("call", target="f", args=[], kwargs={})
        worker.close()


def test_of_what_is_printed_not_all_is_kept(launcher_with):
    """A lesson may print more than anybody reads: the beginning is kept, and it is said that there was more."""
    with launcher_with(dataclasses.replace(LIMITS, output_kb=1024)) as launcher:
        worker = loaded(launcher, "def f():\n    print('first' + 'x' * 500_000)\n")
        worker.request("call", target="f", args=[], kwargs={})
        output = worker.take_output()
        worker.close()

    assert output.startswith("firstxxx") and output.endswith("[more was printed than is kept]\n")
    assert len(output) < 70_000


def test_a_lesson_has_an_end(launcher):
    """After the time for all calls no call is waited for, however patient each is."""
    worker = loaded(launcher, "import time\ndef f():\n    time.sleep(60)\n")
    worker.until = time.monotonic() + 0.3
    with pytest.raises(WorkerTimeout, match="used up"):
        worker.request("call", 30.0, target="f", args=[], kwargs={})
    worker.close()


def test_a_long_source_arrives_whole(launcher):
    """A file of a megabyte, of signs that JSON writes six times as long, is loaded to its last line."""
    worker = loaded(launcher, f"text = '{chr(1) * 900_000}'\ndef f():\n    return len(text)\n")
    length = RemoteModule(worker, {"f": "function"}).f()
    worker.close()

    assert length == 900_000


def test_an_answer_that_is_too_large_is_an_error_of_the_learners(launcher):
    """A view of more values than there is memory for, and a list of a million, come back as what they are.

    So does what has no values, and more places for them than would fit.
    """
    worker = loaded(
        launcher,
        "import numpy\nimport torch\nvalues = [0.0] * 1_000_000, torch.zeros(1).expand(100_000, 100_000), "
        "torch.empty(3_000_000, 3_000_000, 0), numpy.empty((0, 3_000_000, 3_000_000)), torch.empty(20, 0)\n"
        "def f(number):\n    return values[number]\n",
    )
    subject = RemoteModule(worker, {"f": "function"})
    with pytest.raises(LearnerError, match="too many values"):
        subject.f(0)
    large, small = [subject.f(number) for number in (1, 2, 3)], subject.f(4)
    worker.close()

    assert all("too large to be sent" in value.type_name for value in large) and small.shape == (20, 0)


@pytest.mark.parametrize("made", ["torch.zeros([1] * 17)", "torch.zeros([1] * 64)", "np.zeros([1] * 33)"])
def test_an_answer_of_too_many_axes_is_an_answer(launcher, made):
    """An array of more axes than can be sent comes back as what it is, and its process goes on."""
    worker = loaded(launcher, f"import torch, numpy as np\ndef f():\n    return {made}\n")
    subject = RemoteModule(worker, {"f": "function"})
    first, second = subject.f(), subject.f()
    worker.close()

    assert "(1, 1, 1" in first.type_name and first == second


def test_the_parent_waits_for_a_process_to_be_had(monkeypatch):
    """A machine that has none to give for a moment is asked again; one that has none at all is told of."""
    answers = [0, 0, 7]

    def fork() -> int:
        pid = answers.pop(0) if answers else 0
        if not pid:
            raise OSError(11, "no process")
        return pid

    monkeypatch.setattr(os, "fork", fork)
    assert fork_server._fork() == 7
    monkeypatch.setattr(fork_server, "FORK_SECONDS", 0.05)
    with pytest.raises(OSError, match="no process"):
        fork_server._fork()


def test_the_fork_server_and_its_workers_die_with_the_judge():
    """kill -9 of the judge leaves neither the warm parent nor a looping worker behind."""
    script = (
        "import sys; sys.path[:0] = ['tests', 'tests/worker', '.']\n"
        "from conftest import _launcher\n"
        "from test_worker import LIMITS, loaded\n"
        "import threading, time\n"
        "with _launcher(LIMITS) as launcher:\n"
        "    worker = loaded(launcher, 'def f():\\n    while True: pass\\n')\n"
        "    call = dict(target='f', args=[], kwargs={})\n"
        "    threading.Thread(target=worker.request, args=('call', 60.0), kwargs=call, daemon=True).start()\n"
        "    print(launcher.process.pid, worker.pid, flush=True)\n"
        "    time.sleep(60)\n"
    )
    judge = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        server, worker = map(int, judge.stdout.readline().split())
        time.sleep(0.3)
    finally:
        judge.send_signal(signal.SIGKILL)
        judge.wait(60)
        judge.stdout.close()

    assert_gone(worker)
    assert_gone(server)


@pytest.mark.parametrize("spawn", [False, True])
def test_closing_the_launcher_leaves_no_process(launcher_with, spawn):
    """After `close`, the parent and all workers, used or waiting, are gone."""
    with launcher_with(LIMITS, "numpy", spawn=spawn) as launcher:
        workers = [loaded(launcher, "def f():\n    return 1\n") for _ in range(3)]
        pids = [worker.pid for worker in workers] + ([] if spawn else [launcher.process.pid])
        for worker in workers[:2]:
            worker.close()

    for pid in pids:
        assert_gone(pid)
    workers[2].close()


def test_a_worker_sees_nothing_of_ours(launcher):
    """No environment, no arguments, no path into the checkout, no open descriptor but its four."""
    worker = loaded(
        launcher,
        "import os, sys\n"
        "def f():\n"
        "    fds = sorted(int(fd) for fd in range(64) if _open(fd))\n"
        "    return [dict(os.environ), sys.argv, [p for p in sys.path if 'site-packages' not in p], fds]\n"
        "def _open(fd):\n"
        "    try:\n"
        "        os.fstat(fd)\n"
        "        return True\n"
        "    except OSError:\n"
        "        return False\n",
    )  # fmt: skip
    environment, argv, paths, descriptors = RemoteModule(worker, {"f": "function"}).f()
    worker.close()

    assert environment == {} and argv == [""]
    assert str(ROOT) not in paths
    assert descriptors == [0, 1, 2, 3]


@pytest.mark.parametrize("end", ["\f", "\v", "\x1c", "\x85", "\u2028"])
def test_an_error_shows_its_line_whatever_a_text_holds(launcher, end):
    """Only Python's own ends of lines count: others may stand in a text, and the line of an error was not shown."""
    worker = loaded(launcher, f"TEXT = 'a{end}b'\n\ndef f():\n    return 1 / 0\n")
    error = worker.request("call", target="f", args=[], kwargs={})["error"]
    worker.close()

    assert error["frames"][-1][1:] == [4, "f", "return 1 / 0"]


def test_objects_stay_with_their_maker(launcher):
    """A class is built, loaded with weights, called and differentiated by handle, as the reference is."""
    source = (
        "import torch\n"
        "class C(torch.nn.Module):\n"
        "    def __init__(self, width):\n"
        "        super().__init__()\n"
        "        self.inner = torch.nn.Linear(width, width)\n"
        "    def forward(self, x, *, twice=False):\n"
        "        return self.inner(self.inner(x)) if twice else self.inner(x)\n"
    )
    namespace: dict = {}
    exec(source, namespace)
    rand = Rand(3)
    state = {"inner.weight": rand(4, 4), "inner.bias": rand(4)}
    x, weights = rand(2, 4), rand(2, 4)
    worker = loaded(launcher, source)
    results = []
    for subject in (RemoteModule(worker, {"C": "class"}), LocalModule(namespace, {"C": "class"})):
        made = subject.C(4, state=state)
        gradients = made.gradients(x, wrt=[0], weights=weights, twice=True)
        results.append((made(x, twice=True), gradients, made.eval().state()["training"], made.missing))
    worker.close()

    (remote_value, remote_gradients, *remote_rest), (value, gradients, *rest) = results
    assert torch.allclose(remote_value, value) and remote_rest == rest == [False, []]
    assert remote_gradients.keys() == gradients.keys() == {"argument 0", "inner.weight", "inner.bias"}
    assert all(torch.allclose(remote_gradients[name], gradients[name]) for name in gradients)


def test_a_missing_name_in_the_state_is_told(launcher):
    """Weights that have no place, and places without weights, are named."""
    worker = loaded(launcher, "import torch\nclass C(torch.nn.Linear):\n    pass\n")
    made = RemoteModule(worker, {"C": "class"}).C(3, 3, state={"weight": torch.ones(3, 3), "extra": torch.ones(1)})
    worker.close()

    assert (made.missing, made.unexpected) == (["bias"], ["extra"])


def test_a_described_model_gives_the_weights_of_its_heads(launcher):
    """With `heads` a model gives causal attention weights of each layer and head beside its features."""
    worker = loaded(launcher, "def f(model, ids):\n    return model(ids)\n")
    subject, table = RemoteModule(worker, {"f": "function"}), torch.zeros(3, 12)
    table[:2, 2:4] = 9.0  # of layer 0, head 1: tokens 0 and 1 look alike, and at each other
    model = subject.make_model([["embedding", 3, 12]], {"layers.0.weight": table}, heads=(2, 3))
    features, weights = subject.f(model, torch.tensor([[2, 0, 1, 2]]))
    worker.close()

    assert features.shape == (1, 4, 12) and weights.shape == (2, 1, 3, 4, 4)
    assert torch.equal(weights, weights.tril()) and torch.allclose(weights.sum(-1), torch.ones(()))
    assert torch.allclose(weights[0, 0, 1, 2], torch.tensor([0.0, 0.5, 0.5, 0.0]))
    assert torch.allclose(weights[1, 0, 0, 3], torch.full((4,), 0.25))


def test_described_models_log_what_is_done_to_them(launcher):
    """A model and an optimizer sent by description are trained there; steps are logged with the gradients at the step,
    also when the optimizer is given a closure."""
    worker = loaded(
        launcher,
        "import torch\n"
        "def f(model, optimizer, x):\n"
        "    def closure():\n"
        "        optimizer.zero_grad()\n"
        "        loss = model(x).square().sum()\n"
        "        loss.backward()\n"
        "        return loss\n"
        "    return float(optimizer.step(closure).detach())\n",
    )  # fmt: skip
    subject = RemoteModule(worker, {"f": "function"})
    model = subject.make_model(
        [["linear", 3, 1]], {"layers.0.weight": torch.ones(1, 3), "layers.0.bias": torch.zeros(1)}
    )
    optimizer = subject.make_optimizer(model, "sgd", lr=0.01)

    loss = subject.f(model, optimizer, torch.ones(1, 3))
    events, after = subject.events(), model.state()["state"]
    pick = subject.make_model([["fading_sum"], ["argmax"]], {})
    picked = pick(torch.tensor([[[1.0, 0.0], [0.0, 0.8], [0.0, 0.0]]]))
    worker.close()

    assert picked.tolist() == [[0, 0, 0]]  # 0.9 of the first token outweighs the second
    assert loss == pytest.approx(9.0)
    steps = [event for event in events if event[0] == "step"]
    assert len(steps) == 1 and ("zero_grad",) in events
    assert torch.equal(steps[0][1]["layers.0.weight"], torch.full((1, 3), 6.0))
    assert torch.allclose(after["layers.0.weight"], torch.full((1, 3), 0.94))


@pytest.mark.parametrize(
    "body, trouble",
    [
        ("return x + torch.ones(3)", "same device"),
        ("return x + torch.ones(3, device='cpu')", "same device"),
        ("return x + torch.ones(3, device=x.device)", ""),
        ("return x * 2 if x.sum() > 0 else x", ""),
        ("return x.new_zeros(2, 3) + x", ""),
        ("return x + torch.tensor([1.0, 2.0, 3.0], device=x.device)", ""),
        ("return x + x.new_tensor([1.0, 2.0, 3.0])", ""),
        ("return x + torch.tensor([1.0, 2.0, 3.0])", "same device"),
        ("return torch.where(x > 0, x, torch.tensor(0.5, device=x.device))", ""),
        ("return torch.where(x > 0, x, torch.tensor(0.5))", ""),
        ("return x, [2 * x, 3]", ""),
        ("return x, torch.zeros(2, 3)", "wrong"),
    ],
)
def test_a_device_that_is_not_there_shows_who_names_one(launcher, body, trouble):
    """Tensors made without saying where fail elsewhere; code that reads values or follows its input does not."""
    worker = loaded(launcher, f"import torch\ndef f(x):\n    {body}\n")
    subject = RemoteModule(worker, {"f": "function"})
    x = torch.randn(2, 3)
    try:
        value, there = subject.f.on_fake_device(x)
        text = "" if there and same(value, subject.f(x), 0.0) else "wrong"
    except LearnerError as error:
        text = error.text
    worker.close()

    assert (trouble in text) if trouble else text == ""


def test_slices_are_equal_arrays_whose_memory_has_gaps(launcher):
    """`on_slices` gives every tensor, in lists too, as it is, but so that `view` can join no two of its axes."""
    body = "[each.is_contiguous() for each in xs], x.sum(), xs[0].reshape(-1)"
    worker = loaded(launcher, f"import torch\ndef f(x, xs):\n    return {body}\n")
    subject = RemoteModule(worker, {"f": "function"})
    x = torch.arange(6).view(2, 3)

    contiguous, total, flat = subject.f.on_slices(x, [x, x > 2])

    assert (contiguous, total.item(), flat.tolist()) == ([False, False], 15, list(range(6)))
    worker.close()


def test_methods_and_attributes_of_an_object_are_asked_by_name(launcher):
    """A method is called, an attribute and a property are read, and what is not there raises."""
    code = "class C:\n n = 3\n p = property(lambda self: [self.n])\n def add(self, k): self.n += k\n"
    worker = loaded(launcher, code)
    made = RemoteModule(worker, {"C": "class"}).C()

    assert (made.attribute("n"), made.method("add")(k=4), made.attribute("p")) == (3, None, [7])
    for ask in (made.method("none"), lambda: made.attribute("none")):
        with pytest.raises(LearnerError, match="none"):
            ask()
    worker.close()


def test_a_worker_finds_no_module_that_only_lies_beside_the_standard_library(launcher):
    """Python's own tests are none of it; how it was built is, though its name is of this machine."""
    worker = loaded(
        launcher,
        "import importlib, sysconfig\n"
        "def f(names):\n"
        "    return [importlib.util.find_spec(name) is not None for name in names]\n"
        "def built():\n"
        "    return len(sysconfig.get_config_vars())\n",
    )  # fmt: skip
    module = RemoteModule(worker, {"f": "function", "built": "function"})
    found, built = module.f(["test", "pip", "wave", "numpy"]), module.built()
    worker.close()

    assert found == [False, False, True, True]
    assert built > 100


def test_making_an_optimizer_does_not_import_the_compiler(launcher):
    """A first optimizer and its step cost milliseconds: torch's compiler stays out."""
    worker = loaded(
        launcher,
        "import sys, torch\n"
        "def f():\n"
        "    weight = torch.nn.Parameter(torch.ones(2))\n"
        "    optimizer = torch.optim.AdamW([weight], lr=0.1)\n"
        "    weight.sum().backward()\n"
        "    optimizer.step()\n"
        "    return ['torch._inductor' in sys.modules, weight.tolist()]\n",
    )  # fmt: skip
    compiled, weight = RemoteModule(worker, {"f": "function"}).f()
    worker.close()

    assert not compiled
    assert weight == pytest.approx([0.899, 0.899], abs=1e-3)


FUNCTIONAL = {  # each gives 3 x², for what it takes the place of z³
    "func.grad": "torch.func.grad(lambda z: CALLED(z).sum())(x)",
    "func.vjp": "torch.func.vjp(lambda z: CALLED(z).sum(), x)[1](torch.tensor(1.0))[0]",
    "func.jvp": "torch.func.jvp(CALLED, (x,), (torch.ones(3),))[1]",
    "func.jacfwd": "torch.func.jacfwd(lambda z: CALLED(z).sum())(x)",
    "func.hessian": "torch.func.hessian(lambda z: (CALLED(z) * z).sum())(x).diagonal() / 4",
    "vmap of grad": "torch.vmap(torch.func.grad(CALLED))(x)",
    "checkpoint": "taken(checkpoint(CALLED, x := x.requires_grad_(), use_reentrant=False), x)",
    "reentrant": "taken(checkpoint(CALLED, x := x.requires_grad_(), use_reentrant=True), x)",
}


SLOWLY = ("func.vjp", "func.hessian", "reentrant")  # what weights a gradient imports sympy first


@pytest.mark.parametrize("forbids", [[], ["softmax"]], ids=["free", "forbidding"])
@pytest.mark.parametrize(
    "case",
    [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOWLY)) for each in FUNCTIONAL],
)
def test_functional_torch_answers_and_hides_nothing(launcher, case, forbids):
    """`torch.func` and checkpoints work in every lesson; what is forbidden is seen through each of them."""
    source = (
        "import torch\nfrom torch.utils.checkpoint import checkpoint\n"
        "def taken(y, x):\n    y.sum().backward()\n    return x.grad\n"
        "def f(x):\n    return " + FUNCTIONAL[case].replace("CALLED", "(lambda z: z**3)") + "\n"
        "def C(x):\n    return " + FUNCTIONAL[case].replace("CALLED", "(lambda z: z**3 * torch.softmax(z, -1))") + "\n"
    )
    worker = loaded(launcher, source, forbids)
    module = RemoteModule(worker, {"f": "function", "C": "function"})
    answer = module.f(torch.arange(3.0))
    if forbids:
        with pytest.raises(LearnerError, match="softmax"):
            module.C(torch.arange(3.0))
    worker.close()

    assert torch.allclose(answer, 3 * torch.arange(3.0) ** 2)


def test_a_profiler_sees_the_steps_of_an_optimizer(launcher_with):
    """What marks a step for torch's profiler, left out where none runs, is there where a learner can start one."""
    code = (
        "import torch\n"
        "def f():\n"
        "    weight = torch.nn.Parameter(torch.ones(2))\n"
        "    optimizer = torch.optim.SGD([weight], lr=0.1)\n"
        "    weight.sum().backward()\n"
        "    optimizer.step()\n"
        "    with torch.autograd.profiler.profile() as seen:\n"
        "        optimizer.step()\n"
        "    return [event.name for event in seen.function_events], weight.tolist()\n"
    )
    with launcher_with(LIMITS, without=("seccomp",)) as launcher:  # it starts a thread
        worker = loaded(launcher, code)
        names, weight = RemoteModule(worker, {"f": "function"}).f()
        worker.close()

    assert sum("step" in name for name in names) == 1
    assert weight == pytest.approx([0.8, 0.8])


def test_an_optimizer_that_was_used_steps_on_when_torch_is_configured_again():
    """Each judge of a process configures torch; L-BFGS knows nothing of what torch's other optimizers are told."""
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.LBFGS([weight])
    configure_torch()

    def loss():
        optimizer.zero_grad()
        distance = (weight**2).sum()
        distance.backward()
        return distance

    optimizer.step(loss)
    assert weight.tolist() == pytest.approx([0, 0], abs=1e-3)


def test_a_worker_that_cannot_be_protected_is_our_fault():
    """A layer that fails stops the worker before any learner's code, as a grader error and not as a crash."""
    policy = policy_for(course(), "cpu") | {"readable": ["x" * 5000]}
    launcher = start_launcher("torch", policy, LIMITS)
    try:
        with pytest.raises(IsolationError):
            loaded(launcher, "def f():\n    return 1\n")
    finally:
        launcher.close()


@pytest.mark.gpu
@pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device: run `pytest -m gpu` on a machine with one"
)
def test_a_worker_runs_on_the_gpu():
    """The same calls with the device set to cuda run there and give the same values."""
    with session.with_workers(course(), "cuda") as (launcher, _):
        worker = loaded(launcher, "def f(x):\n    assert x.is_cuda\n    return x * 2\n")
        observed = RemoteModule(worker, {"f": "function"}, device="cuda").f.observe(torch.ones(3))
        worker.close()

    assert observed.devices == ("cuda",)
    assert torch.equal(observed.value, torch.full((3,), 2.0))


@both_kinds_of_worker
def test_what_is_told_of_a_training_is_shown_and_is_no_output(any_launcher):
    """A learner can print such a line as well: it moves the bar, and nothing else comes of it."""
    worker = loaded(
        any_launcher, "def f(report):\n    for loss in (3.5, 2.5):\n        report(loss)\n    print('hello')\n"
    )
    told, subject = [], RemoteModule(worker, {"f": "function"})
    worker.on_progress = lambda *step: told.append(step)
    subject.f(subject.make_report(2))
    events, printed = subject.events(), worker.take_output()
    worker.close()

    assert told == [(1, 2, 3.5), (2, 2, 2.5)] and printed == "hello\n"
    assert events == [("report", 3.5), ("report", 2.5)]

    liar = loaded(any_launcher, "def f():\n    print('\\x1e7 9 0.1234\\n\\x1e1 x\\nhello')\n")
    liar.on_progress = lambda *step: told.append(step)
    RemoteModule(liar, {"f": "function"}).f()
    printed = liar.take_output()
    liar.close()

    assert told[2:] == [(7, 9, 0.1234)] and printed == "\x1e1 x\nhello\n"


def test_a_reported_loss_may_be_a_tensor_that_has_gradients():
    """What the report makes of it is no warning of the learner's."""
    log = []
    report = make({"kind": "report", "total": 2}, log)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report(torch.tensor(1.5, requires_grad=True))
        report(0.5)
    assert log == [("report", 1.5), ("report", 0.5)]


def test_a_report_that_knows_the_model_tells_how_far_it_moved():
    """By the largest root mean square of a change to a parameter since the last report."""
    log, model = [], torch.nn.Linear(2, 1)
    report = make({"kind": "report", "total": 2, "module": model}, log)
    with torch.no_grad():
        model.bias.add_(0.5)
        report(1.0)
        model.weight.add_(torch.tensor([[3.0, 4.0]]))
        report(1.0)
        report(1.0)
    model.bias = torch.nn.Parameter(torch.zeros(2))
    report(1.0)

    moves = [event[1] for event in log if event[0] == "moved"]
    assert moves == pytest.approx([0.5, 12.5**0.5, 0.0, math.inf])


class Decoy(torch.nn.Linear):
    """Shows others than it has."""

    def parameters(self, recurse=True):
        return iter([torch.nn.Parameter(torch.randn(1))])


def test_no_method_of_a_model_says_what_its_parameters_are():
    """They are read where torch keeps them."""
    log = []
    make({"kind": "report", "total": 1, "module": torch.nn.Sequential(Decoy(2, 1))[0]}, log)(1.0)

    assert log[-1] == ("moved", 0.0)


def test_no_method_of_a_model_runs_it_unseen():
    """What calls its layers, and what writes the log, is no attribute of it."""
    for more in ({}, {"cached": True}, {"heads": [1, 1]}):
        model = make({"kind": "model", "layers": [["linear", 2, 2]], **more}, [])
        own = {name for kind in type(model).__mro__ if kind.__module__ == make.__module__ for name in vars(kind)}

        assert {name for name in own if not name.startswith("_")} <= {"forward", "heads"}


def test_a_model_made_from_a_state_is_of_torchs_own_layers():
    """Whoever tells layers apart by their type sees torch's, and the weights are those of the state to the last one."""
    weights = torch.arange(6.0).view(2, 3)
    made = make({"kind": "model", "layers": [["linear", 3, 2, False]], "state": {"layers.0.weight": weights}}, [])
    assert type(made.layers[0]) is torch.nn.Linear
    assert torch.equal(made.layers[0].weight, weights)


@pytest.mark.parametrize("module", ["builtins", "torch", "numpy", "no_such_module"])
def test_an_error_of_ones_own_is_told_as_such_whatever_it_says_of_itself(module):
    """A class may say that it is from anywhere, and be called as one there."""
    own = type("KeyError", (Exception,), {"__module__": module})

    equal = type("Equal", (type,), {"__eq__": lambda *_: True, "__hash__": type.__hash__})
    likes_all = equal("KeyError", (Exception,), {"__module__": module})

    assert describe_error(own("'x'"), frozenset())["type"] == "KeyError(Exception)"
    assert describe_error(likes_all("'x'"), frozenset())["type"] == "KeyError(Exception)"
    assert describe_error(KeyError("x"), frozenset())["type"] == "KeyError"
