"""Notice a forbidden call when it runs, whatever name it was called by.

torch tells a function mode of every call into it from Python: `F.softmax`, `x.softmax`, an alias of either, and the
operator itself (`torch.ops.aten._softmax`). numpy has no such hook: there the interpreter's profiler sees the calls
that the learner's own code makes into numpy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any


class ForbiddenCall(BaseException):
    """Raised inside the learner's call. Not an `Exception`, so that a broad `except` does not hide it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@lru_cache(maxsize=4096)  # an exercise calls the same few dozen functions again and again
def matches(name: str, forbids: tuple[str, ...]) -> str | None:
    """The entry of `forbids` that `name` falls under: `_softmax_backward_data` falls under `softmax`."""
    base = name.partition(".")[0].lstrip("_").removesuffix("_")
    for entry in forbids:
        if base == entry or base.startswith(entry + "_"):
            return entry
    return None


def watch(forbids: tuple[str, ...], seen: list[str]) -> AbstractContextManager[None]:
    """A context in which calling one of `forbids` raises ForbiddenCall and is noted in `seen`."""
    if not forbids:
        return nullcontext()
    return _watching(forbids, seen) if "torch" in sys.modules else _watching_numpy(forbids, seen)


@contextmanager
def _watching(forbids: tuple[str, ...], seen: list[str]) -> Iterator[None]:
    def refuse(name: str) -> None:
        entry = matches(name, forbids)
        if entry is not None:
            seen.append(entry)
            raise ForbiddenCall(entry)

    with _mode()(refuse):
        yield


@contextmanager
def _watching_numpy(forbids: tuple[str, ...], seen: list[str]) -> Iterator[None]:
    def profile(frame: Any, event: str, called: Any) -> None:
        name = _called_in_numpy(frame, event, called)
        entry = matches(name, forbids) if name else None
        if entry is not None:
            seen.append(entry)
            raise ForbiddenCall(entry)

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


def _called_in_numpy(frame: Any, event: str, called: Any) -> str:
    """The name of what numpy is asked for from outside of it; what numpy then calls for itself does not count."""
    if event == "call":
        asked = _of_numpy(frame.f_globals.get("__name__")) and frame.f_back is not None
        return frame.f_code.co_name if asked and not _of_numpy(frame.f_back.f_globals.get("__name__")) else ""
    if event != "c_call" or _of_numpy(frame.f_globals.get("__name__")):
        return ""
    owner = getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
    return getattr(called, "__name__", "") if _of_numpy(owner) else ""


def _of_numpy(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


_MODE: Any = None


def _mode() -> Any:
    """The mode's class, made once: torch is imported only where it is used."""
    global _MODE  # the class cannot be defined before torch is there
    if _MODE is None:
        from torch.overrides import TorchFunctionMode

        class FunctionWatch(TorchFunctionMode):
            def __init__(self, refuse: Callable[[str], None]) -> None:
                super().__init__()
                self.refuse = refuse

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                self.refuse(getattr(func, "__name__", ""))
                return func(*args, **(kwargs or {}))

        _MODE = FunctionWatch
    return _MODE
