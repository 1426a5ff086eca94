"""A sandbox of bubblewrap round code that runs hostile submissions where the engine isolates them from nothing.

Without the engine's own layers such a submission could read, change and end whatever the tests can. In here it sees the
machine's files read-only, an empty /tmp, no network, and no process but those of its own test.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SECONDS = 240
ON_TRUST = "process" if os.name != "posix" or os.geteuid() else "process-as-root"

# Root keeps what workers need to give up root, and nothing that could undo the sandbox.
_AS_ROOT = ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_KILL")
_SEEN = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp")
# what a checkout in /tmp would hide of itself: the tests, and the environment that they run in
_OURS = [part for path in (TESTS.parent, Path(sys.prefix)) for part in ("--ro-bind", str(path), str(path))]
_NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session")


def run(code: str, seconds: float = SECONDS) -> str:
    """Run Python code in the sandbox, where it can import what tests can, and return what it printed."""
    from grader.judge.processes import bubblewrap

    if reason := bubblewrap.why_not():
        pytest.skip(f"needs bubblewrap, round hostile code that nothing else isolates: {reason}")
    rights = _AS_ROOT if os.geteuid() == 0 else ("--unshare-user",)
    python = [sys.executable, "-P", "-c", f"import sys; sys.path[:0] = {[str(TESTS), str(TESTS.parent)]}; {code}"]
    done = subprocess.run(
        ["bwrap", *_NAMESPACES, *rights, *_SEEN, *_OURS, "--", *python],
        env={**os.environ, "TMPDIR": "/tmp"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def require() -> None:
    """Raise RuntimeError outside of such a sandbox, before any hostile code runs."""
    read_only = os.statvfs("/").f_flag & os.ST_RDONLY
    if not read_only or len(Path("/proc/net/dev").read_text().splitlines()) > 3:  # two lines of head, and the loopback
        raise RuntimeError("hostile code that nothing isolates may run in the outer sandbox only: outer_sandbox.run")
