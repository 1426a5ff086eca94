"""Describe what one worker may do, and which isolation layers hold it to that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LAYERS = ("process-group", "limits", "no-new-privileges", "landlock", "seccomp", "unprivileged-user")

# The kernel accepts these two from an unprivileged process only after no-new-privileges.
NEED_NO_NEW_PRIVILEGES = ("landlock", "seccomp")


def with_dependents(layers: Iterable[str]) -> set[str]:
    """Add to *layers* those that cannot be had without them. Raises ValueError for an unknown layer."""
    found = set(layers)
    _refuse_unknown(found)
    return found.union(NEED_NO_NEW_PRIVILEGES) if "no-new-privileges" in found else found


def _refuse_unknown(layers: set[str]) -> None:
    unknown = layers - set(LAYERS)
    if unknown:
        raise ValueError(f"no such layer: {', '.join(sorted(unknown))}; there are {', '.join(LAYERS)}")


@dataclass(frozen=True)
class Policy:
    """What one worker may do, in bytes, seconds of processor time and paths.

    Raises:
        ValueError: A layer is unknown, or is asked for without the one it needs.
    """

    memory_bytes: int | None  # address space beyond what the process has; None: no limit (CUDA reserves huge ranges)
    cpu_seconds: int
    file_bytes: int = 16 << 20
    open_files: int = 64
    processes: int = 256  # and threads, beyond those that the machine has when the worker begins
    readable: tuple[str, ...] = ()  # files, and directories with all below them
    uid: int | None = None  # when root: the unused uid to switch to; None: stay, without capabilities
    layers: tuple[str, ...] = LAYERS

    def __post_init__(self) -> None:
        _refuse_unknown(set(self.layers))
        needing = [layer for layer in NEED_NO_NEW_PRIVILEGES if layer in self.layers]
        if needing and "no-new-privileges" not in self.layers:
            raise ValueError(f"{' and '.join(needing)} cannot be had without no-new-privileges")
