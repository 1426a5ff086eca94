"""Detect and refuse a forbidden call while it runs, under whatever name it was called.

The interpreter's profiler sees each Python function of a library and each function in C that is called, in threads too
that start meanwhile. What a library's C++ calls within itself it does not see. So torch's operators are blocked, for
the whole process: in any thread, in traced code, in whatever mode.
"""

from __future__ import annotations

import builtins
import functools
import gc
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from grader.worker.watch.cut_off import cut_off

# A learner may put others in their places, and what the profiler calls is seen by nobody.
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
SET_PROFILE, GET_PROFILE, SET_IN_THREADS, GET_IN_THREADS = (
    sys.setprofile, sys.getprofile, threading.setprofile, threading.getprofile
)  # fmt: skip
TYPE_OF = type
COLLECTS, COLLECT_NOTHING, COLLECT = gc.isenabled, gc.disable, gc.enable
# calls a function in C and leads nobody to it: for where `threading` keeps it, anybody reads it
SEALED: Any = functools._lru_cache_wrapper
CO_OPTIMIZED = 1  # of a code object: a function's; `inspect` has it, and takes 11 ms to import
AUTOGRAD = "autograd"
PACKED_WITH = (  # attributes of a tensor
    "detach", "as_subclass", "dtype", "layout", "device", "shape", "dim", "numel", "is_cpu", "is_neg", "numpy",
    "resolve_conj", "resolve_neg", "cpu", "contiguous", "reshape", "view", "clone", "requires_grad",
)  # fmt: skip
FIRST_KEY = "FuncTorchDynamicLayerFrontMode"  # its kernels come before those of `torch.func`
LAYOUT_KEYS = ("MkldnnCPU", "SparseCPU", "SparseCsrCPU", "NestedTensorCPU", "QuantizedCPU")


class ForbiddenCall(BaseException):
    """Raised inside the learner's call, with the call's name. No `Exception`: a broad `except` does not hide it.

    It has no function of its own, which would lead whoever catches it to this module.
    """


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BETWEEN_WORDS = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])")
# of numpy, which its own mean, stack and expand_dims call: they turn axis -1 into a number, and compute nothing
AXIS_HELPERS = frozenset({"normalize_axis_index", "normalize_axis_tuple"})
COMPUTING = ("random.py", "statistics.py")  # of Python's own library


@cut_off(_CAMEL=_CAMEL, _BETWEEN_WORDS=_BETWEEN_WORDS)
def _words(name: str) -> str:
    """Write `LogSoftmax` and `_log_softmax` alike, as `_log_softmax_`."""
    return _BETWEEN_WORDS.sub("_", f"_{_CAMEL.sub('_', name).lower()}_")


@cut_off(AXIS_HELPERS=AXIS_HELPERS)
def turns_an_axis(name: str) -> bool:
    return name.partition(" ")[0].partition(".")[0] in AXIS_HELPERS


@cut_off(_words=_words)
def entry_in(text: str, forbids: tuple[str, ...]) -> str | None:
    words = _words(text)
    return next((entry for entry in forbids if _words(entry) in words), None)


@lru_cache(maxsize=4096)  # an exercise calls the same few dozen functions again and again
@cut_off(turns_an_axis=turns_an_axis, entry_in=entry_in)
def matches(name: str, forbids: tuple[str, ...]) -> str | None:
    """Return the entry of *forbids* that *name* contains as whole words.

    `aten::_masked_softmax` and `LogSoftmax.forward` belong to `softmax`; `softmax` does not belong to `max`.
    """
    return None if turns_an_axis(name) else entry_in(name, forbids)


@lru_cache(maxsize=4096)
@cut_off(AUTOGRAD=AUTOGRAD)
def name_of(code: CodeType, folders: tuple[str, ...]) -> str:
    """Return the name of a library's function and of the modules it lies in: `torch.optim` may be what is forbidden.

    The package of autograd has `no_grad`, too: `refuse_graph` refuses what it does.

    Args:
        folders: Where the libraries lie.
    """
    folder = next(folder for folder in folders if code.co_filename.startswith(folder))
    path = code.co_filename.removeprefix(folder).replace("\\", "/")  # no `Path`: methods of its may be others by now
    *around, file = path.strip("/").split("/")
    names = [code.co_qualname, file.removesuffix(".py"), *(name for name in around if name != AUTOGRAD)]
    return " 0 ".join(names)  # the number keeps the words of two names apart


_ENTRIES: dict[tuple[str, ...], dict[str | CodeType, str | None]] = {}  # what `matches` finds, by name or code


class watch:  # noqa: N801  used as a function
    """Within this context, raise ForbiddenCall where one of *forbids* is called, and append it to *seen*.

    No `contextmanager`: what that gives is an object of Python's own, whose methods a learner may have replaced.
    """

    def __init__(self, forbids: tuple[str, ...], seen: list[str]) -> None:
        self._profile = _make_profiler(forbids, seen)
        self._in_threads = SEALED(self._profile, 0, False, None)

    def __enter__(self) -> None:
        self._before = GET_PROFILE(), GET_IN_THREADS()
        SET_IN_THREADS(self._in_threads)
        SET_PROFILE(self._profile)

    def __exit__(self, kind: object, *_: object) -> None:
        # Python takes away a profiler that cannot be called: no frame was left
        is_ended = GET_PROFILE() is not self._profile
        before, before_in_threads = self._before
        SET_PROFILE(before)
        SET_IN_THREADS(before_in_threads)
        if is_ended and kind is None:
            raise RecursionError("maximum recursion depth exceeded, so nobody saw what was called after that")


def _make_profiler(forbids: tuple[str, ...], seen: list[str]) -> Callable[[FrameType, str, Any], None]:
    # Of what is in these nothing is made while it is looked up, so nothing can be collected: what the learner's code
    # does then, where a generator ends, is not watched.
    known = _ENTRIES.setdefault(forbids, {})
    folders, watched = library_folders(), watched_places()
    decimal, unicode = _namesakes()

    def look_up(key: str | CodeType) -> str | None:
        if TYPE_OF(key) is not str and TYPE_OF(key) is not CodeType:  # what equals another name would answer for it
            raise ForbiddenCall("sys.getprofile")
        collects = COLLECTS()
        COLLECT_NOTHING()
        try:
            known[key] = matches(key if isinstance(key, str) else name_of(key, folders), forbids)
        finally:
            if collects:
                COLLECT()
        return known[key]

    def refuse(key: str | CodeType, owner: object = None) -> None:
        entry = known[key] if key in known else look_up(key)
        if entry is not None and TYPE_OF(owner) is not decimal and owner is not unicode:
            seen.append(entry)
            raise ForbiddenCall(entry)

    def profile(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            refuse(called.__name__, called.__self__)
        elif event == "call" and frame.f_code.co_flags & CO_OPTIMIZED and frame.f_code.co_filename.startswith(watched):
            refuse(frame.f_code)

    return profile


def is_watched() -> bool:
    """Return True within `watch`."""
    return GET_PROFILE() is not None


class CallBlocker:
    """Block torch's operators of these names in every thread, until `restore`.

    `seen` collects the entries of *forbids* that were called.
    """

    def __init__(self, forbids: tuple[str, ...]) -> None:
        self.forbids = forbids
        self.seen: list[str] = []
        self._libraries: dict[str, Any] = {}
        self._blocked: dict[str, str] = {}  # an operator of each library
        if forbids and "torch" in sys.modules:
            # another torch may have another dispatcher: the profiler and the judge's static analysis remain
            with suppress(AttributeError, TypeError, RuntimeError):
                self._block_operators()

    def _refusal(self, entry: str) -> Callable[..., Any]:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            self.seen.append(entry)
            raise ForbiddenCall(entry)

        return refuse

    def _block_operators(self) -> None:
        """Register a refusal for the dispatch key that comes before a device is chosen, and for the CPU itself.

        The first serves every device, the second also calls that begin at the CPU's own kernels, of any layout.
        """
        _let_torch_warn()
        for entry in self.forbids:
            refusal = self._refusal(entry)
            for name in _operators_named(entry):
                library = self._library(name.partition("::")[0])
                for key in ("CPU", *(key for key in LAYOUT_KEYS if name in _operators_with(key))):
                    library.impl(name, key, refusal)
                library.impl(name, FIRST_KEY, refusal)
                self._blocked[name.partition("::")[0]] = name
                if name not in _operators_with("BackendSelect"):
                    library.impl(name, "BackendSelect", refusal)

    def _library(self, namespace: str) -> Any:
        import torch

        if namespace not in self._libraries:
            # what `torch.library.Library` wraps; importing that costs 11 ms
            self._libraries[namespace] = torch._C._dispatch_library("IMPL", namespace, "", __file__, 1)
        return self._libraries[namespace]

    def lifted(self) -> str:
        """Return an operator that is no longer blocked, or "": `restore` is for nobody while an answer is made."""
        if not self._blocked:
            return ""
        import torch

        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        return next((name for name in self._blocked.values() if not has_kernel(name, FIRST_KEY)), "")

    def restore(self) -> None:
        """Put back what was replaced."""
        while self._libraries:
            self._libraries.popitem()[1].reset()


def changed_torch() -> str:
    """Return what of torch, that an answer is packed with, is another one by now, or "".

    What packs an answer, and what unpacks the next question, runs outside of the watch: code of the learner's in it
    would be seen by nobody.
    """
    if (at_start := _torch_at_start()) is None:
        return ""
    torch, tensor, device, run = at_start
    now: Any = sys.modules.get("torch")
    if now is not torch or vars(torch).get("Tensor") is not tensor:
        return "torch.Tensor"
    left_on = (torch._C._get_function_stack_at(place) for place in range(torch._C._len_torch_function_stack()))
    is_changed = vars(device).get("__torch_function__") is not run
    if is_changed or torch._C._len_torch_dispatch_stack() or any(type(mode) is not device for mode in left_on):
        return "torch.overrides"
    has, methods = vars(tensor), _methods_for_packing()
    return next((f"torch.Tensor.{name}" for name, method in methods.items() if has.get(name) is not method), "")


@cache
def _torch_at_start() -> tuple[Any, ...] | None:
    """Return torch, its tensors, the one mode that may be left on, `torch.set_default_device`'s, and what that runs."""
    if (torch := sys.modules.get("torch")) is None:
        return None
    from torch.utils._device import DeviceContext

    return torch, torch.Tensor, DeviceContext, vars(DeviceContext)["__torch_function__"]


@cache
def _methods_for_packing() -> dict[str, Any]:
    torch = sys.modules.get("torch")
    return {name: vars(torch.Tensor).get(name) for name in PACKED_WITH} if torch else {}


def prepare() -> None:
    """Do once, in a process that is forked afterwards, what each process would do again."""
    watched_places()
    _namesakes()
    _methods_for_packing()
    _torch_at_start()
    if "torch" in sys.modules:
        _operator_names()
        _let_torch_warn()
        with suppress(AttributeError, TypeError, RuntimeError):  # as where they are blocked
            for key in (*LAYOUT_KEYS, "BackendSelect"):
                _operators_with(key)


@cache
def _operators_with(key: str) -> frozenset[str]:
    """Return the names of the operators that have a kernel for a dispatch key."""
    import torch

    return frozenset(torch._C._dispatch_get_registrations_for_dispatch_key(key))


@cache
def _let_torch_warn() -> None:
    """Have torch say that a kernel is replaced, which it says once, where nobody hears it."""
    import torch

    library = torch._C._dispatch_library("IMPL", "aten", "", __file__, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.impl("aten::_softmax", "CPU", _let_torch_warn)
    library.reset()


@cache
def packages_folder() -> str:
    """Return the folder that holds numpy and torch; asked for before a learner's code could change the answer."""
    return str(Path(str(sys.modules["numpy"].__file__)).parents[1])


@cache
def library_folders() -> tuple[str, str]:
    """Return the folders of packages, and of Python's own modules: the second may hold the first."""
    return packages_folder(), str(Path(str(warnings.__file__)).parent)


@cache
def watched_places() -> tuple[str, ...]:
    """Return how the paths of those files begin whose functions may do an exercise.

    What else Python's library has is called by Python itself, too: to find a codec, to import a module.
    """
    packages, python = library_folders()
    return packages, *(str(Path(python, name)) for name in COMPUTING)


@cache
def _namesakes() -> tuple[type, Any]:
    """Return the type and the module in C whose `normalize` is of one number, and of text."""
    import unicodedata
    from decimal import Decimal

    return Decimal, unicodedata


def _operators_named(entry: str) -> Iterator[str]:
    """Find the operators that `matches` finds for *entry* in one text of thousands, without a loop over them."""
    names, words = _operator_names()
    word = _words(entry)
    at = words.find(word)
    while at >= 0:
        end = names.index("\n", at + 1)
        yield names[names.rfind("\n", 0, at) + 1 : end]
        at = words.find(word, end)


@cache
def _operator_names() -> tuple[str, str]:
    """Return the names of torch's operators, one a line, and the same text as words."""
    import torch

    names = "\n".join([*torch._C._dispatch_get_all_op_names(), ""])
    return names, names.lower().translate(dict.fromkeys(map(ord, ":.\n"), "_"))
