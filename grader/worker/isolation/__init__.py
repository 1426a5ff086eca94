"""Isolation layers that a worker applies to itself before it runs a learner's code. Standard library only.

    process-group        its own session; it dies with the fork server, and no process of its user can inspect it
    limits               memory, processor time, size of files, open files, processes and threads
    unprivileged-user    never root, and no capabilities
    no-new-privileges    a program that it starts gains no rights
    landlock             it reads only what it must, and writes nothing
    seccomp              no network, no new processes or threads, no signals to others, only listed system calls

What the layers cannot give: a worker can read whatever the fork server has read before the fork; open descriptors stay
usable (close them first); and whether a file exists can be found out, unless the fork server is
in a sandbox that hides it.
"""

from grader.worker.isolation.layers import PreparedPolicy, apply, prepare, prepare_policy, reasons_unavailable
from grader.worker.isolation.policy import LAYERS, Policy, with_dependents

__all__ = [
    "LAYERS",
    "Policy",
    "PreparedPolicy",
    "apply",
    "prepare",
    "prepare_policy",
    "reasons_unavailable",
    "with_dependents",
]
