"""The layers that a worker puts on itself before it runs a learner's code. Standard library only.

    process-group        its own session; it dies with the fork server, and no process of the same user can look into it
    limits               memory, processor time, size of files, open files, processes and threads
    unprivileged-user    never root, and no capabilities
    no-new-privileges    a program that it starts gains no rights
    landlock             it reads what it must, and writes nowhere else than in its scratch folder
    seccomp              no network, no new processes, no signals to others, and no calls that the list does not know

What the layers cannot give: whatever the fork server has read before the fork, a worker can read too; descriptors that
are open stay usable (close them first, `process.close_from`); and whether a file exists can be found out, unless the
fork server is in a sandbox that does not show it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace

from grader.worker.isolation import drop_privileges, landlock, limits, process

LAYERS = ("process-group", "limits", "no-new-privileges", "landlock", "seccomp", "unprivileged-user")

# The kernel takes these two from a process without rights only after the first.
_NEED_NO_NEW_PRIVILEGES = ("landlock", "seccomp")


def _refuse_unknown(layers: set[str]) -> None:
    unknown = layers - set(LAYERS)
    if unknown:
        raise ValueError(f"no such layer: {', '.join(sorted(unknown))}; there are {', '.join(LAYERS)}")


def left_out(layers: Iterable[str]) -> set[str]:
    """These layers, and those that cannot be had without them. Errors: ValueError for one that is not there."""
    gone = set(layers)
    _refuse_unknown(gone)
    if "no-new-privileges" in gone:
        gone.update(_NEED_NO_NEW_PRIVILEGES)
    return gone


@dataclass(frozen=True)
class Policy:
    """What one worker may do. Bytes, seconds of processor time, paths.

    Errors: ValueError for a layer that is not one, or that is asked for without the one it needs.
    """

    memory_bytes: int | None  # address space beyond what the process has; None: no limit (CUDA reserves huge ranges)
    cpu_seconds: int
    file_bytes: int = 16 << 20
    open_files: int = 64
    processes: int = 256  # and threads, beyond those that the machine has when the worker begins
    readable: tuple[str, ...] = ()  # files, and directories with all below them
    writable: tuple[str, ...] = ()  # must exist; without Landlock nothing is writable
    uid: int | None = None  # when root: the unused uid to become; None: stay, without capabilities
    layers: tuple[str, ...] = LAYERS

    def __post_init__(self) -> None:
        _refuse_unknown(set(self.layers))
        needing = [layer for layer in _NEED_NO_NEW_PRIVILEGES if layer in self.layers]
        if needing and "no-new-privileges" not in self.layers:
            raise ValueError(f"{' and '.join(needing)} cannot be had without no-new-privileges")

    def without(self, *layers: str) -> Policy:
        """The same policy with these layers left out, and with those that cannot be had without them."""
        gone = left_out(layers)
        return replace(self, layers=tuple(layer for layer in self.layers if layer not in gone))


def default_readable(packages: Iterable[str]) -> tuple[str, ...]:
    """What a worker must read to import the standard library and the named top-level packages: see `readable.py`.

    Packages are allowed one by one, never the folder that they share. Errors: ValueError for this program's own.
    """
    from grader.worker.isolation import readable_paths

    return readable_paths.default_readable(packages)


def prepare() -> None:
    """Once, in the fork server, when its imports are done and before it forks: probes the kernel and fills caches.

    From here on no process of the same user may look into this one. A worker may not list the folders that packages
    share, so Python's listing of them is made here.
    """
    from grader.worker.isolation import readable_paths, seccomp

    process.remember_fork_server()
    if process.LINUX:
        process.refuse_inspection()
    readable_paths.fill_import_caches()
    landlock.why_not()
    limits.load()
    if not seccomp.why_not():
        seccomp.program(os.getpid(), writes=False)
        seccomp.program(os.getpid(), writes=True)


@dataclass(frozen=True)
class Foresight:
    """What is the same for every worker of one policy, found out once, before they are forked.

    `rules`: a descriptor of the Landlock rules. `stays_root`: why root cannot become another user, "" if it can.
    """

    rules: int | None
    stays_root: str


def foresee(policy: Policy) -> Foresight:
    """In the fork server: open every path of the policy once, which spares each worker some 5 ms. Errors: OSError."""
    rules = None
    if "landlock" in policy.layers and not landlock.why_not():
        rules = landlock.ruleset(policy.readable, policy.writable)
    changes_user = "unprivileged-user" in policy.layers and policy.uid is not None and drop_privileges.is_root()
    stays_root = (
        drop_privileges.why_not_become(policy.uid, policy.readable) if changes_user and policy.uid is not None else ""
    )
    return Foresight(rules, stays_root)


def apply(policy: Policy, foresight: Foresight | None = None) -> tuple[str, ...]:
    """In the worker, once: puts the layers on this process for good, and returns those that are now in force.

    `foresight` is what the fork server found out for this policy; without it, it is found out here.

    A layer that the platform lacks is left out: the caller decides whether the rest is enough. The caller has closed
    what the worker must not hold, and has this process in one thread. The process is left in the first writable folder,
    or in the root. Without a place to write in, it may open files for reading only.
    Errors: OSError when a layer exists and fails; the caller ends the process and never runs the learner's code.
    """
    on: list[str] = []
    _refuse_threads(policy)
    if "process-group" in policy.layers and os.name == "posix":
        process.detach()
        on.append("process-group")
    foresight = foresight or foresee(policy)  # paths are opened with the rights that are about to go
    if foresight.rules is not None:
        on.append("landlock")
    if "process-group" in on:
        os.chdir(_home(policy))  # only now: the policy's paths may have been relative
    if "limits" in policy.layers and _limit(policy):
        on.append("limits")
    if "unprivileged-user" in policy.layers and _become_unprivileged(policy, foresight.stays_root):
        on.append("unprivileged-user")
    on += _restrict(policy, foresight.rules)
    return tuple(layer for layer in LAYERS if layer in on)


def available() -> dict[str, str]:
    """Each layer with "" if it can be had here, else one sentence that says why not. Gives up nothing."""
    from grader.worker.isolation import seccomp

    only_linux = "" if process.LINUX else "only Linux has it"
    return {
        "process-group": "" if os.name == "posix" else "Windows has no process groups",
        "limits": limits.why_not(),
        "no-new-privileges": only_linux,
        "landlock": landlock.why_not(),
        "seccomp": seccomp.why_not(),
        "unprivileged-user": drop_privileges.why_not((os.__file__,)),
    }


def _refuse_threads(policy: Policy) -> None:
    """Landlock and seccomp bind the thread that asks for them only, so there must be no other."""
    if process.LINUX and set(_NEED_NO_NEW_PRIVILEGES) & set(policy.layers) and process.thread_count() != 1:
        raise OSError(errno.EBUSY, "a worker must have one thread when it gives up its rights")


def _home(policy: Policy) -> str:
    """The folder to be in: the first scratch folder, else the root, where a worker can do nothing."""
    if not policy.writable:
        return "/"
    from pathlib import Path  # late, like all that is slow to import: this package is on the way of light commands

    return next((path for path in policy.writable if Path(path).is_dir()), "/")


def _limit(policy: Policy) -> bool:
    """Puts on the limits that the system has; whether all that the policy asks for are in force."""
    if os.name != "posix":
        return False
    limits.impose(policy.memory_bytes, policy.cpu_seconds, policy.file_bytes, policy.open_files, policy.processes)
    return policy.memory_bytes is None or not limits.why_not()


def _become_unprivileged(policy: Policy, stays_root: str) -> bool:
    """Changes the user where that can be done, and gives up all capabilities; whether this process is root no more."""
    if os.name != "posix":
        return False
    if policy.uid is not None and drop_privileges.is_root() and not stays_root:
        drop_privileges.become(policy.uid)
        if process.LINUX and "process-group" in policy.layers:
            process.die_with_parent()  # the kernel forgets it when the user changes
    drop_privileges.drop_capabilities()
    return not drop_privileges.is_root()


def _restrict(policy: Policy, rules: int | None) -> list[str]:
    """The three that only Linux has, in the one order that works; those that are now in force."""
    from grader.worker.isolation import seccomp

    on: list[str] = []
    if "no-new-privileges" in policy.layers and process.LINUX:
        process.forbid_new_privileges()
        on.append("no-new-privileges")
    if rules is not None:
        landlock.restrict(rules)
    if "seccomp" in policy.layers and not seccomp.why_not():
        seccomp.install(seccomp.program(os.getpid(), writes=bool(policy.writable) and rules is not None))
        on.append("seccomp")
    return on
