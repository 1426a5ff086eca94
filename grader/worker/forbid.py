"""Notice a forbidden call when it runs, whatever name it was called by.

Two hooks of torch see every operation: the function mode sees the Python call (`F.softmax`, `x.softmax`, a method or an
alias of it), the dispatch mode sees the operator underneath (`aten::_softmax`), which no Python alias hides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any


class ForbiddenCall(BaseException):
    """Raised inside the learner's call. Not an `Exception`, so that a broad `except` does not hide it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def matches(name: str, forbids: Iterable[str]) -> str | None:
    """The entry of `forbids` that `name` falls under: `_softmax_backward_data` falls under `softmax`."""
    base = name.lstrip("_").removesuffix("_")
    for entry in forbids:
        if base == entry or base.startswith(entry + "_"):
            return entry
    return None


def watch(forbids: tuple[str, ...], seen: list[str]) -> AbstractContextManager[None]:
    """A context in which calling one of `forbids` raises ForbiddenCall and is noted in `seen`."""
    return _watching(forbids, seen) if forbids else nullcontext()


@contextmanager
def _watching(forbids: tuple[str, ...], seen: list[str]) -> Iterator[None]:
    def refuse(name: str) -> None:
        entry = matches(name, forbids)
        if entry is not None:
            seen.append(entry)
            raise ForbiddenCall(entry)

    function_mode, dispatch_mode = _modes()
    with ExitStack() as stack:
        stack.enter_context(dispatch_mode(refuse))
        stack.enter_context(function_mode(refuse))
        yield


_CLASSES: tuple[Any, Any] | None = None


def _modes() -> tuple[Any, Any]:
    """The two mode classes, made once: torch is imported only where it is used."""
    global _CLASSES  # the classes cannot be defined before torch is there
    if _CLASSES is None:
        from torch.overrides import TorchFunctionMode
        from torch.utils._python_dispatch import TorchDispatchMode

        class FunctionWatch(TorchFunctionMode):
            def __init__(self, refuse: Callable[[str], None]) -> None:
                super().__init__()
                self.refuse = refuse

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                self.refuse(getattr(func, "__name__", ""))
                return func(*args, **(kwargs or {}))

        class DispatchWatch(TorchDispatchMode):
            @classmethod
            def _should_skip_dynamo(cls) -> bool:
                # else torch imports its compiler (0.6 s) at the first operation, only to tell it to stay out
                return False

            def __init__(self, refuse: Callable[[str], None]) -> None:
                super().__init__()
                self.refuse = refuse

            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                self.refuse(func._schema.name.split("::")[-1])
                return func(*args, **(kwargs or {}))

        _CLASSES = FunctionWatch, DispatchWatch
    return _CLASSES
