"""grader.judge.session: the device, the protection of workers, and that nothing is left behind."""

from __future__ import annotations

import dataclasses
import queue
import shutil
import signal
import sys
import weakref
from contextlib import closing, suppress
from pathlib import Path
from threading import Event

import pytest
from support.factories import course as transformers
from support.factories import judge_source
from support.repeat import rarely
from support.run_in_worker import launched, run
from support.run_in_worker import tiny as patient_course

from grader.course import load
from grader.errors import CourseError, UsageError
from grader.judge import session
from grader.judge.processes import isolation_policy
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import ForkServerLauncher, SpawnLauncher, start_launcher
from grader.judge.verdict.messages import PASSES_ON_CPU
from grader.model import Course, Submission

TINY = Path(__file__).parents[1] / "courses/tiny"
WRONG = "def argmax_2d(x):\n    return 0, int(x.sum()) % 2\n"


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


@pytest.mark.parametrize("right, names, workers", [
    (True, ["argmax_2d"], 1), (False, ["argmax_2d"], 2), (True, ["argmax_2d", "moving_average"], 3),
])  # fmt: skip
def test_a_worker_is_forked_ahead_where_it_is_likely_to_be_needed(tiny, monkeypatch, right, names, workers):
    """For the lesson after this one, or once something is wrong that has no name yet."""
    begun, begin = [], ForkServerLauncher._begin
    monkeypatch.setattr(ForkServerLauncher, "_begin", lambda self, *policy: begun.append(1) or begin(self, *policy))
    jobs = [reference(tiny, name) for name in names]
    if not right:
        jobs = [(lesson, dataclasses.replace(handed_in, source=WRONG), 0) for lesson, handed_in, _ in jobs]
    passed: list[bool] = []
    session.check_lessons(tiny, jobs, seed=3, on_result=lambda result: passed.append(result.passed))

    assert passed == [right] * len(names) and begun == [1] * workers


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


def install(site: Path, name: str, *entries: str, needs: tuple[str, ...] = (), record: bool = True) -> None:
    """Put a package into a folder, as pip does; without a list of its files, as Debian does."""
    about = site / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    lines = [f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {need}" for need in needs)]
    (about / "METADATA").write_text("\n".join(["Metadata-Version: 2.1", *lines, ""]))
    for entry in entries:
        (site / entry).mkdir() if "." not in entry or entry.endswith(".libs") else (site / entry).touch()
    listed = [f"{entry}/__init__.py,," if "." not in entry else f"{entry},," for entry in entries]
    (about / ("RECORD" if record else "top_level.txt")).write_text("\n".join(listed if record else entries))


def test_a_worker_may_read_the_packages_of_its_course_and_what_they_need(tmp_path, monkeypatch, tiny):
    """Derived from what each package says of itself, with its libraries; another package beside them is not shown."""
    site, debian = tmp_path / "site-packages", tmp_path / "dist-packages"
    install(site, "torch", "torch", "torchgen", needs=("Sym.Py>=1 ; python_version > '3'", "extra_one ; extra == 'x'"))
    install(site, "sym-py", "sympy", needs=("mpmath (<2)", "torch"))
    install(site, "extra-one", "extra_one")
    install(site, "other-course", "other_course")
    install(site, "scikit-learn", "sklearn", "scikit_learn.libs", "threads.py")
    install(debian, "mpmath", "mpmath", record=False)
    install(debian, "numpy", "numpy", record=False)
    (debian / "numpy-1.0.dist-info/top_level.txt").unlink()
    monkeypatch.setattr(isolation_policy, "library_paths", lambda: [str(site), str(debian)])

    def shown(course: Course) -> set[str]:
        return {Path(path).name for path in policy_for(course, "cpu")["readable"] if path.startswith(str(tmp_path))}

    assert shown(tiny) == {"numpy"}
    assert shown(transformers()) == {"torch", "torchgen", "sympy", "mpmath", "numpy"}
    more = dataclasses.replace(tiny, packages=("Scikit_Learn", "not-installed"))
    assert shown(more) == {"numpy", "sklearn", "scikit_learn.libs", "threads.py"}


def test_a_worker_may_read_no_folder_that_holds_answers(tmp_path, monkeypatch, tiny):
    """Neither the engine, nor the course, nor a folder above one of them is readable, wherever they are installed."""
    site = tmp_path / "site-packages"
    install(site, "numpy", "numpy")
    install(site, "selfattend", "grader")
    monkeypatch.setattr(isolation_policy, "library_paths", lambda: [str(site)])
    with pytest.raises(CourseError, match="not ours"):
        policy_for(dataclasses.replace(tiny, packages=("selfattend",)), "cpu")

    deep = dataclasses.replace(tiny, root=site / "numpy/deep/course")
    assert str(site / "numpy") not in policy_for(deep, "cpu")["readable"]

    (tmp_path / "course/solutions").mkdir(parents=True)
    install(site, "linked")
    (site / "linked").symlink_to(tmp_path / "course")
    beside = dataclasses.replace(tiny, root=tmp_path / "course", packages=("linked",))
    assert str(site / "linked") not in policy_for(beside, "cpu")["readable"]


def test_packages_may_lie_in_the_folder_of_the_course(tmp_path, monkeypatch, tiny):
    """A virtual environment in a checkout is readable all the same: only the answers there are not."""
    site = tmp_path / ".venv/lib/site-packages"
    install(site, "numpy", "numpy")
    (tmp_path / "solutions").mkdir()
    monkeypatch.setattr(isolation_policy, "library_paths", lambda: [str(site), str(tmp_path)])
    readable = policy_for(dataclasses.replace(tiny, root=tmp_path), "cpu")["readable"]

    assert str(site / "numpy") in readable
    assert str(tmp_path / "solutions") not in readable


def test_a_package_in_a_checkout_is_found_where_its_link_leads(tmp_path, monkeypatch, tiny):
    """`pip install -e` lists a link alone: what it is called is looked for on the way that Python takes."""
    site, checkout = tmp_path / "site-packages", tmp_path / "checkout"
    install(site, "my-helper", "__editable__.my_helper-1.0.pth")
    (checkout / "my_helper").mkdir(parents=True)
    monkeypatch.setattr(isolation_policy, "library_paths", lambda: [str(site), str(checkout)])
    course = dataclasses.replace(tiny, packages=("my-helper",))

    assert str(checkout / "my_helper") in policy_for(course, "cpu")["readable"]
    assert str(checkout) not in policy_for(course, "cpu")["readable"]


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
def test_another_package_is_not_there_for_a_worker(arrays):
    """Its import fails as where it is not installed, and its files cannot be read; what is needed is there."""
    course = dataclasses.replace(patient_course(), arrays=arrays)
    code = f"""
import importlib, {arrays}

def f(name, file):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        found = error.name
    else:
        found = "imported"
    try:
        return [found, len(open(file).read())]
    except OSError as error:
        return [found, type(error).__name__]
"""
    import pytest as other

    with launched(course, sandbox=False) as launcher:
        layers = launcher.greet()
        found = run(launcher, code, "pytest", other.__file__)
        assert found[0] == "pytest"
        assert found[1] == "PermissionError" or "landlock" not in layers
        assert run(launcher, code, "sqlite3", "/dev/null") == ["imported", 0]
        if arrays == "torch":
            assert run(launcher, code, "torch.fx.experimental.symbolic_shapes", "/dev/null") == ["imported", 0]


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


RUN = '''

@pytest.mark.check(skill="training", points=2, needs="test_shape", run=True)
def test_run(submission, reference, rand):
    """Trains."""
    with open(__file__ + ".asked", "a") as asked:
        print(type(submission).__name__, file=asked)
    assert submission.moving_average(rand(9), 4).shape == (6,)
    report = submission.make_report(2)
    for loss in (2.5, 1.25):
        report(loss)
    assert submission.events() == [("report", 2.5), ("report", 1.25)]
'''


@pytest.mark.parametrize("wrong", [False, True])
def test_a_run_is_asked_once_of_a_submission_and_never_of_the_reference(tmp_path, wrong):
    """What it reports moves a bar and is no output; a wrong answer is named without training what is known to be so."""
    course = load(Path(shutil.copytree(TINY, tmp_path / "course")))
    lesson, submission, _ = reference(course, "moving_average")
    with lesson.checks_path.open("a") as checks:
        checks.write(RUN)
    if wrong:
        submission = dataclasses.replace(submission, source=submission.source.replace("axis=1)", "axis=1) * 1.5"))
    told, results = [], []

    def drive(judge):
        judge.workers.on_progress = lambda *step: told.append(step)
        results.append(judge.examine(lesson, submission, 3))

    session.judge_with(course, [lesson], drive)

    assert results[0].passed is not wrong
    assert next(check for check in results[0].checks if check.id.endswith(".run")).outcome == "passed"
    assert Path(f"{lesson.checks_path}.asked").read_text() == "RemoteModule\n"
    assert told == [(1, 2, 2.5), (2, 2, 1.25)] and results[0].output == ""


def test_ctrl_c_in_a_callback_comes_out_without_a_word():
    """Python prints what is raised where it can come out to nobody, as in a callback of its imports; not this."""
    thing = Event()
    with pytest.raises(KeyboardInterrupt), session.interruptible():
        _told = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
        del thing


def test_ctrl_c_that_was_lost_reaches_whoever_waits():
    """Lost in a callback, as while PyTorch is imported, it ends at once a wait without end that is told of it."""
    events = queue.SimpleQueue()
    with (
        pytest.raises(KeyboardInterrupt),
        session.interruptible(lambda: events.put("stopped")),
        session.interruptible(),
    ):
        with suppress(KeyboardInterrupt):  # as the interpreter does
            signal.raise_signal(signal.SIGINT)
        assert events.get(timeout=0) == "stopped"
        raise RuntimeError
    assert events.empty()


def test_an_interrupt_before_the_with_has_begun_is_told_once(monkeypatch):
    """Ctrl-C right after the handler is there ends in one KeyboardInterrupt: the context says nothing more."""
    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    before, context = signal.getsignal(signal.SIGINT), session.interruptible()
    context.__enter__()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    del context

    assert told == [] and signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    "lesson", rarely(name for name, each in transformers().lessons.items() if each.kind != "capstone")
)
def test_what_passes_on_the_cpu_is_run_on_the_other_device_too(lesson, launcher):
    """A reference passes there as well; another name of the CPU stands for a GPU."""
    files = {name: (f"{name}.py", each.solution_path.read_text()) for name, each in transformers().lessons.items()}

    result = judge_source(launcher, lesson, files.pop(lesson)[1], siblings=files, device="cpu:0")

    assert (result.score, result.device) == (10.0, "cpu:0"), result.weaknesses


@pytest.mark.slow
def test_what_fails_on_the_other_device_alone_is_told_so(launcher):
    """The verdict is that of the other device then; what is wrong on the CPU already is told by the CPU's numbers."""
    source = transformers().lessons["softmax"].solution_path.read_text()
    only_there = judge_source(launcher, "softmax", source, device="meta")  # where tensors have no data
    everywhere = judge_source(launcher, "softmax", "def softmax(x, dim=-1):\n    return x.exp()\n", device="meta")

    assert not only_there.passed
    assert only_there.notes[0] == PASSES_ON_CPU
    assert PASSES_ON_CPU not in everywhere.notes
    assert [mistake.id for mistake in everywhere.mistakes]
