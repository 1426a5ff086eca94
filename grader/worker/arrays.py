"""Tensors and numpy arrays to plain data and back. Imports torch only where torch is loaded already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from grader.worker.wire import ITEM_SIZES, REPLY, Array, Handle, Opaque

TEXT_LIMIT = 200
SIMPLE = frozenset({"bool", "int32", "int64", "float32", "float64"})  # numpy has them, and they have no conjugates
SEQUENCES = (list, tuple)
CROSSES = frozenset({type(None), bool, int, float, str, Handle, Opaque, Array})  # as they are


def pack(value: Any, depth: int = 0) -> Any:
    """`value` with every tensor and numpy array in it as an `Array`, and what cannot cross as `Opaque`."""
    if type(value) in CROSSES:
        return value
    if isinstance(value, bool | int | float | str | Handle | Opaque | Array):
        return _plain(value)
    if depth > 12:
        return Opaque(type(value).__name__, "nested too deeply to send")
    if isinstance(value, list):
        return [pack(item, depth + 1) for item in value]
    if isinstance(value, tuple):
        return tuple([pack(item, depth + 1) for item in value])
    if isinstance(value, dict):
        return {str(key): pack(item, depth + 1) for key, item in value.items()}
    array = _pack_tensor(value)
    if array is None:
        array = _pack_numpy(value)
    return Opaque(type(value).__name__, _short(value)) if array is None else array


def _plain(value: Any) -> Any:
    """Subclasses of the plain types cross as what they are: numpy.float64, which is a float, as numpy's, a learner's
    own as the plain type."""
    if type(value).__module__ == "numpy":
        return _pack_numpy(value)
    for plain in (int, float, str):
        if isinstance(value, plain) and type(value) not in (plain, bool):
            return plain(value)
    return value


def _short(value: Any) -> str:
    try:
        return repr(value)[:TEXT_LIMIT]
    except BaseException:  # a learner's __repr__ may do anything
        return ""


def _too_large(array: Any) -> Opaque:
    return Opaque(f"{type(array).__name__} of shape {tuple(array.shape)}, too large to be sent", "")


def _pack_tensor(value: Any) -> Array | Opaque | None:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    dtype = _dtype_names().get(value.dtype)
    if dtype is None or value.layout is not torch.strided or value.device.type == "meta":
        return None
    if value.numel() * ITEM_SIZES[dtype] > REPLY.body:  # a view may show far more values than there is memory
        return _too_large(value)
    if type(value) is torch.Tensor and value.is_cpu and dtype in SIMPLE and not value.is_neg():
        return Array("torch", dtype, tuple(value.shape), value.detach().numpy().tobytes())
    flat = value.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return Array("torch", dtype, tuple(value.shape), data, value.device.type)


@cache
def _dtype_names() -> dict[Any, str]:
    """The name of each of torch's types that can cross."""
    torch = sys.modules["torch"]
    return {getattr(torch, name): name for name in ITEM_SIZES}


def _pack_numpy(value: Any) -> Array | Opaque | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray | numpy.generic):
        return None
    if value.dtype.name not in ITEM_SIZES:
        return None
    if value.size * value.dtype.itemsize > REPLY.body:
        return _too_large(value)
    return Array("numpy", value.dtype.name, tuple(value.shape), numpy.ascontiguousarray(value).tobytes())


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Plain data with `change` made to everything in it that is not a list, a tuple or a dictionary."""
    if isinstance(value, SEQUENCES):
        made = [mapped(item, change) for item in value]
        return made if isinstance(value, list) else tuple(made)  # a named tuple too becomes a plain one
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return change(value)


def unpack(value: Any, device: str | None = None) -> Any:
    """The reverse of `pack`: fresh tensors and arrays. `device` moves the tensors there; else they are on the CPU."""
    return mapped(value, lambda leaf: unpack_array(leaf, device) if type(leaf) is Array else leaf)


def unpack_array(array: Array, device: str | None = None) -> Any:
    """A fresh tensor or array."""
    if array.kind == "numpy":
        import numpy

        return numpy.frombuffer(bytearray(array.data), dtype=array.dtype).reshape(array.shape)
    import torch

    dtype = getattr(torch, array.dtype)
    if array.data:
        tensor = torch.frombuffer(bytearray(array.data), dtype=dtype).view(array.shape)
    else:
        tensor = torch.empty(array.shape, dtype=dtype)
    return tensor.to(device) if device else tensor


def devices_of(value: Any) -> set[str]:
    """The types of device that the tensors in plain data lie on."""
    if isinstance(value, SEQUENCES):
        return {device for item in value for device in devices_of(item)}
    if isinstance(value, dict):
        return {device for item in value.values() for device in devices_of(item)}
    if isinstance(value, Array):
        return {value.device}
    device: Any = getattr(value, "device", None)
    return {device.type} if hasattr(device, "type") else set()


def brought_home(value: Any) -> Any:
    """Plain data with every tensor on the CPU; one without data (on `meta`) as `Opaque`."""
    return mapped(value, lambda leaf: unpack(pack(leaf)) if devices_of(leaf) - {"cpu"} else leaf)


def without_graph(value: Any) -> Any:
    """Plain data that keeps alive nothing of what autograd recorded, as what crosses from a worker does."""
    return mapped(value, lambda leaf: leaf.detach() if getattr(leaf, "requires_grad", False) is True else leaf)


def duplicate(value: Any) -> Any:
    """A copy of plain data that shares no memory with it; handles and the like stay as they are."""
    return mapped(value, _copied)


def _copied(leaf: Any) -> Any:
    if hasattr(leaf, "clone"):
        return leaf.detach().clone()
    return leaf.copy() if hasattr(leaf, "dtype") and hasattr(leaf, "copy") else leaf
