"""Bubblewrap round the parent of the workers: what they see in it, that everything still works, and going without."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.factories import course as transformers
from support.run_in_worker import SECONDS, launched, load_request, run, tiny, within, without

from grader.errors import GraderError, WorkerCrashed, WorkerTimeout
from grader.judge.processes import bubblewrap
from grader.judge.processes.launcher import ForkServerLauncher
from grader.worker.isolation import drop_privileges

ROOT = Path(__file__).resolve().parents[2]

needed = pytest.mark.skipif(bool(bubblewrap.why_not()), reason=f"needs bubblewrap: {bubblewrap.why_not()}")


@pytest.fixture(scope="module")
def boxed() -> Iterator[ForkServerLauncher]:
    """One sandbox for all tests here."""
    with launched(tiny(), sandbox=True) as launcher:
        assert not launcher.no_sandbox
        yield launcher


# --- what is seen in it -----------------------------------------------------------------------------------------------


@needed
def test_the_sandbox_is_one_of_the_layers(boxed):
    """A worker in it has its own layers and the namespaces."""
    assert {"namespaces", "landlock", "seccomp", "unprivileged-user"} <= set(boxed.greet())


@needed
def test_a_file_outside_is_not_there(boxed, tmp_path):
    """Where only bubblewrap protects it, a worker finds no file but those it must read, not even that one exists."""
    (tmp_path / "secret").write_text("for nobody")
    secrets = [
        tmp_path / "secret", ROOT / "solutions", ROOT / "grader/judge", ROOT / "grader/errors.py", ROOT / "course.toml",
        "/etc/passwd", "/etc/shadow", Path.home() / ".bashrc", Path.home() / ".ssh", "/var", "/bin", "/run", "/mnt",
        f"/proc/{os.getpid()}/environ", tiny().root,
    ]  # fmt: skip
    code = "import os\ndef f(paths):\n    return [path for path in paths if os.path.lexists(path)]\n"
    assert run(boxed, code, [str(path) for path in secrets], policy=without(boxed)) == []
    with launched(tiny(), sandbox=False) as plain:  # the question finds what is there to be found
        assert str(tmp_path / "secret") in run(plain, code, [str(tmp_path / "secret")], policy=without(plain))


@needed
def test_nothing_can_be_written_in_it(boxed):
    """Every folder of the sandbox refuses a new file, whoever asks."""
    code = (
        "import os\n"
        "def f():\n"
        "    written = []\n"
        "    for folder, _, _ in os.walk('/', onerror=None):\n"
        "        if folder.count('/') > 4 or folder.startswith('/proc/'): continue\n"
        "        try:\n"
        "            os.close(os.open(f'{folder}/new', os.O_WRONLY | os.O_CREAT)); written.append(folder)\n"
        "        except OSError: pass\n"
        "    return written\n"
    )
    assert run(boxed, code, policy=without(boxed)) == []


@needed
def test_it_has_no_network_and_no_other_processes(boxed):
    """A server on our loopback is out of reach, there is no other interface, and nobody else's process is there."""
    code = (
        "import os, socket\n"
        "def f(port):\n"
        "    try: socket.create_connection(('127.0.0.1', port), 2); reached = True\n"
        "    except OSError: reached = False\n"
        "    pids = sorted(int(name) for name in os.listdir('/proc') if name.isdigit())\n"
        "    parents = {pid: int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1]) for pid in pids}\n"
        "    interfaces = [name for _, name in socket.if_nameindex()]\n"
        "    return [reached, interfaces, sorted(set(parents.values())), os.getppid()]\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        reached, interfaces, parents, parent = run(boxed, code, server.getsockname()[1], policy=without(boxed))
    assert (reached, interfaces, parents, parent) == (False, ["lo"], [0, 1], 1)


@needed
@pytest.mark.skipif(not drop_privileges.is_root(), reason="needs root, to change its user: run pytest as root")
def test_root_is_nobody_in_it_wherever_python_lies(boxed):
    """Even if Python lies in a folder that is open to root only, a worker of root becomes nobody, without rights."""
    code = (
        "import os\n"
        "from ctypes import CDLL\n"
        "def f():\n"
        "    import colorsys\n"  # can still be imported
        "    return [os.getuid(), os.getgid(), os.getgroups(), CDLL(None).prctl(23, 0)]\n"
    )
    assert run(boxed, code)[:3] == [drop_privileges.NOBODY, drop_privileges.NOBODY, []]


@needed
def test_lessons_in_torch_work_in_it():
    """PyTorch imports and computes in the sandbox as outside of it."""
    with launched(transformers(), sandbox=True) as launcher:
        code = "import torch\ndef f(n):\n    return torch.nn.Linear(n, n)(torch.ones(n)).softmax(0).sum().item()\n"
        assert run(launcher, code, 3) == pytest.approx(1.0)
        assert not launcher.no_sandbox


# --- everything still works -------------------------------------------------------------------------------------------


@needed
def test_a_worker_is_ended_at_its_deadline_and_its_end_explained(boxed):
    """The judge kills a worker over the wall, and learns how another one ended."""
    with pytest.raises(WorkerTimeout):
        _request(boxed, "def f():\n    while True: pass\n", 0.3)
    with pytest.raises(WorkerCrashed, match="exit status 3"):
        _request(boxed, "import os\ndef f():\n    os._exit(3)\n", SECONDS)
    assert run(boxed, "def f():\n    return 1\n") == 1


def _request(launcher: ForkServerLauncher, source: str, seconds: float) -> None:
    worker = launcher.lease()
    try:
        worker.request("load", **load_request(source, "f"))
        worker.request("call", seconds, target="f", args=[], kwargs={})
    finally:
        worker.close()


JUDGE = """
import sys, time
sys.path.insert(0, {tests!r})
from support.run_in_worker import launched, run, tiny
with launched(tiny(), sandbox=True) as launcher:
    worker = launcher.lease()
    print(worker.greet(), flush=True)
    time.sleep(60)
"""


@needed
@pytest.mark.parametrize("victim", ["judge", "bubblewrap"])
def test_all_is_gone_when_one_is_killed(victim):
    """After kill -9 of the judge, and of bubblewrap itself, neither the fork server nor a worker is left."""
    code = JUDGE.format(tests=str(Path(__file__).parents[1]))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment) as judge:
        assert judge.stdout is not None
        assert b"namespaces" in judge.stdout.readline()
        family = _below(judge.pid)
        assert len(family) >= 3  # bubblewrap, the fork server, a worker
        try:
            os.kill(judge.pid if victim == "judge" else family[0], signal.SIGKILL)
            assert within(lambda: not any(_is_alive(pid) for pid in family))
        finally:
            judge.kill()


def _below(pid: int) -> list[int]:
    """The processes below one, its children first."""
    below: list[int] = []
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            below += [child, *_below(child)]
    return below


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- going without ----------------------------------------------------------------------------------------------------


@pytest.fixture
def afresh() -> Iterator[None]:
    """What is known of bubblewrap is forgotten, before and after."""
    bubblewrap._probe.cache_clear()
    yield
    bubblewrap._probe.cache_clear()


def fake(folder: Path, script: str) -> None:
    """A program of the name bwrap in `folder`."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


@pytest.mark.usefixtures("afresh")
def test_without_bubblewrap_the_other_layers_do(tmp_path, monkeypatch):
    """Where the program is missing or may not work, workers start without it, and the reason is said."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bubblewrap.why_not() == "bubblewrap is not installed (the command bwrap)"

    bubblewrap._probe.cache_clear()
    fake(tmp_path, "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    assert "not permitted to work here: No permissions to create new namespace" in bubblewrap.why_not()
    with launched(tiny(), sandbox=True) as launcher:
        layers = launcher.greet()
        assert "namespaces" not in layers and "process-group" in layers
        assert launcher.no_sandbox == bubblewrap.why_not()


@needed
@pytest.mark.usefixtures("afresh")
def test_if_nothing_starts_in_it_the_fork_server_starts_without(tmp_path, monkeypatch):
    """A library that the sandbox does not show is no end: the fork server comes up outside of it, and why is said."""
    real = bubblewrap._probe()[0][0]
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    fake(
        tmp_path,
        f'case "$*" in *fork_server.py*) echo "libmkl.so: cannot open" >&2; exit 1;; *) exec {real} "$@";; esac',
    )
    bubblewrap._probe.cache_clear()
    with launched(tiny(), sandbox=True) as launcher:
        assert run(launcher, "def f():\n    return 2\n") == 2
        assert "libmkl.so: cannot open" in launcher.no_sandbox
        assert "namespaces" not in (launcher.layers or ())


@pytest.mark.usefixtures("new_pythons")
def test_a_fork_server_that_does_not_start_at_all_is_our_fault(monkeypatch):
    """Without a sandbox there is nothing to fall back to: a GraderError with what it said last."""
    monkeypatch.setattr("grader.judge.processes.launcher.library_paths", list)
    with launched(tiny(), sandbox=False) as launcher, pytest.raises(GraderError, match="numpy"):
        launcher.greet()


# --- the layout -------------------------------------------------------------------------------------------------------


def mounts(*paths: Path) -> list[tuple[str, ...]]:
    """What `paths` become: the words of each option, without the folders made on the way."""
    words = list(bubblewrap._mounts(map(str, paths)))
    sizes = {"--dir": 2, "--tmpfs": 2, "--remount-ro": 2}
    found = []
    while words:
        size = sizes.get(words[0], 3)
        found.append(tuple(words[:size]))
        del words[:size]
    return [option for option in found if option[0] != "--dir"]


def test_each_path_is_seen_in_its_place(tmp_path):
    """A file and a folder are bound, links on the way are made again, and what is in a bound folder is not repeated."""
    (tmp_path / "lib/inner").mkdir(parents=True)
    (tmp_path / "lib/inner/deep.so").touch()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("lib")
    bubblewrap._link.cache_clear()
    bind = "--ro-bind-try"
    lib, file = str(tmp_path / "lib"), str(tmp_path / "file")

    assert mounts(tmp_path / "lib", tmp_path / "lib/inner/deep.so", tmp_path / "file") == [
        (bind, file, file), (bind, lib, lib),
    ]  # fmt: skip
    inner = f"{lib}/inner"
    assert mounts(tmp_path / "link/inner") == [(bind, inner, inner), ("--symlink", "lib", str(tmp_path / "link"))]


def test_a_folder_of_many_is_bound_at_once_without_what_is_not_to_be_seen(tmp_path):
    """Nearly all of a folder's children become the folder, with the few others covered; a file is not covered."""
    for number in range(bubblewrap.WORTH_A_FOLDER):
        (tmp_path / f"module_{number}.py").touch()
    (tmp_path / "site-packages/torch").mkdir(parents=True)
    (tmp_path / "site-packages/grader").mkdir()
    seen = [*tmp_path.glob("*.py"), tmp_path / "site-packages/torch"]
    here, hidden, torch = (str(tmp_path / name) for name in ("", "site-packages", "site-packages/torch"))

    assert mounts(*seen) == [
        ("--ro-bind-try", here.rstrip("/"), here.rstrip("/")),
        ("--tmpfs", hidden),
        ("--ro-bind-try", torch, torch),
        ("--remount-ro", hidden),
    ]
    (tmp_path / "site-packages/linked").symlink_to(tmp_path / "away")
    (tmp_path / "away").mkdir()
    bubblewrap._link.cache_clear()
    assert ("--symlink", f"{tmp_path}/away", f"{hidden}/linked") in mounts(*seen, tmp_path / "site-packages/linked")

    (tmp_path / "answers.toml").touch()
    assert len(mounts(*seen)) == len(seen)


def test_links_in_a_circle_come_to_an_end(tmp_path):
    """A link to itself is a path that is not there, not an endless search."""
    (tmp_path / "circle").symlink_to("circle")
    done = threading.Event()
    threading.Thread(target=lambda: (mounts(tmp_path / "circle/file"), done.set()), daemon=True).start()
    assert done.wait(SECONDS)


@needed
def test_its_options_are_not_for_everybody_to_see(boxed):
    """The command line of the sandbox is short: what is mounted in it is told over a descriptor."""
    line = Path(f"/proc/{boxed.process.pid}/cmdline").read_bytes()
    assert b"--args" in line and b"--ro-bind" not in line


@needed
def test_asking_is_cheap():
    """Whether bubblewrap works is found out once and remembered."""
    bubblewrap.why_not()
    started = time.process_time()
    for _ in range(100):
        bubblewrap.why_not()
    assert time.process_time() - started < 0.1
