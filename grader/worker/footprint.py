"""What a module may have left behind in its process, so that the next lesson of the same learner can be run there.

In a batch one worker serves all lessons of a learner while each leaves the process as it found it: a fork saved is a
tenth of the cost of a lesson. A lesson that changed anything on this list is followed by a fresh process, so that
a verdict does not depend on which lessons were graded before. It guards against accidents: the process is the
learner's own, and whoever deceives this list deceives their own next lesson.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from typing import Any

WATCHED = ("builtins", "math", "random", "numpy", "torch", "torch.nn", "torch.nn.functional", "torch.nn.init")
WATCHED_CLASSES = (("torch", "Tensor"), ("torch.nn", "Module"), ("torch.nn", "Linear"), ("torch.nn", "LayerNorm"))

Footprint = dict[str, Any]


def footprint() -> Footprint:
    """The state of the process that code commonly changes, in a form to be compared."""
    state: Footprint = {
        "threads": threading.active_count(),
        "streams": [id(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "hooks": [sys.gettrace(), sys.getprofile(), sys.excepthook, sys.displayhook, sys.getrecursionlimit()],
        "signals": [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM, signal.SIGTERM)],
        "warnings": [id(warnings.showwarning), [tuple(map(str, entry)) for entry in warnings.filters]],
        "environment": dict(os.environ),
    }
    for name in WATCHED:
        if name in sys.modules:
            state[name] = {key: id(value) for key, value in vars(sys.modules[name]).items()}
    for module, name in WATCHED_CLASSES:
        if module in sys.modules:
            state[f"{module}.{name}"] = {
                key: id(value) for key, value in vars(getattr(sys.modules[module], name)).items()
            }
    if "numpy" in sys.modules:
        state["numpy errors"] = sys.modules["numpy"].geterr()
    return state | _of_torch()


def _of_torch() -> Footprint:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return {}
    return {
        "dtype": torch.get_default_dtype(),
        "modes": [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_num_threads()],
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "precision": torch.get_float32_matmul_precision(),
    }


def unchanged(before: Footprint, now: Footprint) -> bool:
    """Whether everything that was there is there still. Names that imports have added since do not count."""
    for key, value in before.items():
        if isinstance(value, dict) and key not in ("environment", "numpy errors"):
            if any(now[key].get(name) != identity for name, identity in value.items()):
                return False
        elif now[key] != value:
            return False
    return True
