"""grader.judge.session: the device, the protection of workers, and that nothing is left behind."""

from __future__ import annotations

import dataclasses
import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.factories import course as transformers

from grader.course import load
from grader.errors import UsageError
from grader.judge import session
from grader.judge.processes import isolation_policy
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import ForkServerLauncher, SpawnLauncher, start_launcher
from grader.model import Submission

TINY = Path(__file__).parents[1] / "courses/tiny"


@pytest.fixture(scope="module")
def tiny():
    return load(TINY)


def reference(course, name):
    """The reference of a lesson as a submission."""
    lesson = course.lessons[name]
    return lesson, Submission(name, f"{name}.py", lesson.solution_path.read_text()), 0


def test_every_job_gets_a_verdict_as_soon_as_it_is_known(tiny):
    """Results come in the order of the jobs, each with the seed and the hints it was given."""
    results = []
    jobs = [(*reference(tiny, name)[:2], hints) for name, hints in [("argmax_2d", 2), ("moving_average", 0)]]
    session.check_lessons(tiny, jobs, seed=11, on_result=results.append)

    assert [(result.lesson, result.score, result.seed, result.hints_used) for result in results] == [
        ("argmax_2d", 10.0, 11, 2), ("moving_average", 10.0, 11, 0),
    ]  # fmt: skip


def test_no_job_is_no_work(tiny):
    """An empty list of jobs is judged without complaint."""
    session.check_lessons(tiny, [], seed=1, on_result=lambda _: pytest.fail())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_processes_end_with_whatever_ends_the_round(tiny, error):
    """What `on_result` raises comes out, and the workers' parent is gone then."""
    launchers = []
    with pytest.raises(error), session.with_workers(tiny) as (launcher, _):
        launchers.append(launcher)
        with closing(launcher.lease()):
            raise error

    assert launchers[0].process.poll() is not None


def test_the_device_is_the_cpu_where_there_is_no_gpu(tiny):
    """A course of numpy runs on the CPU, and asking for more is an error that says why."""
    assert session.resolve_device("auto", "numpy") == "cpu"
    assert session.resolve_device("cpu", "torch") == "cpu"
    with pytest.raises(UsageError, match="CPU only"), session.with_workers(tiny, "cuda"):
        pass


def test_auto_takes_the_gpu_that_torch_finds(monkeypatch):
    """`auto` and `cuda` follow what torch says; without a GPU only `cuda` is an error."""
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [session.resolve_device(asked, "torch") for asked in session.DEVICES] == ["cuda", "cpu", "cuda"]

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert session.resolve_device("auto", "torch") == "cpu"
    with pytest.raises(UsageError, match="no CUDA device"):
        session.resolve_device("cuda", "torch")


def test_workers_for_the_gpu_keep_what_cuda_can_live_with(tiny):
    """With a GPU there is no memory limit, and the filters that CUDA cannot pass are left out; the rest stays."""
    on_cpu, on_gpu = (policy_for(tiny, device) for device in ("cpu", "cuda"))

    assert on_cpu["memory_bytes"] == tiny.limits.memory_mb << 20
    assert on_gpu["memory_bytes"] is None
    assert set(on_cpu["layers"]) - set(on_gpu["layers"]) == {"landlock", "seccomp"}
    assert "limits" in on_gpu["layers"]


def test_a_launcher_turns_to_the_gpu_before_its_first_worker(tiny):
    """Whether workers are forked or started anew, the policy for the GPU is the one they get."""
    for spawn, kind in [(False, ForkServerLauncher), (True, SpawnLauncher)]:
        launcher = start_launcher("numpy", policy_for(tiny, "cpu"), tiny.limits, spawn=spawn)
        launcher = session._for_cuda(launcher, tiny)
        try:
            assert isinstance(launcher, kind)
            assert launcher.policy["memory_bytes"] is None
        finally:
            launcher.close()


def test_a_worker_may_read_no_folder_that_holds_answers(tmp_path, monkeypatch):
    """Neither the engine, nor the course, nor a folder above one of them is readable, wherever they are installed."""
    site = tmp_path / "site-packages"
    ours = ("grader", "selfattend-0.1.0.dist-info", "__editable___selfattend_finder.py")
    for name in ("torch", "numpy", "six.dist-info", *ours):
        (site / name).mkdir(parents=True)
    (site / "six.py").touch()
    installed = dataclasses.replace(transformers(), root=site / "grader/_course")
    monkeypatch.setattr(isolation_policy, "library_paths", lambda: [str(site)])
    readable = policy_for(installed, "cpu")["readable"]

    assert [Path(path).name for path in readable if path.startswith(str(site))] == ["numpy", "six.py", "torch"]

    deep = dataclasses.replace(transformers(), root=site / "torch/deep/course")
    assert str(site / "torch") not in policy_for(deep, "cpu")["readable"]

    (tmp_path / "course/solutions").mkdir(parents=True)
    (site / "linked").symlink_to(tmp_path / "course")
    beside = dataclasses.replace(transformers(), root=tmp_path / "course")
    assert str(site / "linked") not in policy_for(beside, "cpu")["readable"]


def test_packages_may_lie_in_the_folder_of_the_course(tmp_path, monkeypatch):
    """A virtual environment in a checkout is readable all the same: only the answers there are not."""
    site = tmp_path / ".venv/lib/site-packages"
    (site / "torch").mkdir(parents=True)
    (tmp_path / "solutions").mkdir()
    monkeypatch.setattr(isolation_policy, "library_paths", lambda: [str(site), str(tmp_path)])
    readable = policy_for(dataclasses.replace(transformers(), root=tmp_path), "cpu")["readable"]

    assert str(site / "torch") in readable
    assert str(tmp_path / "solutions") not in readable


def test_the_policy_fits_into_a_message(tmp_path, monkeypatch, tiny):
    """With thousands of packages installed, the few that torch and numpy need are named instead of all."""
    site = tmp_path / "site-packages"
    for number in range(2000):
        (site / f"a_package_with_a_long_name_{number}").mkdir(parents=True)
    monkeypatch.setattr(isolation_policy, "library_paths", lambda: [str(site)])
    policy = policy_for(tiny, "cpu")

    assert len(json.dumps({"id": 1_000_000, "policy": policy})) < 1 << 16
    assert any(path.endswith("/torch") for path in policy["readable"])


def test_seeds_are_fresh_and_too_many_to_be_tried():
    """Random seeds differ, and no submission can find one by drawing its inputs from every seed there is."""
    seeds = {session.random_seed() for _ in range(50)}

    assert len(seeds) == 50
    assert sum(seed >= 1 << 120 for seed in seeds) > 40


def test_the_session_is_light_to_import():
    """Until workers are wanted neither torch, numpy nor pytest is imported."""
    import subprocess

    code = "import sys, grader.judge.session; print({'torch', 'numpy', 'pytest', '_pytest'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60
    )

    assert done.stdout.strip() == "set()"
