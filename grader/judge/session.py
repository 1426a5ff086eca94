"""From courses and submissions to verdicts: choose the device and the protection, start the workers, judge, end all.

Light to import. What is slow, torch and pytest, is imported by `with_workers` once the parent of the workers has
started, so that both processes import at the same time.
"""

from __future__ import annotations

import gc
import secrets
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.judge.processes.isolation_policy import accept_for, left_out_by, no_isolation_on_gpu, policy_for
from grader.judge.processes.launcher import ForkServerLauncher, Launcher, SpawnLauncher, start_launcher
from grader.model import Course, Lesson, LessonResult, Submission

if TYPE_CHECKING:
    from grader.judge.examination import Judge

DEVICES = ("auto", "cpu", "cuda")
PATIENCE, HASTE = 5.0, 0.3  # seconds for the fork server to end, after work and after Ctrl-C: it may still be importing

Job = tuple[Lesson, Submission, int]  # a lesson, what was handed in for it, and how many hints were used


def random_seed() -> int:
    """A fresh seed, short enough to be typed again."""
    return secrets.randbelow(1_000_000)


def check_lessons(
    course: Course,
    jobs: Sequence[Job],
    *,
    seed: int,
    device: str = "auto",
    isolation: str = "available",
    on_result: Callable[[LessonResult], None],
) -> None:
    """Judge each job in a fresh worker and hand every verdict to `on_result` as soon as it is known.

    `device` and `isolation` as for `judge_with`, and so are the errors; no process is left behind in any case.
    """
    lessons = list({lesson.name: lesson for lesson, _, _ in jobs}.values())
    if not lessons:
        return

    def drive(judge: Judge) -> None:
        for lesson, submission, hints_used in jobs:
            on_result(judge.examine(lesson, submission, seed, hints_used))

    judge_with(course, lessons, drive, device=device, isolation=isolation)


def judge_with(
    course: Course,
    lessons: Iterable[Lesson],
    drive: Callable[[Judge], None],
    *,
    device: str = "auto",
    isolation: str = "available",
) -> None:
    """Call `drive(judge)` with a judge that can examine `lessons`, on the device asked for.

    `isolation`: "required" (from the file system and the network, in bubblewrap where that can be had), "available"
    (what a worker can put on itself here; no time is spent on more), or "process" (a process of its own, its limits and
    no new privileges: for code that is trusted). Unless it is "available", `judge.launcher.layers` has the layers in
    force before `drive` is called.
    Raises what `drive` raises; UsageError for a device that is not there; IsolationError, before `drive` is called,
    where isolation is required and cannot be had; GraderError if our own machinery fails; KeyboardInterrupt on Ctrl-C.
    """

    def begin(judge: Judge) -> None:
        if isolation != "available":
            judge.launcher.greet()
        drive(judge)

    with with_workers(course, device, isolation) as (launcher, found):
        if isinstance(launcher, ForkServerLauncher):
            launcher.fork_ahead()
        with _without_collections():
            from grader.judge.examination import with_judge  # not before the launcher has started: it imports pytest
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a known mistake may make torch warn: not of anything the learner wrote
            with_judge(course, lessons, launcher, found, begin)


@contextmanager
def with_workers(course: Course, device: str = "auto", isolation: str = "available") -> Iterator[tuple[Launcher, str]]:
    """A launcher and the device ("cpu" or "cuda") its workers are for. All processes end with the context.

    Where isolation is required, a worker that has not got it takes no learner's code: its first request raises
    IsolationError.
    """
    policy = policy_for(course, "cpu", left_out_by(isolation))
    launcher = start_launcher(
        course.arrays, policy, course.limits, sandbox=isolation == "required", accept=accept_for(isolation)
    )
    try:
        with _interruptible():
            with _without_collections():
                found = _device_for(device, course.arrays, isolation)
            if found == "cuda":
                launcher = _for_cuda(launcher, course)
            if isolation != "available":
                _close_to_others()
            yield launcher, found
    except BaseException:
        _end(launcher, HASTE)
        raise
    _end(launcher, PATIENCE)


def _device_for(asked: str, arrays: str, isolation: str) -> str:
    """As `resolve_device`. Where isolation is required, "auto" is the CPU, and a GPU an error."""
    if isolation != "required":
        return resolve_device(asked, arrays)
    found = resolve_device("cpu" if asked == "auto" else asked, arrays)
    if found == "cuda":
        raise no_isolation_on_gpu()
    return found


def _close_to_others() -> None:
    """No other process of this user may look into this one, which knows the answers. `learn check` leaves it out: there
    the code is the user's own."""
    from grader.worker.isolation import process

    if process.LINUX:
        process.refuse_inspection()


# --- the device -------------------------------------------------------------------------------------------------------


def resolve_device(asked: str, arrays: str) -> str:
    """ "cpu" or "cuda" for what was asked: "auto" takes a GPU where there is one. Imports the array library.

    Never call it in a process that forks: it may start CUDA. Raises UsageError for a GPU that is not there.
    """
    if arrays != "torch":
        if asked == "cuda":
            raise UsageError("this course computes with numpy, which runs on the CPU only", next_step="--device cpu")
        return "cpu"
    import torch

    if asked == "cpu":
        return "cpu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch explains at length why a driver cannot be used; `learn doctor` says it
        if torch.cuda.is_available():
            return "cuda"
    if asked == "cuda":
        raise UsageError(
            f"PyTorch {torch.__version__} finds no CUDA device here",
            next_step="leave out --device cuda to check on the CPU; `learn doctor` says what was found",
        )
    return "cpu"


def describe_device(device: str, arrays: str) -> str:
    """A device that `resolve_device` gave, in words, with what the array library was built for."""
    if arrays != "torch":
        return f"{device}: this course computes with numpy"
    import torch

    if device == "cuda":
        return f"cuda: {torch.cuda.get_device_name()}, CUDA {torch.version.cuda}"
    built = f"for CUDA {torch.version.cuda}" if torch.version.cuda else "without CUDA"
    return f"{device}: PyTorch is built {built}; no GPU is needed"


def _for_cuda(launcher: Launcher, course: Course) -> Launcher:
    """A launcher whose workers may use the GPU; no worker was leased yet."""
    policy = policy_for(course, "cuda")
    if isinstance(launcher, ForkServerLauncher):
        launcher.policy = policy
        return launcher
    launcher.close()
    return SpawnLauncher(course.arrays, policy, course.limits)


# --- ends and interruptions -------------------------------------------------------------------------------------------


def _end(launcher: Launcher, patience: float) -> None:
    """End all processes. A fork server ends its workers and itself when its line closes; a late one is killed."""
    if isinstance(launcher, ForkServerLauncher):
        launcher.hang_up()
        try:
            launcher.process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            launcher.process.kill()
    launcher.close()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C always comes out as KeyboardInterrupt: pytest answers it in its own way while it collects."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal came
        came = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except BaseException:
        if came:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


@contextmanager
def _without_collections() -> Iterator[None]:
    """Imports make many objects that stay: looking for garbage among them costs a tenth of the time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)  # a check makes many small objects and no garbage in circles
        gc.enable()
