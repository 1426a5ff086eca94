"""The page on clusters: its commands exist, and those that one machine can run grade a class."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from support.course_files import ROOT
from support.documents import BIN, BLOCK
from support.hand_ins import ANSWERS, SUMS, TINY, make_zip, write

PAGE = (ROOT / "docs" / "cluster.md").read_text()
BLOCKS = BLOCK.findall(PAGE)
SECONDS = 300
LIBRARY = "distributed"
# in place of Slurm's: the command, twice, here
SRUN = '#!/bin/sh\n"$@" &\n"$@" &\nwait\n'


def dask_commands() -> list[list[str]]:
    """Every command of Dask's on the page, in a shell or in a pod."""
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, which comes with distributed: pip install -e .[cluster]")
    text = "".join(text for kind, text in BLOCKS if kind in ("sh", "bash"))
    lines = re.findall(r"^(?:srun )?(dask [^&\n]*)", text, re.MULTILINE)
    lines += re.findall(r"`(dask scheduler [^`]*)`", PAGE)
    found = [shlex.split(line) for line in lines]
    for kind, text in BLOCKS:
        for part in yaml.safe_load_all(text) if kind == "yaml" else ():
            pod = part["spec"].get("template", {}).get("spec", {})
            found += [container["command"] for container in pod.get("containers", ())]
    return found


def test_every_option_of_dask_exists():
    """Each command of the page has the options that it is given, wherever it is run."""
    cli = pytest.importorskip("distributed.cli", reason="needs distributed: pip install -e .[cluster]")
    commands = dask_commands()
    assert {command[1] for command in commands} == {"scheduler", "worker", "ssh"} and len(commands) >= 8
    for _, what, *words in commands:
        module = __import__(f"{cli.__name__}.dask_{what}", fromlist=["main"])
        known = {name for param in module.main.params for name in (*param.opts, *param.secondary_opts)}
        assert {word for word in words if word.startswith("--")} <= known, (what, words)


def test_the_script_is_one():
    """Slurm's script can be parsed by the shell."""
    (script,) = (text for kind, text in BLOCKS if kind == "bash")
    assert subprocess.run(["bash", "-n"], input=script, text=True, timeout=SECONDS).returncode == 0


def hand_ins(place: Path) -> dict[str, str]:
    """Write a class, as a folder and as Canvas's zip, and return the environment to grade it in."""
    files = {f"s{number}/moving_average.py": (ANSWERS["moving_average"], SUMS)[number % 2] for number in range(6)}
    write(place / "submissions", files)
    named = {f"learner{n}_{1000 + n}_{n}_moving_average.py": text for n, text in enumerate(files.values())}
    make_zip(place / "submissions.zip", named)
    (place / "srun").write_text(SRUN)
    (place / "srun").chmod(0o755)
    return {**os.environ, "PATH": f"{place}:{BIN}:{os.environ['PATH']}", "SELFATTEND_COURSE": str(TINY),
            "TMPDIR": str(place)}  # fmt: skip


@contextmanager
def running(command: str, place: Path, environment: dict[str, str]):
    """A command that goes on until it is ended, with all that it started."""
    with (place / "log").open("ab") as log:
        process = subprocess.Popen(
            ["bash", "-c", command], cwd=place, env=environment, start_new_session=True, stdout=log, stderr=log
        )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(SECONDS)


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as ours:
            if ours.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("nobody listens")


def require_graded(place: Path) -> None:
    results = json.loads((place / "results" / "results.json").read_text())
    assert results["complete"] and len(results["submissions"]) == 6


@pytest.mark.soak
def test_the_commands_for_one_machine_grade_a_class(tmp_path):
    """Scheduler, two nodes and run, as they stand on the page but for the port."""
    pytest.importorskip(LIBRARY, reason="needs distributed: pip install -e .[cluster]")
    environment = hand_ins(tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    section = PAGE.split("## On one machine")[1].split("\n## ")[0].replace("8786", str(port))
    scheduler, nodes, run = (text for kind, text in BLOCK.findall(section) if kind == "sh")
    with ExitStack() as stack:
        stack.enter_context(running(scheduler, tmp_path, environment))
        wait_for_port(port)
        stack.enter_context(running(nodes, tmp_path, environment))
        done = subprocess.run(["bash", "-c", run], cwd=tmp_path, env=environment, timeout=SECONDS, capture_output=True)
        assert done.returncode == 0, done.stderr
    require_graded(tmp_path)


@pytest.mark.soak
def test_the_script_for_slurm_grades_a_class(tmp_path):
    """Slurm's script with two nodes on this machine: all is graded, and it ends what it has started."""
    pytest.importorskip(LIBRARY, reason="needs distributed: pip install -e .[cluster]")
    (script,) = (text for kind, text in BLOCKS if kind == "bash")
    script = script.replace("--nthreads 8", "--nthreads 1")  # this machine may have few cores
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=hand_ins(tmp_path), timeout=SECONDS, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    require_graded(tmp_path)
