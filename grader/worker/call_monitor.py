"""Notice a forbidden call when it runs, whatever name it was called by.

torch tells a function mode of every call into it from Python: `F.softmax`, `x.softmax`, an alias of either, and the
operator itself (`torch.ops.aten._softmax`). A mode holds for one thread, and not inside of what it lets through; so the
operators themselves are made to refuse too, for the whole process: in other threads, in traced code, with torch's modes
switched off. numpy has no such hooks: there the interpreter's profiler sees the calls that the learner's own code makes
into numpy.
"""

from __future__ import annotations

import bisect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
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
    base = _base(name)
    for entry in forbids:
        if base == entry or base.startswith(entry + "_"):
            return entry
    return None


def _base(name: str) -> str:
    return name.partition(".")[0].lstrip("_").removesuffix("_")


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
    threading.setprofile(profile)  # for threads that are started meanwhile
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


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


class Refusals:
    """Makes torch's operators of these names, and its functions that are written in Python, refuse in every thread,
    until `end`. `seen`: what was refused."""

    def __init__(self, forbids: tuple[str, ...]) -> None:
        self.forbids = forbids
        self.seen: list[str] = []
        self._operators: Any = None
        self._functions: list[tuple[Any, str, Any]] = []
        if forbids and "torch" in sys.modules:
            # a torch whose dispatcher is another one: the mode remains, and what the judge reads in the source
            with suppress(AttributeError, TypeError, RuntimeError):
                self._refuse_operators()
            self._refuse_functions()

    def _refusal(self, entry: str) -> Callable[..., Any]:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            self.seen.append(entry)
            raise ForbiddenCall(entry)

        return refuse

    def _refuse_operators(self) -> None:
        """Before a kernel is chosen for a device, and for operators that are made of others before autograd takes them
        apart: at both places nothing is registered for ordinary operators, so nothing is taken away either."""
        import torch

        known = torch._C._dispatch_has_kernel_for_dispatch_key
        # what `torch.library.Library` is made of, which would import much more (11 ms)
        self._operators = torch._C._dispatch_library("IMPL", "aten", "", __file__, 1)
        for entry in self.forbids:
            for name in _operators_like(entry):
                for key in ("BackendSelect", "AutogradCPU"):
                    if not known(name, key):
                        self._operators.impl(name, key, self._refusal(entry))

    def _refuse_functions(self) -> None:
        from torch.nn import functional

        for name, function in list(vars(functional).items()):
            entry = matches(name, self.forbids) if hasattr(function, "__code__") else None
            if entry:
                self._functions.append((functional, name, function))
                setattr(functional, name, self._refusal(entry))

    def end(self) -> None:
        """Let torch be as it was."""
        for module, name, function in self._functions:
            setattr(module, name, function)
        self._functions.clear()
        if self._operators is not None:
            self._operators.reset()
            self._operators = None


def _operators_like(entry: str) -> Iterator[str]:
    """The operators whose name is `entry`, or begins with it and a line: what `matches` finds, without looking at all
    of the thousands."""
    known = operators()
    for base, name in known[bisect.bisect_left(known, (entry, "")) :]:
        if not base.startswith(entry):
            return
        if base == entry or base[len(entry)] == "_":
            yield name


@lru_cache(maxsize=1)
def operators() -> list[tuple[str, str]]:
    """torch's operators, those that are made of others among them: bare names and whole ones, sorted."""
    import torch

    names = torch._C._dispatch_get_all_op_names()
    return sorted((_base(name.removeprefix("aten::")), name) for name in names if name.startswith("aten::"))


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
