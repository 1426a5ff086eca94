"""Apply the layers of a policy to this process, for good and in the one order that works."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from grader.worker.isolation import drop_privileges, landlock, limits, process
from grader.worker.isolation.policy import LAYERS, NEED_NO_NEW_PRIVILEGES, Policy


def prepare() -> None:
    """Probe the kernel and fill caches, once, in the fork server between its imports and its first fork.

    From here on no process of the same user can inspect this one. A worker may not list the folders that packages
    share, so Python's listing of them is cached here.
    """
    import importlib.util

    from grader.worker.isolation import seccomp

    process.remember_fork_server()
    process.refuse_inspection()
    importlib.util.find_spec("no_such_module_anywhere")  # lists every folder of `sys.path`
    landlock.why_unavailable()
    if os.name == "posix":
        import resource  # noqa: F401  `limits` needs it in every worker
    if not seccomp.why_unavailable():
        seccomp.make_filter(os.getpid())


@dataclass(frozen=True)
class PreparedPolicy:
    """What all workers of one policy share, prepared once before they are forked."""

    rules: int | None  # a descriptor of the Landlock rules
    root_reason: str  # why root cannot switch to the policy's user; "" if it can


def prepare_policy(policy: Policy) -> PreparedPolicy:
    """Open every path of the policy once, which spares each worker about 5 ms. Raises OSError."""
    rules = None
    if "landlock" in policy.layers and not landlock.why_unavailable():
        rules = landlock.make_ruleset(policy.readable)
    root_reason = ""
    if "unprivileged-user" in policy.layers and policy.uid is not None and drop_privileges.is_root():
        root_reason = drop_privileges.why_cannot_switch_to(policy.uid, policy.readable)
    return PreparedPolicy(rules, root_reason)


def apply(policy: Policy, prepared: PreparedPolicy | None = None) -> tuple[str, ...]:
    """Apply the layers to this process for good, once, and return those that are now in force.

    A layer that the platform lacks is left out; the caller decides whether the rest is enough. The caller has closed
    what the worker must not hold, and this process has one thread. It is left in the root folder, and may open files
    for reading only.

    Args:
        policy: What this worker may do.
        prepared: What the fork server prepared for this policy; None prepares it here.

    Raises:
        OSError: A layer exists and fails. The caller ends the process and never runs the learner's code.
    """
    in_force: list[str] = []
    _refuse_threads(policy)
    if "process-group" in policy.layers and os.name == "posix":
        process.detach()
        in_force.append("process-group")
    prepared = prepared or prepare_policy(policy)  # opens paths with the rights that are about to go
    if prepared.rules is not None:
        in_force.append("landlock")
    if "process-group" in in_force:
        os.chdir("/")  # only now: the policy's paths may have been relative
    if "limits" in policy.layers and _apply_limits(policy):
        in_force.append("limits")
    if "unprivileged-user" in policy.layers and _become_unprivileged(policy, prepared.root_reason):
        in_force.append("unprivileged-user")
    in_force += _restrict(policy, prepared.rules)
    return tuple(layer for layer in LAYERS if layer in in_force)


def reasons_unavailable() -> dict[str, str]:
    """Return for each layer "" if it can be had here, else one sentence that says why not. Gives up no right."""
    from grader.worker.isolation import seccomp

    return {
        "process-group": "" if os.name == "posix" else "Windows has no process groups",
        "limits": limits.why_unavailable(),
        "no-new-privileges": "" if process.LINUX else "only Linux has it",
        "landlock": landlock.why_unavailable(),
        "seccomp": seccomp.why_unavailable(),
        "unprivileged-user": drop_privileges.why_unavailable((os.__file__,)),
    }


def _refuse_threads(policy: Policy) -> None:
    """Raise OSError if there is another thread: Landlock and seccomp bind only the calling one."""
    if process.LINUX and set(NEED_NO_NEW_PRIVILEGES) & set(policy.layers) and process.thread_count() != 1:
        raise OSError(errno.EBUSY, "a worker must have one thread when it gives up its rights")


def _apply_limits(policy: Policy) -> bool:
    """Apply the limits that the system has; return True if all that the policy asks for are in force."""
    if os.name != "posix":
        return False
    limits.apply(policy.memory_bytes, policy.cpu_seconds, policy.file_bytes, policy.open_files, policy.processes)
    return policy.memory_bytes is None or not limits.why_unavailable()


def _become_unprivileged(policy: Policy, root_reason: str) -> bool:
    """Switch the user if possible and drop all capabilities; return True if this process is not root."""
    if os.name != "posix":
        return False
    if policy.uid is not None and drop_privileges.is_root() and not root_reason:
        drop_privileges.switch_user(policy.uid)
        if process.LINUX and "process-group" in policy.layers:
            process.die_with_parent()  # the kernel forgets it when the user changes
    drop_privileges.drop_capabilities()
    return not drop_privileges.is_root()


def _restrict(policy: Policy, rules: int | None) -> list[str]:
    """Apply the three layers that only Linux has; return those that are now in force beside Landlock."""
    from grader.worker.isolation import seccomp

    in_force: list[str] = []
    if "no-new-privileges" in policy.layers and process.LINUX:
        process.prctl(process.PR_SET_NO_NEW_PRIVS, 1)  # no program gains a right from its file (set-user-id)
        in_force.append("no-new-privileges")
    if rules is not None:
        landlock.restrict(rules)
    if "seccomp" in policy.layers and not seccomp.why_unavailable():
        seccomp.install(seccomp.make_filter(os.getpid()))
        in_force.append("seccomp")
    return in_force
