"""Detect and refuse a forbidden call while it runs, under whatever name it was called.

torch reports every call from Python to a function mode: `F.softmax`, `x.softmax`, an alias of either, and the operator
itself (`torch.ops.aten._softmax`). A mode covers one thread, and nothing inside the calls that it lets through. So the
operators are blocked too, for the whole process: in other threads, in traced code, with torch's modes switched off.
numpy has no such hooks; there the interpreter's profiler sees the calls from the learner's code into numpy.
"""

from __future__ import annotations

import bisect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache, lru_cache
from typing import Any


class ForbiddenCall(BaseException):
    """Raised inside the learner's call. No `Exception`, so that a broad `except` does not hide it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@lru_cache(maxsize=4096)  # an exercise calls the same few dozen functions again and again
def matches(name: str, forbids: tuple[str, ...]) -> str | None:
    """Return the entry of *forbids* that *name* belongs to: `_softmax_backward_data` belongs to `softmax`."""
    base = _base_name(name)
    for entry in forbids:
        if base == entry or base.startswith(entry + "_"):
            return entry
    return None


def _base_name(name: str) -> str:
    return name.partition(".")[0].lstrip("_").removesuffix("_")


def watch(forbids: tuple[str, ...], seen: list[str]) -> AbstractContextManager[None]:
    """Return a context in which calling one of *forbids* raises ForbiddenCall and is appended to *seen*."""

    def refuse(name: str) -> None:
        entry = matches(name, forbids)
        if entry is not None:
            seen.append(entry)
            raise ForbiddenCall(entry)

    if not forbids:
        return nullcontext()
    return _function_mode()(refuse) if "torch" in sys.modules else _profile_numpy(refuse)


@contextmanager
def _profile_numpy(refuse: Callable[[str], None]) -> Iterator[None]:
    def profile(frame: Any, event: str, called: Any) -> None:
        name = _called_in_numpy(frame, event, called)
        if name:
            refuse(name)

    sys.setprofile(profile)
    threading.setprofile(profile)  # for threads that are started meanwhile
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _called_in_numpy(frame: Any, event: str, called: Any) -> str:
    """Return the name of a function of numpy called from outside numpy; "" for any other event."""
    if event == "call":
        entered = _is_numpy(frame.f_globals.get("__name__")) and frame.f_back is not None
        return frame.f_code.co_name if entered and not _is_numpy(frame.f_back.f_globals.get("__name__")) else ""
    if event != "c_call" or _is_numpy(frame.f_globals.get("__name__")):
        return ""
    owner = getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
    return getattr(called, "__name__", "") if _is_numpy(owner) else ""


def _is_numpy(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


class CallBlocker:
    """Block torch's operators and Python functions of these names in every thread, until `restore`.

    `seen` collects the entries of *forbids* that were called.
    """

    def __init__(self, forbids: tuple[str, ...]) -> None:
        self.forbids = forbids
        self.seen: list[str] = []
        self._operators: Any = None
        self._functions: list[tuple[Any, str, Any]] = []
        if forbids and "torch" in sys.modules:
            # another torch may have another dispatcher: the mode and the judge's static analysis remain
            with suppress(AttributeError, TypeError, RuntimeError):
                self._block_operators()
            self._block_functions()

    def _refusal(self, entry: str) -> Callable[..., Any]:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            self.seen.append(entry)
            raise ForbiddenCall(entry)

        return refuse

    def _block_operators(self) -> None:
        """Register a refusal for two dispatch keys at which ordinary operators have no kernel.

        One comes before a device is chosen; the other before autograd takes a composite operator apart.
        """
        import torch

        known = torch._C._dispatch_has_kernel_for_dispatch_key
        # what `torch.library.Library` wraps; importing that costs 11 ms
        self._operators = torch._C._dispatch_library("IMPL", "aten", "", __file__, 1)
        for entry in self.forbids:
            for name in _operators_named(entry):
                for key in ("BackendSelect", "AutogradCPU"):
                    if not known(name, key):
                        self._operators.impl(name, key, self._refusal(entry))

    def _block_functions(self) -> None:
        from torch.nn import functional

        for name, function in list(vars(functional).items()):
            entry = matches(name, self.forbids) if hasattr(function, "__code__") else None
            if entry:
                self._functions.append((functional, name, function))
                setattr(functional, name, self._refusal(entry))

    def restore(self) -> None:
        """Put back what was replaced."""
        for module, name, function in self._functions:
            setattr(module, name, function)
        self._functions.clear()
        if self._operators is not None:
            self._operators.reset()
            self._operators = None


def _operators_named(entry: str) -> Iterator[str]:
    """Find the operators that `matches` finds for *entry*, by bisection among the thousands."""
    known = sorted_operators()
    for base, name in known[bisect.bisect_left(known, (entry, "")) :]:
        if not base.startswith(entry):
            return
        if base == entry or base[len(entry)] == "_":
            yield name


@cache
def sorted_operators() -> list[tuple[str, str]]:
    """Return torch's operators as sorted pairs of base name and full name."""
    import torch

    names = torch._C._dispatch_get_all_op_names()
    return sorted((_base_name(name.removeprefix("aten::")), name) for name in names if name.startswith("aten::"))


@cache
def _function_mode() -> Any:
    """Define the mode's class late: torch is imported only where it is used."""
    from torch.overrides import TorchFunctionMode

    class FunctionWatch(TorchFunctionMode):
        def __init__(self, refuse: Callable[[str], None]) -> None:
            super().__init__()
            self.refuse = refuse

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.refuse(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    return FunctionWatch
