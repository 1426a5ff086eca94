"""The layers round a worker, tried for real: forked children of a process that has imported torch attack their host.

Run as a program, this file is that process: it reads one case a line, forks, applies the policy, runs the case's
code, and answers with what it printed and how it ended.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.repeat import rarely

from grader.worker import isolation
from grader.worker.isolation import drop_privileges, landlock, process, readable_paths, seccomp, syscall_numbers

ROOT = Path(__file__).parents[2]
SECONDS = 60.0  # the most that one case may take, whatever it tries
OTHER_USER = 61234
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
PACKAGES = ("torch", "numpy", "sympy", "mpmath", "typing_extensions", "torchgen", "functorch")
MODES = ("as-is", "another-user", "landlock-1")

root_only = pytest.mark.skipif(
    not drop_privileges.is_root(), reason="needs root, to change its user: run pytest as root"
)


# --- the process that has imported torch -------------------------------------------------------------------------


def serve() -> None:
    """Answers cases until the input ends; ends with 1 if a child of its own is left then."""
    import gc

    import torch
    import torch._dynamo  # the first optimizer imports it, and that wants a folder to write in

    torch.set_num_threads(1)
    torch.backends.cpu.get_cpu_capability()
    isolation.prepare()
    gc.freeze()
    print(json.dumps({"threads": process.thread_count()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(_one_case(json.loads(line))), flush=True)
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return
    raise SystemExit(1)


def _one_case(case: dict[str, Any]) -> dict[str, Any]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _run_case(case, writer)
    os.close(writer)
    output, deadline = b"", time.monotonic() + SECONDS
    while select.select([reader], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(reader, 1 << 16)
        if not part:
            break
        output += part
    os.close(reader)
    in_time = time.monotonic() < deadline
    if not in_time:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return {"output": output.decode(), "status": os.waitstatus_to_exitcode(status), "in_time": in_time}


def _run_case(case: dict[str, Any], writer: int) -> None:
    """In the child; never returns. An error that the code raises is printed by its name, and ends with 1."""
    os.dup2(writer, 1)
    os.dup2(writer, 2)
    os.closerange(3, 65536)
    space: dict[str, Any] = {"Policy": isolation.Policy, "isolation": isolation, "parent": os.getppid()}
    try:
        exec(case["before"], space)
        if case["policy"] is not None:
            given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in case["policy"].items()}
            policy = isolation.Policy(**given)
            space["layers"] = isolation.apply(policy)
        exec(case["code"], space)
        code = 0
    except BaseException as error:
        print(type(error).__name__ if not case["verbose"] else repr(error))
        code = 1
    sys.stdout.flush()
    os._exit(code)


# --- asking it ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a case printed, and how its process ended (the negative number of a signal)."""

    output: str
    status: int


class ForkServer:
    """The running process, and the policy that a case gets unless it says otherwise."""

    def __init__(self) -> None:
        environment = ENVIRONMENT | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.readable = readable_paths.default_readable(PACKAGES, sys.path)
        self.threads = self._answer()["threads"]

    def run(self, code: str, *, before: str = "", apply: bool = True, verbose: bool = False, **policy: Any) -> Outcome:
        wanted = {"memory_bytes": 1 << 30, "cpu_seconds": 10, "readable": self.readable} | policy
        case = {"code": code, "before": before, "policy": wanted if apply else None, "verbose": verbose}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        assert answer["in_time"], f"killed after {SECONDS} s: {answer['output']}"
        return Outcome(answer["output"].strip(), answer["status"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(timeout=SECONDS) == 0

    def kill(self) -> None:
        """Leaves no process and no pipe behind, whatever went wrong."""
        self.process.kill()
        with self.process:
            pass

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], 3 * SECONDS)
        assert ready, "the process that forks does not answer"
        return dict(json.loads(self.process.stdout.readline()))


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    """One for all tests here; skips where the layers that the tests are about cannot be had."""
    missing = {
        layer: why for layer, why in isolation.reasons_unavailable().items() if why and layer != "unprivileged-user"
    }
    if missing:
        pytest.skip(f"needs a Linux kernel with every layer: {missing}")
    running = ForkServer()
    try:
        yield running
        running.close()
    finally:
        running.kill()


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """Code that a case runs before it gives up its rights: who it is, and how old its kernel is."""
    if request.param == "another-user":
        if not drop_privileges.is_root():
            pytest.skip("needs root, to become another user: run pytest as root")
        return f"import os; os.setgroups([]); os.setgid({OTHER_USER}); os.setuid({OTHER_USER})"
    if request.param == "landlock-1":
        return "from grader.worker.isolation import landlock; landlock.abi_version = lambda: 1"
    return ""


def some_in_other_modes(names: Iterable[str]) -> list[tuple[str, str]]:
    """All that a usual run tries as it is, and a quarter of it as another user and with an old Landlock."""
    return [*product(MODES[:1], names), *product(MODES[1:], list(names)[::4])]


# --- what a worker still can do ----------------------------------------------------------------------------------

TRAINING_STEP = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
optimizer = torch.optim.AdamW(model.parameters())
loss = torch.nn.functional.cross_entropy(model(torch.randn(5, 4)), torch.tensor([0, 1, 2, 0, 1]))
loss.backward(); optimizer.step()
layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
layer(torch.randn(2, 5, 16)).sum().backward()
torch.linalg.svd(torch.randn(40, 40)); torch.fft.fft(torch.randn(64))
torch.randn(64, 64).bfloat16() @ torch.ones(64, 64).bfloat16()
print(loss.ndim)
"""

ALLOWED = {
    "training": (TRAINING_STEP, "0"),
    "meta device": ("import torch; print(torch.empty(2, device='meta').device, torch.get_num_threads())", "meta 1"),
    "randomness": ("import os, random; print(len(os.urandom(8)), random.random() < 1)", "8 True"),
    "time": ("import time; time.sleep(0.001); print(time.strftime('%Y') > '2000')", "True"),
    "a terminal's size": ("import shutil, sys; print(sys.stdout.isatty(), shutil.get_terminal_size()[0])", "False 80"),
    "tracebacks": ("import traceback\ntry: 1 / 0\nexcept Exception: print('Zero' in traceback.format_exc())", "True"),
}  # fmt: skip
IMPORTS = {
    "of a submodule": ("import torch.nn.utils.parametrizations as p; print(p.__name__[-3:])", "ons"),
    "of another package": ("import sympy; print(sympy.Integer(2) + 1)", "3"),
    "in Python": ("import colorsys; print(colorsys.rgb_to_hls(0, 0, 0)[0])", "0.0"),
    "with a library": ("import sqlite3; print(sqlite3.connect(':memory:').execute('select 7').fetchone()[0])", "7"),
    "asyncio": ("import asyncio; print(asyncio.sleep.__name__)", "sleep"),
}


@pytest.mark.parametrize(
    ("mode", "name"),
    rarely(product(MODES, ALLOWED), some_in_other_modes(ALLOWED), slow=[("as-is", "training")]),
    indirect=["mode"],
)
def test_ordinary_work_goes_on(fork_server: ForkServer, mode: str, name: str) -> None:
    """A worker trains, draws, sleeps and prints as if it were free."""
    if name == "training":
        skip_where_another_user_cannot_import(mode)  # torch imports a module at the first step of an optimizer
    code, output = ALLOWED[name]
    assert fork_server.run(code, before=mode) == Outcome(output, 0)


def skip_where_another_user_cannot_import(mode: str) -> None:
    """Where a folder on the way to the packages is open to its owner only."""
    shut = drop_privileges.why_unavailable((os.__file__,))
    if "setuid" in mode and shut:
        pytest.skip(f"needs a Python that another user can read, such as one in /usr: {shut}")


@pytest.mark.parametrize("name", IMPORTS)
def test_what_was_allowed_can_still_be_imported(fork_server: ForkServer, mode: str, name: str) -> None:
    """Modules of the standard library and of the named packages import late, whoever the worker is."""
    skip_where_another_user_cannot_import(mode)
    code, output = IMPORTS[name]
    assert fork_server.run(code, before=mode) == Outcome(output, 0)


def test_sockets_that_were_open_still_work(fork_server: ForkServer) -> None:
    """A worker answers over the socket that it was given, in every way Python has to read and write one."""
    outcome = fork_server.run(
        "own = socket.socket(fileno=descriptor); own.settimeout(5)\n"
        "own.sendmsg([b'one', b'two']); own.sendall(b'!'); os.write(own.fileno(), b'?')\n"
        "print(other.recvmsg(99)[0]); other.send(b'back'); print(own.recv_into(bytearray(9)), own.family.name)",
        before="import os, socket; descriptor, other = socket.socketpair(); descriptor = descriptor.detach()",
    )
    assert outcome == Outcome("b'onetwo!?'\n4 AF_UNIX", 0)


@pytest.mark.parametrize(
    ("code", "status"),
    [("import os; os._exit(3)", 3), ("import os; os.kill(os.getpid(), 15)", -15), ("import os; os.abort()", -6)],
)
def test_a_worker_may_end_itself(fork_server: ForkServer, code: str, status: int) -> None:
    """Exit, abort and a signal to oneself end a worker as they end any process."""
    assert fork_server.run(code).status == status


# --- what it cannot do -------------------------------------------------------------------------------------------

# Calls that Python has no function for: x86-64, aarch64.
NUMBERS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "keyctl": (250, 219), "bpf": (321, 280), "shmget": (29, 194),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "unshare": (272, 97),
    "mount": (165, 40), "seccomp": (317, 277), "rt_sigqueueinfo": (129, 138), "setns": (308, 268),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "mlock": (149, 228), "personality": (135, 92),
}  # fmt: skip

# Harmless even where nothing refuses them: signal 0, reading a limit, a file made to be spoiled.
REFUSED = {
    "read /etc/passwd": "open('/etc/passwd')",
    "read its environment": "open('/proc/self/environ')",
    "read the fork server's memory": "open(f'/proc/{parent}/mem', 'rb')",
    "read a package that is not named": "open(pytest_file)",
    "read the grader": "open(isolation.__file__)",
    "list a folder": "os.listdir('/')",
    "write a file": "open(victim + '-2', 'w')",
    "write into a file it may read": "open(victim, 'a')",
    "empty a file it may read": "os.open(victim, os.O_RDONLY | os.O_TRUNC)",
    "make a folder": "os.mkdir(victim + '-3')",
    "remove a file": "os.unlink(victim)",
    "change a file's mode": "os.chmod(victim, 0o777)",
    "change a file's times": "os.utime(victim)",
    "change folder": "os.chdir('/tmp')",
    "take a lock": "import fcntl; fcntl.flock(os.open(victim, os.O_RDONLY), fcntl.LOCK_EX)",
    "open a socket": "socket.socket()",
    "open a local socket": "socket.socket(socket.AF_UNIX)",
    "open a netlink socket": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "pair datagram sockets": "socket.socketpair(type=socket.SOCK_DGRAM)",
    "fork": "os.fork()",
    "vfork and exec": "subprocess.run(['/bin/true'])",
    "a shell": "os.system('true') and refuse()",
    "exec": "os.execv('/bin/true', ['true'])",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "kill its parent": "os.kill(parent, 0)",
    "kill everybody": "os.kill(-1, 0)",
    "kill its group": "os.kill(0, 0)",
    "signal by a descriptor": "os.pidfd_open(parent)",
    "have another signalled": "import fcntl; fcntl.fcntl(1, fcntl.F_SETOWN, parent)",
    "limit its parent": "resource.prlimit(parent, resource.RLIMIT_CPU)",
    "slow its parent down": "os.setpriority(os.PRIO_PROCESS, parent, 19)",
    "pin its parent": "os.sched_setaffinity(parent, {0})",
    "leave its session": "os.setsid()",
    "outlive its parent": "process.prctl(process.PR_SET_PDEATHSIG, 0)",
    "show its memory": "process.prctl(process.PR_SET_DUMPABLE, 1)",
    "change its user": "os.setuid(1)",
    "memory with a descriptor": "os.memfd_create('x')",
    "type into a terminal": "import fcntl; fcntl.ioctl(1, 0x5412, b'x')",
} | {name: f"call({name!r})" for name in NUMBERS}

TOOLS = """
import os, resource, socket, subprocess, sys
import torch
from grader.worker.isolation import process
pytest_file = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), 'pytest', '__init__.py')
def call(name): process.syscall(numbers[name][os.uname().machine == 'aarch64'], 0, 0, 0, 0, 0, 0)
def refuse(): raise PermissionError
"""


@pytest.mark.parametrize(
    ("mode", "name"), rarely(product(MODES, REFUSED), some_in_other_modes(REFUSED)), indirect=["mode"]
)
def test_what_a_worker_has_no_use_for_is_refused(fork_server: ForkServer, mode: str, name: str, tmp_path: Path) -> None:
    """Each attempt ends in an ordinary PermissionError, and the worker goes on."""
    (tmp_path / "victim").write_text("whole")
    tools = f"numbers = {NUMBERS!r}; victim = {str(tmp_path / 'victim')!r}\n{TOOLS}\n{mode}"
    attempt = f"try: {REFUSED[name]}\nexcept PermissionError: print('refused')"
    readable = [*fork_server.readable, str(tmp_path / "victim")]
    assert fork_server.run(attempt, before=tools, verbose=True, readable=readable) == Outcome("refused", 0)


def test_a_file_that_may_be_read_cannot_be_emptied(fork_server: ForkServer, tmp_path: Path) -> None:
    """Opening for reading, or for neither, with O_TRUNC is refused, by old Landlock too."""
    kept = tmp_path / "kept"
    kept.write_text("kept")
    for access in ("os.O_RDONLY", "os.O_ACCMODE"):
        outcome = fork_server.run(
            f"import os; os.open({str(kept)!r}, {access} | os.O_TRUNC)",
            before="from grader.worker.isolation import landlock; landlock.abi_version = lambda: 1",
            readable=[str(kept)],
        )
        assert outcome == Outcome("PermissionError", 1)
    assert kept.read_text() == "kept"


@pytest.mark.skipif(
    os.uname().machine != "x86_64" if hasattr(os, "uname") else True,
    reason="needs an x86-64 machine: it alone has two tables",
)
def test_the_other_table_of_calls_kills(fork_server: ForkServer) -> None:
    """A call by the numbers of x32 ends the process: its meaning is not known to the filter."""
    assert (
        fork_server.run("from grader.worker.isolation import process; process.syscall(0x40000027)").status
        == -signal.SIGSYS
    )


# --- limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import torch; torch.empty(3 << 30, dtype=torch.uint8)", "RuntimeError"),
        ("bytearray(3 << 30)", "MemoryError"),
        ("import mmap; mmap.mmap(-1, 3 << 30, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)", "OSError"),
        ("x = []\nwhile True: x.append(bytearray(64 << 20))", "MemoryError"),
    ],
)
def test_memory_beyond_the_budget_is_an_ordinary_error(fork_server: ForkServer, code: str, error: str) -> None:
    """Tensors, bytes and shared maps fail at the budget, and the worker goes on below it."""
    guarded = (
        "try:\n  exec(code)\nexcept Exception as e: print(type(e).__name__)\nx = None; print(len(bytearray(9 << 20)))"
    )
    outcome = fork_server.run(guarded, before=f"import mmap, torch; code = {code!r}", memory_bytes=256 << 20)
    assert outcome == Outcome(f"{error}\n{9 << 20}", 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "ends_by"),
    [("", signal.SIGXCPU), ("import signal; [signal.signal(n, 1) for n in (2, 15, 24)]", signal.SIGKILL)],
)
def test_an_endless_loop_ends_at_its_limit(fork_server: ForkServer, before: str, ends_by: signal.Signals) -> None:
    """SIGXCPU ends it after its seconds of processor time, SIGKILL a second later if it does not listen."""
    assert fork_server.run("while True: pass", before=before, cpu_seconds=1).status == -ends_by


@pytest.mark.parametrize(
    "code", ["import threading; threading.Thread(target=print).start()", "import signal; signal.signal(14, print)"]
)
def test_no_code_runs_where_nobody_watches(fork_server: ForkServer, code: str) -> None:
    """No thread is started and no handler set: the call monitor would see neither."""
    assert fork_server.run(code).output.strip() in ("RuntimeError", "PermissionError")


def test_files_have_a_size_and_a_number(fork_server: ForkServer, tmp_path: Path) -> None:
    """A file stops growing at its limit, and descriptors run out at theirs."""
    outcome = fork_server.run(
        "import errno, os\n"
        f"big = {str(tmp_path / 'big')!r}; file = open(big, 'wb', buffering=0); file.write(bytes(5000))\n"
        "try: file.write(b'more')\nexcept OSError as e: print(errno.errorcode[e.errno])\n"
        "print(os.stat(big).st_size)\n"
        "try: [os.dup(1) for _ in range(50)]\nexcept OSError as e: print(errno.errorcode[e.errno])",
        layers=["limits"],
        file_bytes=4096,
        open_files=40,
    )
    assert outcome == Outcome("EFBIG\n4096\nEMFILE", 0)


FLOOD = """
import threading
threading.stack_size(64 << 10)
enough, started = threading.Event(), 0
try:
    while started < 5000: threading.Thread(target=enough.wait, daemon=True).start(); started += 1
except RuntimeError: pass
enough.set(); print(started < limits.tasks() + 10)
"""


def test_threads_and_processes_run_out(fork_server: ForkServer) -> None:
    """Without seccomp too, a worker that is not root starts as many threads as its limit lets it, and no more."""
    before = "from grader.worker.isolation import limits\n"
    if drop_privileges.is_root():
        before += f"import os; os.setgid({OTHER_USER}); os.setuid({OTHER_USER})"
    outcome = fork_server.run(FLOOD, before=before, layers=["limits"], processes=8)
    assert outcome == Outcome("True", 0)


def test_limits_are_never_raised(fork_server: ForkServer) -> None:
    """A lower limit that holds already stays."""
    lower = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))"
    assert fork_server.run("print(resource.getrlimit(resource.RLIMIT_NOFILE))", before=lower).output == "(30, 30)"


# --- who the worker is -------------------------------------------------------------------------------------------

RIGHTS = (
    "import os; from grader.worker.isolation import drop_privileges as user; "
    "print(os.getresuid(), os.getgroups(), user.capabilities())"
)


@root_only
def test_root_becomes_the_user_it_is_told(fork_server: ForkServer) -> None:
    """With a uid, a worker of root is that user and group in every respect, and has no capability."""
    outcome = fork_server.run(f"{RIGHTS}\nprint('unprivileged-user' in layers)", uid=OTHER_USER, readable=[])
    assert outcome == Outcome(f"({OTHER_USER}, {OTHER_USER}, {OTHER_USER}) [] (0, 0)\nTrue", 0)


@root_only
def test_root_without_a_uid_loses_its_capabilities(fork_server: ForkServer) -> None:
    """Without a uid, a worker of root stays root in name, and the layer is not reported."""
    outcome = fork_server.run(f"{RIGHTS}\nprint('unprivileged-user' in layers)")
    assert outcome.output.startswith("(0, 0, 0)")
    assert outcome.output.endswith("(0, 0)\nFalse")


@root_only
def test_another_user_that_could_not_read_is_not_become(fork_server: ForkServer, tmp_path: Path) -> None:
    """Where what a worker must read lies in a folder open to root only, the layer is left out and said so."""
    tmp_path.chmod(0o700)
    (tmp_path / "library").write_text("")
    readable = (str(tmp_path / "library"),)
    outcome = fork_server.run(
        f"{RIGHTS}\nprint('unprivileged-user' in layers)", uid=OTHER_USER, readable=list(readable)
    )
    assert outcome.output.startswith("(0, 0, 0)")
    assert outcome.output.endswith("(0, 0)\nFalse")
    assert "open to its owner only" in drop_privileges.why_cannot_switch_to(OTHER_USER, readable)


@pytest.mark.parametrize("uid", [None, pytest.param(OTHER_USER, marks=root_only)])
def test_a_worker_dies_with_its_parent(fork_server: ForkServer, uid: int | None) -> None:
    """When the process that forked it ends, a worker that would sleep for long is gone, also as another user."""
    outcome = fork_server.run(
        "import os, time\nready, alive = os.pipe(), os.pipe()\n"
        "if os.fork() == 0:\n"  # stands for the fork server
        "    isolation.prepare()\n"
        "    if os.fork() == 0:\n"
        f"        isolation.apply(Policy(memory_bytes=None, cpu_seconds=9, uid={uid}))\n"
        "        os.write(ready[1], b'x'); time.sleep(60)\n"
        "    os.read(ready[0], 1); os._exit(0)\n"
        "os.wait(); os.close(alive[1]); print(os.read(alive[0], 1))",  # ends when the last holder of it has gone
        apply=False,
    )
    assert outcome == Outcome("b''", 0)


def test_a_worker_that_came_too_late_does_not_begin(fork_server: ForkServer) -> None:
    """A process whose fork server has died already refuses to be a worker, since nothing would end it."""
    code = "import os\nif os.fork() == 0: isolation.apply(Policy(memory_bytes=None, cpu_seconds=1))\nelse: os.wait()"
    assert fork_server.run(code, apply=False).output == "ProcessLookupError"


# --- openly, or not at all ---------------------------------------------------------------------------------------


def test_all_layers_are_reported_in_force(fork_server: ForkServer) -> None:
    """The layers come back in their order, and nothing that was not asked for is among them."""
    expected = [name for name in isolation.LAYERS if name != "unprivileged-user" or not drop_privileges.is_root()]
    assert fork_server.run("print(*layers)").output.split() == expected
    assert fork_server.run("print(*layers)", layers=["limits"]).output == "limits"


def test_a_layer_that_fails_stops_the_worker(fork_server: ForkServer) -> None:
    """A path that the kernel does not take, and a second thread, are errors rather than less protection."""
    apply = "isolation.apply(Policy(memory_bytes=None, cpu_seconds=1{}))"
    assert fork_server.run(apply.format(", readable=('x' * 5000,)"), apply=False).output == "OSError"
    thread = "import threading; e = threading.Event(); threading.Thread(target=e.wait, daemon=True).start()\n"
    assert "one thread" in fork_server.run(thread + apply.format(""), apply=False, verbose=True).output


def test_a_policy_must_make_sense() -> None:
    """Unknown layers are refused, and so are Landlock and seccomp without what the kernel wants first."""
    with pytest.raises(ValueError, match="no such layer: moat"):
        isolation.Policy(memory_bytes=None, cpu_seconds=1, layers=("moat",))
    with pytest.raises(ValueError, match="cannot be had without"):
        isolation.Policy(memory_bytes=None, cpu_seconds=1, layers=("landlock",))


def test_the_fork_server_has_one_thread(fork_server: ForkServer) -> None:
    """With one thread for linear algebra in its environment, a process that imported torch has a single thread."""
    assert fork_server.threads == 1


def test_layers_that_need_one_another_go_together() -> None:
    """What is left out takes with it what cannot be had without it, and a name that is no layer is an error."""
    assert isolation.with_dependents(["seccomp"]) == {"seccomp"}
    assert isolation.with_dependents(["no-new-privileges"]) == {"no-new-privileges", "landlock", "seccomp"}
    with pytest.raises(ValueError, match="no such layer: moat"):
        isolation.with_dependents(["moat"])


def test_asking_changes_no_rights(fork_server: ForkServer) -> None:
    """After `available` the process that asked reads, opens sockets and starts processes as before."""
    code = "import socket; before = open('/proc/self/status').read().split('Seccomp')[1].split()[1]\n"
    code += "isolation.reasons_unavailable()\n"
    code += "socket.socket().close(); print(before == open('/proc/self/status').read().split('Seccomp')[1].split()[1])"
    assert fork_server.run(code, apply=False) == Outcome("True", 0)


def test_the_fork_server_shows_its_memory_to_nobody(fork_server: ForkServer) -> None:
    """Before any worker has put on a layer, neither it nor its parent can be looked into by others of their user."""
    code = "from grader.worker.isolation import process; print(process.prctl(3))"  # PR_GET_DUMPABLE
    assert fork_server.run(code, apply=False).output == "0"


# --- what it may read --------------------------------------------------------------------------------------------


def test_folders_that_packages_share_are_never_readable() -> None:
    """Nothing on the list holds a folder of everybody's packages, or this program."""
    readable = [Path(path).resolve() for path in readable_paths.default_readable(PACKAGES, sys.path)]
    assert all(path.is_absolute() for path in readable)
    shared = [Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    for secret in (*shared, ROOT / "grader", ROOT / "solutions"):
        assert not [path for path in readable if secret.resolve().is_relative_to(path)]


def test_a_package_that_is_not_installed_is_passed_over() -> None:
    """Nothing is added for it."""
    assert readable_paths.default_readable(("none-such",), sys.path) == readable_paths.default_readable((), sys.path)


# --- the filter, read as the kernel reads it ---------------------------------------------------------------------


def kernel(program: bytes, number: int, architecture: int, arguments: tuple[int, ...]) -> int:
    """What a classic BPF machine answers for one system call."""
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments)
    accumulator, at = 0, 0
    while True:
        operation, if_true, if_false, value = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        if operation == seccomp.LOAD:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == seccomp.AND:
            accumulator &= value
        elif operation == seccomp.RETURN:
            return int(value)
        else:
            holds = accumulator == value if operation == seccomp.EQUAL else accumulator >= value
            at += if_true if holds else if_false


MACHINE = st.sampled_from(syscall_numbers.MACHINES)
WORD = st.one_of(st.integers(0, 2000), st.integers(0, 2**32 - 1), st.just(4242), st.just(0x3D0F00))


@given(machine=MACHINE, number=st.integers(0, 600), arguments=st.tuples(*[WORD] * 6))
def test_the_filter_says_what_the_list_says(machine: str, number: int, arguments: tuple[int, ...]) -> None:
    """For every call and argument: allowed when listed and its conditions hold, refused otherwise."""
    program = seccomp.make_filter(4242, on=machine)
    answer = kernel(program, number, seccomp.ARCHITECTURES[machine], arguments)
    names = [name for name in syscall_numbers.NUMBERS if syscall_numbers.number(name, machine) == number]
    tests = [seccomp.conditions(4242)[name] for name in names if name in seccomp.conditions(4242)]
    if number > syscall_numbers.NEWEST or names == ["clone3"]:
        assert answer == seccomp.UNKNOWN
    elif tests:
        holds = all(arguments[which] & mask in values for which, mask, values in tests[0])
        assert answer == (seccomp.ALLOW if holds else seccomp.REFUSED)
    elif not names:
        assert answer == seccomp.REFUSED
    else:
        assert answer in (seccomp.ALLOW, seccomp.REFUSED)


@given(machine=MACHINE, number=st.integers(0, 2**32 - 1), architecture=st.integers(0, 2**32 - 1))
def test_a_foreign_machine_is_killed(machine: str, number: int, architecture: int) -> None:
    """A call by another machine's table ends the process whatever its number is."""
    if architecture != seccomp.ARCHITECTURES[machine]:
        assert kernel(seccomp.make_filter(1, on=machine), number, architecture, (0,) * 6) == seccomp.KILL


# in the order of syscall_numbers.MACHINES
NEVER = {"clone": (56, 220), "clone3": (435, 435), "fork": (57, None), "vfork": (58, None)}
NEVER |= {"rt_sigaction": (13, 134), "setitimer": (38, 103), "alarm": (37, None), "timer_create": (222, 107)}


@pytest.mark.parametrize("call", NEVER)
def test_no_thread_is_started_and_no_signal_is_handled(call: str) -> None:
    """Whatever its flags, a call that starts a thread or a process, or has code run at a signal, is refused."""
    for machine, number in zip(syscall_numbers.MACHINES, NEVER[call], strict=True):
        program, architecture = seccomp.make_filter(1, on=machine), seccomp.ARCHITECTURES[machine]
        for flags in (0, 0x3D0F00, 0x7D0F00, 0x01200011):
            answer = number and kernel(program, number, architecture, (flags, 0, 0, 0, 0, 0))
            assert answer in (None, seccomp.UNKNOWN if call == "clone3" else seccomp.REFUSED)


@pytest.mark.parametrize(
    ("machine", "header"),
    [("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), ("aarch64", "/usr/include/asm-generic/unistd.h")],
)
def test_the_numbers_are_the_kernels(machine: str, header: str) -> None:
    """Every number in the table is the one in the kernel's own header."""
    if not Path(header).exists():
        pytest.skip(f"needs {header}: install linux-libc-dev (Debian, Ubuntu)")
    defined = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
    theirs = {name: int(number) for name, number in defined}
    theirs.setdefault("newfstatat", theirs.get("fstatat", -1))
    ours = {name: syscall_numbers.number(name, machine) for name in syscall_numbers.NUMBERS}
    assert {name: number for name, number in ours.items() if number != theirs.get(name)} == {}


def test_older_landlock_is_asked_for_what_it_knows_only() -> None:
    """Each version of Landlock handles the rights of the versions before it and its own."""
    assert landlock.handled_rights(1) == (0x1FFF, 0, 0)
    assert landlock.handled_rights(3) == (0x7FFF, 0, 0)
    assert landlock.handled_rights(7) == (0xFFFF, 3, 3)


# --- elsewhere ---------------------------------------------------------------------------------------------------

ELSEWHERE = """
import dataclasses, functools, importlib.util, json, os, pathlib, struct, sys, sysconfig, warnings, select, signal
sys.platform = {platform!r}
if sys.platform == "win32":
    os.name = "nt"
    for name in ("fork", "geteuid", "getsid", "setsid", "uname", "O_PATH", "sysconf"): delattr(os, name)
from grader.worker import isolation
isolation.prepare()
policy = isolation.Policy(memory_bytes=1 << 30, cpu_seconds=5)
print(json.dumps([isolation.reasons_unavailable(), isolation.apply(policy)]))
"""


@pytest.mark.parametrize(("platform", "in_force"), [("darwin", ["process-group"]), ("win32", [])])
def test_other_systems_degrade_openly(platform: str, in_force: list[str]) -> None:
    """Where a layer cannot be had, it is left out, and a sentence says why."""
    run = subprocess.run(
        [sys.executable, "-c", ELSEWHERE.format(platform=platform)],
        env=ENVIRONMENT, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    available, on = json.loads(run.stdout)
    assert [layer for layer in on if layer != "unprivileged-user"] == in_force
    assert all(available[layer] for layer in ("limits", "no-new-privileges", "landlock", "seccomp"))


def test_the_package_is_light() -> None:
    """Importing it loads neither torch nor numpy, nor what only its tables need."""
    code = "import sys, grader.worker.isolation as i; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, timeout=SECONDS)
    assert not {"torch", "numpy", "ctypes", "pathlib", "typing", "json"} & set(run.stdout.split())


if __name__ == "__main__":
    serve()
