"""What a module may have left behind in its process, so that the next lesson of the same learner can be run there.

In a batch one worker serves all lessons of a learner while each leaves the process as it found it: a fork saved is a
tenth of the cost of a lesson. A lesson that changed anything on this list is followed by a fresh process, so that
a verdict does not depend on which lessons were graded before. It guards against accidents: what this process says of
itself is the learner's to say, so the judge shares it only where no source can change more than its own (`tame.py` of
the judge), and then what it says is true.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from typing import Any, NamedTuple

WATCHED = ("builtins", "math", "random", "numpy", "torch", "torch.nn", "torch.nn.functional", "torch.nn.init")
WATCHED_CLASSES = (
    ("torch", "Tensor"), ("torch.nn", "Parameter"), ("torch.nn", "Module"), ("torch.nn", "Linear"),
    ("torch.nn", "LayerNorm"),
)  # fmt: skip

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
            state[name] = _names_in(sys.modules[name])
    state["classes"] = [
        {key: id(value) for key, value in vars(getattr(sys.modules[module], name)).items()}
        for module, name in WATCHED_CLASSES
        if module in sys.modules
    ]
    if "numpy" in sys.modules:
        state["numpy errors"] = sys.modules["numpy"].geterr()
    return state | _of_torch()


class Names(NamedTuple):
    """What a module or a class holds: its names, and what each of them means."""

    names: tuple[str, ...]
    identities: tuple[int, ...]


def _names_in(holder: Any) -> Names:
    return Names(tuple(vars(holder)), tuple(map(id, vars(holder).values())))


def _of_torch() -> Footprint:
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


def unchanged(before: Footprint, now: Footprint) -> bool:
    """Whether everything that was there is there still. Names that imports have added since do not count."""
    for key, value in before.items():
        if now[key] == value:
            continue
        if not isinstance(value, Names):
            return False
        known = dict(zip(*now[key], strict=True))
        if any(known.get(name) != identity for name, identity in zip(*value, strict=True)):
            return False
    return True
