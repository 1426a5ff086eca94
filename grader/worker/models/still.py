"""Call a function with its dropout switched off: nothing is drawn, and what goes in comes out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def without_dropout(stilled: list[str]) -> Iterator[None]:
    """Let torch's dropout change nothing; the name of each that would have is appended to *stilled*."""
    if "torch" not in sys.modules:
        yield
        return
    with _mode()(stilled):
        yield


@cache
def _mode() -> Any:
    """Define the mode late: torch is imported only where it is used."""
    from torch.overrides import TorchFunctionMode

    class WithoutDropout(TorchFunctionMode):
        def __init__(self, stilled: list[str]) -> None:
            super().__init__()
            self.stilled = stilled

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name, kwargs = getattr(func, "__name__", ""), dict(kwargs or {})
            if kwargs.get("dropout_p"):
                self.stilled.append(name)
                kwargs["dropout_p"] = 0.0
            elif "dropout" in name and _is_active(args, kwargs):
                self.stilled.append(name)
                return args[0] if args else kwargs["input"]
            return func(*args, **kwargs)

    return WithoutDropout


def _is_active(args: Any, kwargs: Any) -> Any:
    """Return whether a call `dropout(input, p, training)` would change its input."""
    training = kwargs.get("training", kwargs.get("train", args[2] if len(args) > 2 else True))
    return training and kwargs.get("p", args[1] if len(args) > 1 else 0.5)
