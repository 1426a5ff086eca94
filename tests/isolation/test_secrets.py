"""The fork server holds no secret: neither memory nor a descriptor, /proc, tracing or a signal leads to the judge."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import closing

import pytest
from support.factories import course, judge_source
from support.run_in_worker import launched, load_request, run, tiny, without

from grader.judge import session
from grader.judge.processes import bubblewrap
from grader.judge.processes.launcher import ForkServerLauncher
from grader.worker.isolation import drop_privileges, process

pytestmark = pytest.mark.skipif(not process.LINUX, reason="needs Linux: it tries the ways into another process there")


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "in bubblewrap"])
def launcher(request: pytest.FixtureRequest) -> Iterator[ForkServerLauncher]:
    """Workers with and without the sandbox round their parent."""
    if request.param and bubblewrap.why_not():
        pytest.skip(f"needs bubblewrap: {bubblewrap.why_not()}")
    with launched(tiny(), sandbox=request.param) as running:
        yield running


def canary() -> str:
    """A word that is nowhere else."""
    return f"canary-{secrets.token_hex(16)}"


SCAN = """
import ctypes, re

def f():
    found = set()
    for line in open('/proc/self/maps'):
        span, rights, _, _, _, *name = line.split(maxsplit=5)
        if not rights.startswith('r') or (name and name[0].startswith(('[v', '/dev/'))):
            continue
        start, end = (int(address, 16) for address in span.split('-'))
        for at in range(start, end, 1 << 20):
            text = ctypes.string_at(at, min((1 << 20) + 40, end - at))
            found.update(match[0].decode() for match in re.finditer(rb'canary-[0-9a-f]{32}', text))
    return sorted(found)
"""


def test_a_worker_s_memory_holds_no_secret(launcher, monkeypatch):
    """With every layer off, a worker that searches all its memory finds what is in its own source, and nothing of the
    judge's memory and environment or of another submission."""
    ours, theirs, own = canary(), canary(), canary()
    monkeypatch.setenv("SELFATTEND_SECRET", ours)
    # started anew, while the judge has the secret
    with launched(tiny(), sandbox=bool(launcher.outer)) as fresh, closing(fresh.lease()) as other:
        other.request("load", **load_request(f"x = {theirs!r}", "x"))
        found = run(fresh, f"secret = {own!r}\n{SCAN}", policy=without(fresh))
    assert own in found
    assert not {ours, theirs} & set(found)


def test_a_worker_holds_four_descriptors(launcher):
    """Nothing, what it prints (twice), and its line to the judge: no other descriptor is open in a worker."""
    code = (
        "import os, stat\n"
        "def f():\n"
        "    found = []\n"
        "    for number in range(4096):\n"
        "        try: mode = os.fstat(number).st_mode\n"
        "        except OSError: continue\n"
        "        found.append([number, stat.filemode(mode)[0]])\n"
        "    return found\n"
    )
    assert run(launcher, code) == [[0, "c"], [1, "p"], [2, "p"], [3, "s"]]


def test_a_worker_s_environment_is_empty(launcher):
    """Nothing of ours is in it, the names of our folders included."""
    assert run(launcher, "import os\ndef f():\n    return dict(os.environ)\n") == {}


INTO = """
import ctypes, os, signal

NUMBERS = {'ptrace': (101, 117), 'vm_readv': (310, 270), 'pidfd_open': (434, 434), 'kcmp': (312, 272)}

def call(name, *arguments):
    number = NUMBERS[name][os.uname().machine == 'aarch64']
    return ctypes.CDLL(None, use_errno=True).syscall(number, *map(ctypes.c_long, (*arguments, 0, 0, 0, 0)[:5]))

def look(path):
    if path.endswith(('root', 'cwd', 'exe')):
        return os.readlink(path)
    if path.endswith('fd'):
        return [os.readlink(f'{path}/{number}') for number in os.listdir(path)]
    return os.read(os.open(path, os.O_RDONLY), 1)

def f(pids, quietly):
    through = []
    for pid in [*pids, os.getppid()]:
        for name in ('environ', 'mem', 'maps', 'fd', 'root', 'cwd', 'exe', 'stack', 'syscall', 'auxv'):
            try:
                look(f'/proc/{pid}/{name}'); through.append(f'{name} {pid}')
            except OSError: pass
        word = ctypes.create_string_buffer(8)
        if call('ptrace', 16, pid) == 0: through.append(f'ptrace {pid}')
        if call('vm_readv', pid, ctypes.addressof(word), 1, ctypes.addressof(word), 1) > 0: through.append(f'vm {pid}')
        if not quietly:
            if call('pidfd_open', pid) >= 0: through.append(f'pidfd {pid}')
            for number in (0, signal.SIGCONT, signal.SIGURG):
                try: through.append(os.kill(pid, number) or f'signal {pid}')
                except OSError: pass
    return through
"""


def test_no_way_leads_into_another_process(launcher):
    """No way through /proc, tracing, memory, descriptors or signals reaches the judge, the fork server or a sibling."""
    with closing(launcher.lease()) as sibling:
        sibling.greet()
        assert run(launcher, INTO, [os.getpid(), launcher.process.pid, sibling.pid], False) == []


@pytest.mark.skipif(
    drop_privileges.is_root(), reason="needs an ordinary user, as root may look into everything: run pytest as one"
)
def test_closed_memory_needs_no_other_layer(launcher):
    """With every other layer off, no process of the same user shows its memory: not the fork server, a sibling or the
    judge of a class."""
    session._refuse_inspection()
    try:
        with closing(launcher.lease()) as sibling:
            sibling.greet()
            assert run(launcher, INTO, [os.getpid(), sibling.pid], True, policy=without(launcher)) == []
    finally:
        process.prctl(process.PR_SET_DUMPABLE, 1)


@pytest.mark.parametrize("launcher", [True], ids=["in bubblewrap"], indirect=True)
def test_in_the_sandbox_nobody_kills_the_fork_server(launcher):
    """With the worker's own layers off, the fork server of a sandbox cannot be ended or looked into from inside."""
    kill = "import os\ndef f():\n    os.kill(1, 9); os.kill(1, 15)\n    return os.getppid()\n"
    assert run(launcher, kill, policy=without(launcher)) == 1
    assert run(launcher, INTO, [], True, policy=without(launcher)) == []
    assert run(launcher, "def f():\n    return 'alive'\n") == "alive"


DRAWN = """
import random
import numpy, torch

def softmax(x, dim=-1):
    told = [torch.initial_seed(), random.getrandbits(60), int(numpy.random.randint(1 << 60)), torch.rand(1).item()]
    raise ValueError(told)
"""


def test_what_a_worker_is_told_says_nothing_of_the_run_s_seed(launcher_with):
    """A submission's own draws are the same in every run: from them nobody can search for the seed of the inputs."""
    with launcher_with(course().limits) as launcher:
        told = {judge_source(launcher, "softmax", DRAWN, seed=seed).checks[0].message.splitlines()[0]
                for seed in (1, 2, session.random_seed())}  # fmt: skip
    assert len(told) == 1 and "ValueError: [" in told.pop()
