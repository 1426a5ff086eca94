"""Import the array library as cheaply as it can be had, in a process that may fork or put on limits afterwards."""

from __future__ import annotations

import contextlib
import functools
from typing import Any


def import_arrays(arrays: str) -> None:
    """Import numpy, and torch if the course uses it; nothing here starts a thread or runs an operation."""
    import random  # noqa: F401  the learner's code may want it: cheaper before the fork
    import tempfile

    import numpy.random

    numpy.random.seed(0)  # a worker seeds it again; here so that what this imports is there before the fork

    # a worker may have nowhere to write; modules that only ask for the folder must import all the same
    tempfile.tempdir = "/tmp"
    if arrays == "torch":
        import torch
        import torch.overrides
        import torch.utils._python_dispatch

        torch.backends.cpu.get_cpu_capability()  # reads /proc/cpuinfo while it can
        torch.manual_seed(0)  # as above; starts no device
        with contextlib.suppress(ImportError):
            import torch.profiler._cupti_monitor  # else at the first step of an optimizer; newer torch only
        from grader.worker import call_monitor

        call_monitor.operators()  # the list of their names, 2 ms
        settle_torch()


def settle_torch() -> None:
    """Make torch quick on tiny tensors: one thread (waking a second costs milliseconds), and no compiler."""
    import torch

    torch.set_num_threads(1)
    _keep_compiler_out()


def _keep_compiler_out() -> None:
    """Let optimizers be made and take steps without importing torch's compiler.

    The first `torch.optim.SGD(...)` imports `torch._dynamo` (0.8 s, 800 modules), only to tell it to leave some methods
    alone; each `step` asks it to break a graph that is not there. Where it has not been imported there is nothing to
    tell. Where torch has changed and this finds nothing to do, all works as before, slower.
    """
    import torch

    for method in vars(torch.optim.Optimizer).values():
        plain: Any = getattr(method, "__wrapped__", None)
        if plain is not None and _made_in(method, "_compile.py"):
            plain.__dynamo_disable = plain
    for found in vars(torch.optim).values():
        step: Any = getattr(found, "step", None)
        if isinstance(found, type) and _made_in(step, "optimizer.py") and hasattr(step, "__wrapped__"):
            found.step = _step_without_gradients(step.__wrapped__)  # type: ignore[attr-defined]


def _made_in(function: Any, filename: str) -> bool:
    """Whether a wrapper was made by a decorator of that file of torch."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.endswith(filename)


def _step_without_gradients(step: Any) -> Any:
    """What torch's own decorator does, without the compiler: gradients only for a differentiable optimizer."""
    import torch

    @functools.wraps(step)
    def plain_step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return plain_step
