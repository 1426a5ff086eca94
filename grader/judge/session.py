"""From courses and submissions to verdicts: choose the device and the protection, start the workers, judge, end all.

Light to import. What is slow, torch and pytest, is imported by `with_workers` once the parent of the workers has
started, so that both processes import at the same time.
"""

from __future__ import annotations

import gc
import json
import math
import os
import secrets
import signal
import socket
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.judge.launch import Launcher, SpawnLauncher, ZygoteLauncher, library_paths, start_launcher
from grader.model import Course, Lesson, LessonResult, Submission

if TYPE_CHECKING:
    from grader.judge.examine import Judge

DEVICES = ("auto", "cpu", "cuda")
PATIENCE, HASTE = 5.0, 0.3  # seconds for the zygote to end, after work and after Ctrl-C: it may still be importing
NOBODY = 65534  # whom a worker becomes when the judge is root
LARGEST_POLICY = 60_000  # bytes; the zygote reads a job of at most 64 kB

# What torch and numpy import late; named one by one where there are too many packages to allow all.
FEWEST_PACKAGES = (
    "torch", "torchgen", "functorch", "triton", "nvidia", "numpy", "typing_extensions", "sympy", "mpmath", "networkx",
    "jinja2", "markupsafe", "filelock", "fsspec", "setuptools", "packaging",
)  # fmt: skip

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
    on_result: Callable[[LessonResult], None],
) -> None:
    """Judge each job in a fresh worker and hand every verdict to `on_result` as soon as it is known.

    Raises UsageError for a device that is not there, GraderError if our own machinery fails, KeyboardInterrupt on
    Ctrl-C; no process is left behind in any case.
    """
    lessons = list({lesson.name: lesson for lesson, _, _ in jobs}.values())
    if not lessons:
        return

    def drive(judge: Judge) -> None:
        for lesson, submission, hints_used in jobs:
            on_result(judge.examine(lesson, submission, seed, hints_used))

    judge_with(course, lessons, drive, device=device)


def judge_with(
    course: Course, lessons: Iterable[Lesson], drive: Callable[[Judge], None], *, device: str = "auto"
) -> None:
    """Call `drive(judge)` with a judge that can examine `lessons`, on the device asked for. Raises as `drive` does."""
    with with_workers(course, device) as (launcher, found):
        with _without_collections():
            from grader.judge.examine import with_judge  # not before the launcher has started: it imports pytest
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a known mistake may make torch warn: not of anything the learner wrote
            with_judge(course, lessons, launcher, found, drive)


@contextmanager
def with_workers(course: Course, device: str = "auto") -> Iterator[tuple[Launcher, str]]:
    """A launcher and the device ("cpu" or "cuda") its workers are for. All processes end with the context."""
    launcher = start_launcher(course.arrays, policy_for(course, "cpu"), course.limits)
    try:
        with _interruptible():
            with _without_collections():
                found = resolve_device(device, course.arrays)
            if found == "cuda":
                launcher = _for_cuda(launcher, course)
            yield launcher, found
    except BaseException:
        _end(launcher, HASTE)
        raise
    _end(launcher, PATIENCE)


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
    if isinstance(launcher, ZygoteLauncher):
        launcher.policy = policy
        return launcher
    launcher.close()
    return SpawnLauncher(course.arrays, policy, course.limits)


# --- the protection ---------------------------------------------------------------------------------------------------


def policy_for(course: Course, device: str) -> dict[str, Any]:
    """The policy of a worker, as `isolation.Policy` takes it: all layers that this machine has.

    CUDA opens devices, reserves great ranges of memory and starts threads, so there the file and system call filters
    and the memory limit are left out.
    """
    from grader.worker.isolation import LAYERS

    limits = course.limits
    policy: dict[str, Any] = {
        "memory_bytes": limits.memory_mb << 20 if device == "cpu" else None,
        "cpu_seconds": math.ceil(limits.total_seconds),
        "open_files": 64 if device == "cpu" else 1024,  # the driver opens many
        "uid": NOBODY if hasattr(os, "geteuid") and os.geteuid() == 0 else None,
        "layers": [layer for layer in LAYERS if device == "cpu" or layer not in ("landlock", "seccomp")],
    }
    return policy | {"readable": _readable(course.root, room=LARGEST_POLICY - len(json.dumps(policy)))}


def tried_layers(course: Course) -> dict[str, tuple[str, str]]:
    """Each layer of the protection: why it cannot be had here, and what got through when it was tried.

    Both are "" where it holds. Call it before torch is imported: it forks.
    """
    from grader.worker.isolation import Policy, available, prove

    policy = policy_for(course, "cpu")
    lists: dict[str, Any] = {key: tuple(policy.pop(key)) for key in ("readable", "layers")}
    reasons, found = available(), prove(Policy(**policy, **lists))
    return {layer: (reason, "" if reason else found[layer]) for layer, reason in reasons.items()}


def _readable(course_root: Path, room: int) -> list[str]:
    """What a worker may read: the standard library and every installed package, one by one, except our own."""
    from grader.worker.isolation import default_readable

    wide = [*default_readable(()), *_installed(course_root)]
    return wide if len(json.dumps(wide)) <= room else list(default_readable(FEWEST_PACKAGES))


def _installed(course_root: Path) -> Iterator[str]:
    """Each importable thing in the library folders by its own path, never a folder that also holds the answers."""
    here = Path(os.__file__).parent  # the standard library, which is allowed already
    # not the course's folder as a whole: in a checkout the virtual environment often lies in it
    answers = ((course_root / "solutions").resolve(), Path(__file__).resolve().parents[1])
    for folder in map(Path, library_paths()):
        if folder == here or folder.parent == here or not folder.is_dir():
            continue
        for entry in sorted(folder.iterdir()):
            if not _is_ours(entry, answers) and entry.suffix not in (
                ".dist-info",
                ".egg-info",
                ".pth",
                ".egg-link",
            ):
                yield str(entry)


def _is_ours(entry: Path, answers: tuple[Path, ...]) -> bool:
    """Whether the engine or the course's answers lie in there, or it lies in them; links are followed."""
    if entry.name.lower().startswith(("grader", "selfattend", "__editable__")):
        return True
    real = entry.resolve()
    return any(real.is_relative_to(folder) or folder.is_relative_to(real) for folder in answers)


# --- ends and interruptions -------------------------------------------------------------------------------------------


def _end(launcher: Launcher, patience: float) -> None:
    """End all processes. A zygote ends its workers and itself when it hears no more; one that is late is killed."""
    if isinstance(launcher, ZygoteLauncher):
        with suppress(OSError):  # it has died already
            launcher.control.shutdown(socket.SHUT_WR)
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
