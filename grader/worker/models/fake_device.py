"""A fake device: tensors with real data that claim to be on another device.

Code that names a device, or makes a tensor without saying where, works on the machine it was tried on and fails on a
GPU. Here it fails without one: mixing a tensor on the fake device with an ordinary one raises the error that torch
raises for two devices. Unlike torch's `meta` device there is data, so code that reads values (`if mask.any():`) runs
too; and torch need not import its compiler (0.6 s) to do it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from grader.worker.arrays import SEQUENCES, map_leaves

DEVICE = "meta"  # what the tensors report, so that `device=x.device` asks for the same device
SAME_DEVICE = "Expected all tensors to be on the same device, but found at least two devices, elsewhere and cpu"
MOVES = ("_to_copy", "copy_")
INDEXES = ("index", "index_put_", "index_put", "_index_put_impl_")  # a CPU tensor may index a GPU tensor

# torch makes these from plain numbers before any operator is dispatched
FROM_NUMBERS = ("tensor", "as_tensor", "asarray", "scalar_tensor", "new_tensor")


def wrap(value: Any) -> Any:
    """Move every tensor in plain data to the fake device."""
    import torch

    return map_leaves(value, lambda leaf: _classes()[0](leaf.detach()) if isinstance(leaf, torch.Tensor) else leaf)


def unwrap(value: Any) -> Any:
    """Return the real tensor of one on the fake device, and any other value as it is."""
    return value.held if is_on_fake_device(value) else value


def is_on_fake_device(value: Any) -> bool:
    """Return True for a tensor on the fake device."""
    return isinstance(value, _classes()[0])


@contextmanager
def fake_device(module: Any = None) -> Iterator[None]:
    """Let `device=x.device` mean the fake device; a module's parameters and buffers are on it meanwhile."""
    _, dispatch_mode, function_mode = _classes()
    # moved within the modes, each tensor would be dispatched as an operator
    with _move_parameters(module), dispatch_mode(), function_mode():
        yield


@contextmanager
def _move_parameters(module: Any) -> Iterator[None]:
    parts = module.modules() if hasattr(module, "modules") else ()
    saved = [(held, dict(held)) for part in parts for held in (part._parameters, part._buffers) if held]
    for held, tensors in saved:
        held.update({name: wrap(tensor) for name, tensor in tensors.items()})
    try:
        yield
    finally:
        for held, tensors in saved:
            held.update(tensors)


@cache
def _classes() -> tuple[Any, Any, Any]:
    """Define the tensor class and the two modes late: torch is imported only where it is used."""
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    device = torch.device(DEVICE)

    class FakeDeviceTensor(torch.Tensor):
        held: torch.Tensor

        @staticmethod
        def __new__(cls: Any, inner: torch.Tensor) -> Any:
            made = torch.Tensor._make_wrapper_subclass(
                cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=device
            )
            made.held = inner
            return made

        @classmethod
        def __torch_dispatch__(  # type: ignore[override]  # torch declares a C function here
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return _run_operator(func, args, kwargs or {})

    class FakeDeviceMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base is untyped
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # torch would import its compiler to mark the mode for it

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return _run_operator(func, args, kwargs or {})

    class FromNumbersMode(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if getattr(func, "__name__", "") in FROM_NUMBERS:
                return _make_from_numbers(func, args, kwargs or {})
            return func(*args, **(kwargs or {}))

    return FakeDeviceTensor, FakeDeviceMode, FromNumbersMode


def _make_from_numbers(func: Any, args: Any, kwargs: Any) -> Any:
    """Run `torch.tensor([...], device=x.device)` and the like on the CPU, then move the result if that was asked."""
    import torch

    device = kwargs.get("device")
    if func.__name__ == "new_tensor":
        like, *args = args
        device, kwargs = device or like.device, {"dtype": like.dtype, **kwargs}
        func = torch.tensor
    to_fake = device is not None and torch.device(device).type == DEVICE
    if any(is_on_fake_device(tensor) for tensor in tensors_in(args)):
        return func(*args, **kwargs)
    made = func(*args, **{**kwargs, "device": "cpu"} if to_fake else kwargs)
    return wrap(made) if to_fake else made


def _run_operator(func: Any, args: Any, kwargs: Any) -> Any:
    """Run one operator on the real tensors; the result is on the fake device if an input was or if that was asked."""
    import torch

    fake_class, name = _classes()[0], _operator_name(func)
    inside: list[Any] = []
    outside: list[Any] = []

    def take_in(value: Any) -> Any:
        """Return the real tensor of one on the fake device, and note on which device a tensor was."""
        if isinstance(value, fake_class):
            inside.append(value)
            return value.held
        if isinstance(value, torch.Tensor):
            outside.append(value)
            return value
        return type(value)(map(take_in, value)) if type(value) in SEQUENCES else value

    given, named = [*map(take_in, args)], {key: take_in(value) for key, value in kwargs.items()}
    if inside and name not in MOVES + INDEXES and any(tensor.ndim > 0 for tensor in outside):
        raise RuntimeError(SAME_DEVICE)
    device = kwargs.get("device")
    to_fake = bool(inside) if device is None else device.type == DEVICE
    if device is not None and to_fake:
        named["device"] = "cpu"
    result = func(*given, **named)
    if name.endswith("_") and (inside or outside):
        return args[0]
    if not to_fake:
        return result
    if isinstance(result, torch.Tensor):
        return fake_class(result)
    return map_leaves(result, lambda leaf: fake_class(leaf) if isinstance(leaf, torch.Tensor) else leaf)


@cache
def _operator_name(func: Any) -> str:
    return str(func._schema.name).split("::")[-1]


def tensors_in(value: Any) -> list[Any]:
    """Return the tensors in a value, its lists and tuples."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []
