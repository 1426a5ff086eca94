"""Compare the process before and after a module ran, to decide whether the next lesson may run in it too.

In a batch one worker serves all lessons of a learner while each leaves the process as it found it: a fork saved is a
tenth of the cost of a lesson. A lesson that changed anything listed here is followed by a fresh process, so that
a verdict does not depend on which lessons were graded before. This guards against accidents only: the worker reports
its own state, and the judge shares a worker only where static analysis found no side effects.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from itertools import repeat
from operator import is_
from typing import Any

WATCHED_MODULES = ("builtins", "math", "random", "numpy", "torch", "torch.nn", "torch.nn.functional", "torch.nn.init")
WATCHED_CLASSES = ("torch.Tensor", "torch.nn.Parameter", "torch.nn.Module", "torch.nn.Linear", "torch.nn.LayerNorm")

ProcessState = dict[str, Any]
_MISSING = object()


def read_process_state() -> ProcessState:
    """Return the state of the process that code commonly changes, in a form to be compared."""
    state: ProcessState = {
        "threads": threading.active_count(),
        "streams": [id(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "hooks": [sys.gettrace(), sys.getprofile(), sys.excepthook, sys.displayhook, sys.getrecursionlimit()],
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM, signal.SIGTERM)],
        "warnings": [id(warnings.showwarning), list(warnings.filters)],
        "environment": dict(os.environ),
    }
    for name in WATCHED_MODULES:
        if name in sys.modules:
            state[name] = dict(vars(sys.modules[name]))
    for module, _, name in (path.rpartition(".") for path in WATCHED_CLASSES):
        if module in sys.modules:
            state[f"class {name}"] = dict(vars(vars(sys.modules[module])[name]))
    if "numpy" in sys.modules:
        state["numpy errors"] = sys.modules["numpy"].geterr()
    return state | _read_torch_state()


def _read_torch_state() -> ProcessState:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return {}
    return {
        "dtype": torch.get_default_dtype(),
        "modes": [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_num_threads()],
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "precision": torch.get_float32_matmul_precision(),
        "autocast": [torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")],
        "function modes": torch._C._len_torch_function_stack(),  # a default device is one of them
    }


def is_unchanged(before: ProcessState, now: ProcessState) -> bool:
    """Return True if everything in *before* is in *now*. Names that imports have added to a module do not count."""
    for key, value in before.items():
        if key in WATCHED_MODULES or key.startswith("class "):
            grown = key not in WATCHED_MODULES and len(now[key]) != len(value)
            # never by `==`, which a learner's object may define
            if grown or not all(map(is_, value.values(), map(now[key].get, value, repeat(_MISSING)))):
                return False
        elif now[key] != value:
            return False
    return True
