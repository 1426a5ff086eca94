"""
tries = "to signal, starve and slow down the judge, the fork server, its siblings and a bystander"
entry = "signals and ptrace to parent, fork server and siblings"
lesson = "argmax_2d"
state = "graded"
score = 10.0
prints = "looked"
beside = ["recon.py"]
"""

# With layers left out some of this gets through: so only what does no harm, signal 0 and one that is ignored.
import fcntl
import os
import resource
import signal
import socket
import time

from recon import attempt, done, near

FACTS = {}
PROBE = (0, signal.SIGURG)


def wake_by_io(pid):
    """Have the kernel send SIGURG, which the bystander notes, when there is something to read."""
    left, right = socket.socketpair()
    fcntl.fcntl(left, fcntl.F_SETOWN, pid)
    fcntl.fcntl(left, 10, signal.SIGURG)
    fcntl.fcntl(left, fcntl.F_SETFL, os.O_ASYNC)
    return right.send(b"x")


def signal_one_beside():
    """The worker that waits beside it may not have given up its rights yet: it is tried for a while."""
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        for pid in near():
            try:
                os.kill(pid, 0)
            except OSError:
                continue
            return True
    return False


for who in ("judge", "fork_server", "victim"):
    pid = FACTS[who]
    for number in PROBE:
        attempt("signal another process", lambda pid=pid, number=number: os.kill(pid, number) is None)
        attempt("signal another process", lambda pid=pid, number=number: os.killpg(pid, number) is None)
        attempt("signal another process", lambda pid=pid, number=number: done(234, pid, pid, int(number)))
        attempt("signal another process", lambda pid=pid, number=number: signal.pidfd_send_signal(os.pidfd_open(pid), number) is None)
    attempt(f"have the {who} signalled", lambda pid=pid: wake_by_io(pid) and False)  # the bystander would tell
    attempt("ask for the limits of another process", lambda pid=pid: resource.prlimit(pid, resource.RLIMIT_NOFILE))
    attempt("set the limits of another process", lambda pid=pid: resource.prlimit(
        pid, resource.RLIMIT_CORE, resource.prlimit(pid, resource.RLIMIT_CORE)) is not None)
    attempt("slow down another process", lambda pid=pid: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)) is None)
    attempt("move another process", lambda pid=pid: os.sched_setaffinity(pid, os.sched_getaffinity(pid)) is None)
    attempt("schedule another process", lambda pid=pid: os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0)) is None)
    attempt("slow down the disk for another process", lambda pid=pid: done(251, 1, pid, 2 << 13 | 4))
attempt("signal another process", signal_one_beside)
attempt("be nicer to itself", lambda: os.nice(-5))
print("looked")


def argmax_2d(grid):
    return divmod(int(grid.argmax()), grid.shape[1])
