"""The isolation layers around a learner's code: which a policy asks for, and which are too few.

`LAYERS` is the one place where the layers are described; `doctor` and the documentation show it. How each is put on is
in `grader.worker.isolation` and in `bubblewrap.py`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import CourseError, IsolationError, UsageError
from grader.files import resolved
from grader.judge.processes.launcher import Accept, accept_any, library_paths
from grader.model import Course


@dataclass(frozen=True)
class Layer:
    """One layer: its name in results, what it is, what it stops, where it exists, and how `doctor` tests it."""

    name: str
    what: str
    stops: str
    where: str
    tries: str


LAYERS = (
    Layer(
        "process-group",
        "A process of its own; only plain data crosses, checked by size, type and shape",
        "a forged verdict, a crash or a hang that takes the grader along, outliving the run, a look into another "
        "process of the same user",
        "everywhere; dying with the grader and closed memory on Linux",
        "staying in our session, outliving us, showing its memory",
    ),
    Layer(
        "limits",
        "Limits of wall clock, processor time, memory, processes and threads, open files, size of a file, output",
        "endless loops, bombs of memory, forks and threads, full disks, floods of output",
        "Linux (the one for processes does not bind root); macOS without the one for memory; Windows: wall clock and "
        "output",
        "taking more memory, open files and threads than allowed",
    ),
    Layer(
        "no-new-privileges",
        "No program that it might start gains rights",
        "`sudo` and other set-user-id programs",
        "Linux",
        "gaining rights by a program that it starts",
    ),
    Layer(
        "unprivileged-user",
        "Never root, no capabilities",
        "what only root may do",
        "an ordinary user is one already; of root it becomes nobody, where nobody can reach Python, or in bubblewrap",
        "being root, becoming root, changing its root folder",
    ),
    Layer(
        "landlock",
        "Reads Python and its packages; writes nothing",
        "reading answers, hidden checks, other submissions, your home; writing anywhere",
        "Linux 5.13 and later; needs no root; holds in Docker, Podman and Kubernetes as they come",
        "reading a file, listing a folder, writing a file",
    ),
    Layer(
        "seccomp",
        "Only the system calls on a list, some by their arguments",
        "networks of every kind, new processes and threads, programs, signals to others, handlers of signals, tracing, "
        "most doors of the kernel",
        "Linux on x86-64 and aarch64; needs no root; holds in Docker, Podman and Kubernetes as they come",
        "reaching us by TCP, UDP and local sockets, forking, starting a program, signalling its parent and us",
    ),
    Layer(
        "namespaces",
        "bubblewrap: a machine of its own, with the few files it must read, no network and no other process",
        "finding out that a file exists, networks, seeing and signalling other processes",
        "`grader run` on Linux with bubblewrap; not in Docker as it comes; Ubuntu 24.04 and later need "
        "an AppArmor profile for it",
        "finding a file, writing one, reaching us by TCP and local sockets, seeing other processes",
    ),
    Layer(
        "container",
        "The whole grader in Docker, Podman or Kubernetes",
        "what gets through all others but not through the kernel; memory and processes of the whole run",
        "where you start the grader in one",
        "nothing; it is only looked for",
    ),
)

# How much isolation a caller asks for.
ON_TRUST = ("process", "process-as-root")
ISOLATION = ("required", "available", *ON_TRUST)
NOT_WITH_PROCESS = ("landlock", "seccomp")
NOT_WITH_CUDA = ("landlock", "seccomp")
# Either of each will do.
FILE_SYSTEM, NETWORK = ("landlock", "namespaces"), ("seccomp", "namespaces")

_TRUSTED = "--isolation process, if you trust the code"


# --- what a policy asks for -------------------------------------------------------------------------------------------


def policy_for(course: Course, device: str, without: Iterable[str] = ()) -> dict[str, Any]:
    """Return a worker's policy, as `isolation.Policy` takes it: all layers that this machine has.

    `without`: layers to leave out, and with them those that cannot be had without them.
    CUDA opens devices, reserves great ranges of memory and starts threads, so there the file and system call filters
    and the memory limit are left out.
    """
    from grader.worker import isolation
    from grader.worker.isolation import drop_privileges

    gone = isolation.with_dependents([*without, *(NOT_WITH_CUDA if device == "cuda" else ())])
    limits = course.limits
    policy: dict[str, Any] = {
        "memory_bytes": limits.memory_mb << 20 if device == "cpu" else None,
        "cpu_seconds": math.ceil(limits.total_seconds),
        "open_files": 64 if device == "cpu" else 1024,  # the driver opens many
        "uid": drop_privileges.NOBODY if drop_privileges.is_root() else None,
        "layers": [layer for layer in isolation.LAYERS if layer not in gone],
    }
    return policy | {"readable": _readable(course)}


def left_out_by(isolation: str) -> tuple[str, ...]:
    """Return the layers that an isolation level leaves out.

    Raises UsageError for an unknown level, and for "process" as root.
    """
    from grader.worker.isolation import drop_privileges

    if isolation not in ISOLATION:
        raise UsageError(f"there is no isolation {isolation!r}", next_step=f"one of {', '.join(ISOLATION)}")
    if isolation == "process" and drop_privileges.is_root():
        what = "you are root here, and --isolation process keeps code from nothing that root may do"
        next_step = "grade as an ordinary user; or add --as-root, if you trust the code with this whole machine"
        raise UsageError(what, next_step=next_step)
    return NOT_WITH_PROCESS if isolation in ON_TRUST else ()


# --- what is too little -----------------------------------------------------------------------------------------------


def accept_for(isolation: str) -> Accept:
    """Return what a launcher calls with a worker's layers; it raises IsolationError if they are too few."""
    return _require_isolation if isolation == "required" else accept_any


def lacking(layers: Iterable[str]) -> tuple[str, ...]:
    """Return the kinds of isolation that these layers do not give."""
    kinds = {"from the file system": FILE_SYSTEM, "from the network": NETWORK}
    in_force = set(layers)
    return tuple(kind for kind, either in kinds.items() if not in_force & set(either))


def _require_isolation(layers: tuple[str, ...]) -> None:
    missing = lacking(layers)
    if missing:
        reasons = reasons_missing()
        why = [f"{name}: {reasons[name]}" for name in dict.fromkeys((*FILE_SYSTEM, *NETWORK)) if reasons[name]]
        because = "; ".join(why) or "the layers for it are left out"
        raise IsolationError(
            f"A learner's code cannot be isolated here {' and '.join(missing)} ({because}).",
            next_step=f"grade on Linux or in a container; `grader doctor` shows what works here. Or {_TRUSTED}",
        )


def no_isolation_on_gpu() -> IsolationError:
    """Make the error for required isolation on a GPU, where no layer has been shown to hold."""
    return IsolationError(
        "On a GPU a learner's code cannot be isolated from the file system and the network: the driver needs devices "
        "and system calls that the filters refuse.",
        next_step=f"--device cpu. Or {_TRUSTED}",
    )


def reasons_missing() -> dict[str, str]:
    """Return why each layer is not available here; "" if it seems to be, without trying it."""
    from grader.judge.processes import bubblewrap
    from grader.worker.isolation import reasons_unavailable

    return {
        **reasons_unavailable(),
        "namespaces": bubblewrap.why_not(),
        "container": "" if in_container() else "not in one",
    }


def in_container() -> str:
    """Return the kind of container that this runs in; "" if there is no sign of one."""
    signs: Mapping[str, bool] = {
        "Kubernetes": "KUBERNETES_SERVICE_HOST" in os.environ,
        "Podman": Path("/run/.containerenv").exists(),
        "Docker": Path("/.dockerenv").exists(),
        "a container": "container" in os.environ,
    }
    return next((kind for kind, seen in signs.items() if seen), "")


# --- what a worker may read -------------------------------------------------------------------------------------------


def shown_packages(course: Course) -> tuple[str, ...]:
    """Return the packages that a worker may import, by the names that pip knows; beside them, what they need."""
    return (*(("torch", "numpy") if course.arrays == "torch" else ("numpy",)), *course.packages)


def _readable(course: Course) -> list[str]:
    """Return what a worker may read; never a folder that also holds the answers. Raises CourseError."""
    from grader.worker.isolation.readable_paths import default_readable

    try:
        found = default_readable(shown_packages(course), library_paths())
    except ValueError as error:
        raise CourseError(str(error), where=str(course.root / "course.toml"), next_step='correct "packages"') from None
    # not the course's folder as a whole: in a checkout the virtual environment often lies in it
    answers = [f"{resolved(folder)}{os.sep}" for folder in (course.root / "solutions", Path(__file__).parents[2])]
    return [path for path in found if not _holds_answers(f"{resolved(Path(path))}{os.sep}", answers)]


def _holds_answers(path: str, answers: list[str]) -> bool:
    return any(path.startswith(folder) or folder.startswith(path) for folder in answers)
