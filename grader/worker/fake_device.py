"""A device that is not there: tensors with real data that claim to lie on another device.

Code that names a device, or makes a tensor without saying where, works on the machine it was tried on and fails on a
GPU. Here it fails without one: mixing an `Elsewhere` tensor with an ordinary one raises the error that torch raises
for two devices. Unlike torch's `meta` device there is data, so code that reads values (`if mask.any():`) runs too;
and torch need not import its compiler (0.6 s) to do it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grader.worker.arrays import mapped

DEVICE = "meta"  # what the tensors say of themselves, so that `device=x.device` asks for the same place
SAME_DEVICE = "Expected all tensors to be on the same device, but found at least two devices, elsewhere and cpu"
MOVES = ("_to_copy", "copy_")
INDEXES = ("index", "index_put_", "index_put", "_index_put_impl_")  # a GPU tensor may be indexed by a CPU one

# torch makes these from plain numbers before any operator is dispatched
FROM_NUMBERS = ("tensor", "as_tensor", "asarray", "scalar_tensor", "new_tensor")

_CLASSES: tuple[Any, Any, Any] | None = None


def wrap(value: Any) -> Any:
    """Plain data with every tensor in it moved elsewhere."""
    tensor_class, _, _ = _classes()
    import torch

    return mapped(value, lambda leaf: tensor_class(leaf.detach()) if isinstance(leaf, torch.Tensor) else leaf)


def unwrap(value: Any) -> Any:
    """The tensor inside, where there is one."""
    return value.held if is_elsewhere(value) else value


def is_elsewhere(value: Any) -> bool:
    """Whether a tensor lies elsewhere."""
    return _CLASSES is not None and isinstance(value, _CLASSES[0])


@contextmanager
def elsewhere(module: Any = None) -> Iterator[None]:
    """A context in which `device=x.device` means elsewhere; a module's parameters and buffers are moved there."""
    _, dispatch_mode, function_mode = _classes()
    with dispatch_mode(), _moved(module), function_mode():
        yield


@contextmanager
def _moved(module: Any) -> Iterator[None]:
    parts = list(module.modules()) if hasattr(module, "modules") else []
    saved = [(part, dict(part._parameters), dict(part._buffers)) for part in parts]
    for part in parts:
        for held in (part._parameters, part._buffers):
            held.update({name: wrap(tensor) for name, tensor in held.items()})
    try:
        yield
    finally:
        for part, parameters, buffers in saved:
            part._parameters.update(parameters)
            part._buffers.update(buffers)


def _classes() -> tuple[Any, Any, Any]:
    """The tensor class and the two modes, made once: torch is imported only where it is used."""
    global _CLASSES  # the classes cannot be defined before torch is there
    if _CLASSES is None:
        _CLASSES = _define()
    return _CLASSES


def _define() -> tuple[Any, Any, Any]:
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Elsewhere(torch.Tensor):
        held: torch.Tensor

        @staticmethod
        def __new__(cls: Any, inner: torch.Tensor) -> Any:
            made = torch.Tensor._make_wrapper_subclass(
                cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=torch.device(DEVICE)
            )
            made.held = inner
            return made

        @classmethod
        def __torch_dispatch__(  # type: ignore[override]  # torch declares a C function here
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return _run(func, args, kwargs or {})

    class ElsewhereMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's base is untyped
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # see forbid.py: keeps torch's compiler out

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return _run(func, args, kwargs or {})

    class NumbersMode(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if getattr(func, "__name__", "") in FROM_NUMBERS:
                return _from_numbers(func, args, kwargs or {})
            return func(*args, **(kwargs or {}))

    return Elsewhere, ElsewhereMode, NumbersMode


def _from_numbers(func: Any, args: Any, kwargs: Any) -> Any:
    """`torch.tensor([...], device=x.device)`: made here, then moved if it was asked for elsewhere."""
    import torch

    device = kwargs.get("device")
    if func.__name__ == "new_tensor":
        like, *args = args
        device, kwargs = device or like.device, {"dtype": like.dtype, **kwargs}
        func = torch.tensor
    there = device is not None and torch.device(device).type == DEVICE
    if any(is_elsewhere(tensor) for tensor in _tensors_in(args)):
        return func(*args, **kwargs)
    made = func(*args, **{**kwargs, "device": "cpu"} if there else kwargs)
    return wrap(made) if there else made


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    """One operator: on the inner tensors, its result elsewhere if its inputs were or if it was asked to be."""
    name = func._schema.name.split("::")[-1]
    tensors = _tensors_in((args, list(kwargs.values())))
    inside = [tensor for tensor in tensors if is_elsewhere(tensor)]
    outside = [tensor for tensor in tensors if not is_elsewhere(tensor) and tensor.ndim > 0]
    if inside and outside and name not in MOVES + INDEXES:
        raise RuntimeError(SAME_DEVICE)
    device = kwargs.get("device")
    if device is not None and device.type == DEVICE:
        kwargs = {**kwargs, "device": "cpu"}
    result = func(*mapped(args, unwrap), **mapped(kwargs, unwrap))
    there = bool(inside) if device is None else device.type == DEVICE
    if name.endswith("_") and tensors:
        return args[0]
    return wrap(result) if there else result


def _tensors_in(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors_in(item)]
    return []
