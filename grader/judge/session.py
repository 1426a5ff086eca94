"""From courses and submissions to verdicts: choose device and isolation, start the workers, judge, end all processes.

Light to import. torch and pytest, which are slow, are imported by `with_workers` once the parent of the workers has
started, so that both processes import at the same time.
"""

from __future__ import annotations

import gc
import secrets
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.judge.own_limits import limited_memory
from grader.judge.processes.isolation_policy import accept_for, left_out_by, no_isolation_on_gpu, policy_for
from grader.judge.processes.launcher import ForkServerLauncher, Launcher, SpawnLauncher, start_launcher
from grader.model import Course, Lesson, LessonResult, Submission

if TYPE_CHECKING:
    from grader.judge.examination import Judge

DEVICES = ("auto", "cpu", "cuda")
# Seconds for the fork server to end, which may still be importing: after work, and after an error or Ctrl-C.
SECONDS_TO_END, SECONDS_TO_ABORT = 5.0, 0.3

Job = tuple[Lesson, Submission, int]  # a lesson, what was handed in for it, and how many hints were used


def random_seed(below: int = 1 << 128) -> int:
    """Return a fresh seed; a submission that draws its inputs from all seeds finds only one of a short range."""
    return secrets.randbelow(below)


def check_lessons(
    course: Course,
    jobs: Sequence[Job],
    *,
    seed: int,
    device: str = "auto",
    isolation: str = "available",
    on_result: Callable[[LessonResult], None],
) -> None:
    """Judge each job in a fresh worker and pass every verdict to `on_result` as soon as it is known.

    `device`, `isolation` and the errors are those of `judge_with`. No process is left behind in any case.
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
    """Call `drive(judge)` with a judge that can examine `lessons`.

    Args:
        isolation: "required" (from the file system and the network, in bubblewrap where there is one), "available"
            (what a worker can put on itself here, without spending time on more) or "process" (a separate process, its
            limits and no new privileges: for trusted code; as root it is "process-as-root"). Except for "available",
            `judge.launcher.layers` has the layers in force when `drive` is called.

    Raises:
        UsageError: The device is not there.
        IsolationError: Isolation is required and not possible; `drive` is not called.
        GraderError: The grader itself fails, or needs more memory than a worker may have.
        KeyboardInterrupt: Ctrl-C was pressed.
    """

    def begin(judge: Judge) -> None:
        if isolation != "available":
            judge.launcher.greet()
        # the driver of a GPU takes memory without end
        with nullcontext() if judge.device == "cuda" else limited_memory(limits.memory_mb):
            drive(judge)

    lessons = list(lessons)
    limits = course.limits_for(*lessons)
    with with_workers(replace(course, limits=limits), device, isolation) as (launcher, found):
        if isinstance(launcher, ForkServerLauncher):
            if isolation == "available":
                launcher.warm_for = lessons[0].forbids if len(lessons) == 1 else ()
                launcher.forks_next = len(lessons) > 1
            launcher.fork_ahead()
        with interruptible(), _without_garbage_collection():
            from grader.judge.examination import with_judge  # not before the launcher has started: it imports pytest
        with_judge(course, lessons, launcher, found, begin)


@contextmanager
def with_workers(course: Course, device: str = "auto", isolation: str = "available") -> Iterator[tuple[Launcher, str]]:
    """Yield a launcher and the device of its workers, "cpu" or "cuda". All processes end with the context.

    Where isolation is required, a worker without it takes no learner's code: its first request raises IsolationError.
    """
    policy = policy_for(course, "cpu", left_out_by(isolation))
    launcher = start_launcher(
        course.arrays, policy, course.limits, sandbox=isolation == "required", accept=accept_for(isolation)
    )
    try:
        with interruptible():
            with interruptible(), _without_garbage_collection():
                found = _device_for(device, course.arrays, isolation)
            if found == "cuda":
                launcher = _for_cuda(launcher, course)
            if isolation != "available":
                _refuse_inspection()
            yield launcher, found
    except BaseException:
        _end(launcher, SECONDS_TO_ABORT)
        raise
    _end(launcher, SECONDS_TO_END)


def _device_for(asked: str, arrays: str, isolation: str) -> str:
    """Resolve the device; where isolation is required, "auto" is the CPU and a GPU is an error."""
    if isolation != "required":
        return resolve_device(asked, arrays)
    found = resolve_device("cpu" if asked == "auto" else asked, arrays)
    if found == "cuda":
        raise no_isolation_on_gpu()
    return found


def _refuse_inspection() -> None:
    """Keep other processes of this user from reading this one, which knows the answers.

    `learn check` goes without: there the code is the user's own.
    """
    from grader.worker.isolation import process

    process.refuse_inspection()


# --- the device -------------------------------------------------------------------------------------------------------


def resolve_device(asked: str, arrays: str) -> str:
    """Return "cpu" or "cuda"; "auto" takes a GPU where there is one. Imports the array library.

    Must not be called in a process that forks: it may start CUDA. Raises UsageError for a GPU that is not there.
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
    """Describe a device that `resolve_device` returned, and what the array library was built for."""
    if arrays != "torch":
        return f"{device}: this course computes with numpy"
    import torch

    if device == "cuda":
        return f"cuda: {torch.cuda.get_device_name()}, CUDA {torch.version.cuda}"
    built = f"for CUDA {torch.version.cuda}" if torch.version.cuda else "without CUDA"
    return f"{device}: PyTorch is built {built}; no GPU is needed"


def _for_cuda(launcher: Launcher, course: Course) -> Launcher:
    """Return a launcher whose workers may use the GPU; must be called before the first worker is leased."""
    policy = policy_for(course, "cuda")
    if isinstance(launcher, ForkServerLauncher):
        launcher.policy = policy
        return launcher
    launcher.close()
    return SpawnLauncher(course.arrays, policy, course.limits)


# --- ends and interruptions -------------------------------------------------------------------------------------------


def _end(launcher: Launcher, seconds: float) -> None:
    """End all processes. A fork server ends its workers and itself when its line closes; a late one is killed."""
    if isinstance(launcher, ForkServerLauncher):
        launcher.hang_up()
        try:
            launcher.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            launcher.process.kill()
    launcher.close()


@contextmanager
def interruptible(tell: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Ctrl-C always comes out as KeyboardInterrupt: pytest answers it in its own way while it collects.

    So it does, without a word, where it is raised in a callback of the import system, from which nothing can come out;
    at the end of the block, or earlier where whoever waits in it is reached by `tell`, which a signal calls.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came, outer = False, signal.getsignal(signal.SIGINT)

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        tell()
        if callable(outer):
            outer(number, frame)
        raise KeyboardInterrupt

    def hide_interrupt(ignored: sys.UnraisableHookArgs) -> None:
        if not (came and isinstance(ignored.exc_value, KeyboardInterrupt)):
            tell_ignored(ignored)

    before, tell_ignored = signal.signal(signal.SIGINT, interrupt), sys.unraisablehook
    sys.unraisablehook = hide_interrupt
    try:
        yield
    except GeneratorExit:  # Ctrl-C came before the `with` that this is for had begun, and is on its way already
        raise
    except BaseException:
        if came:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = tell_ignored
    if came:
        raise KeyboardInterrupt


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Pause garbage collection during imports: their objects stay, and the search costs a tenth of the time."""
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
