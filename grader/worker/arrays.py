"""Tensors and numpy arrays to plain data and back. Imports torch only where torch is loaded already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from grader.worker.wire import ITEM_SIZES, Array, Handle, Opaque

TEXT_LIMIT = 200


def pack(value: Any, depth: int = 0) -> Any:
    """`value` with every tensor and numpy array in it as an `Array`, and what cannot cross as `Opaque`."""
    if value is None or isinstance(value, bool | int | float | str | Handle | Opaque | Array):
        return _plain(value)
    if depth > 12:
        return Opaque(type(value).__name__, "nested too deeply to send")
    if isinstance(value, list):
        return [pack(item, depth + 1) for item in value]
    if isinstance(value, tuple):
        return tuple(pack(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return {str(key): pack(item, depth + 1) for key, item in value.items()}
    array = _pack_tensor(value)
    if array is None:
        array = _pack_numpy(value)
    return Opaque(type(value).__name__, _short(value)) if array is None else array


def _plain(value: Any) -> Any:
    """Subclasses of the plain types (numpy.float64 is a float) cross as what they are, by name."""
    if type(value).__module__ == "numpy":
        return _pack_numpy(value)
    return value


def _short(value: Any) -> str:
    try:
        return repr(value)[:TEXT_LIMIT]
    except Exception:  # a learner's __repr__ may do anything
        return ""


def _pack_tensor(value: Any) -> Array | None:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in ITEM_SIZES or value.layout is not torch.strided or value.device.type == "meta":
        return None
    flat = value.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return Array("torch", dtype, tuple(value.shape), data, value.device.type)


def _pack_numpy(value: Any) -> Array | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray | numpy.generic):
        return None
    if value.dtype.name not in ITEM_SIZES:
        return None
    return Array("numpy", value.dtype.name, tuple(value.shape), numpy.ascontiguousarray(value).tobytes())


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Plain data with `change` made to everything in it that is not a list, a tuple or a dictionary."""
    if isinstance(value, list | tuple):
        made = [mapped(item, change) for item in value]
        return made if isinstance(value, list) else tuple(made)  # a named tuple too becomes a plain one
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    return change(value)


def unpack(value: Any, device: str | None = None) -> Any:
    """The reverse of `pack`: fresh tensors and arrays. `device` moves the tensors there; else they are on the CPU."""
    return mapped(value, lambda leaf: _unpack_array(leaf, device) if isinstance(leaf, Array) else leaf)


def _unpack_array(array: Array, device: str | None) -> Any:
    if array.kind == "numpy":
        import numpy

        return numpy.frombuffer(bytearray(array.data), dtype=array.dtype).reshape(array.shape)
    import torch

    dtype = getattr(torch, array.dtype)
    if array.data:
        tensor = torch.frombuffer(bytearray(array.data), dtype=dtype).reshape(array.shape)
    else:
        tensor = torch.empty(array.shape, dtype=dtype)
    return tensor.to(device) if device else tensor


def devices_of(value: Any) -> set[str]:
    """The types of device that the tensors in plain data lie on."""
    if isinstance(value, list | tuple):
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


def duplicate(value: Any) -> Any:
    """A copy of plain data that shares no memory with it; handles and the like stay as they are."""
    return mapped(value, _copied)


def _copied(leaf: Any) -> Any:
    if hasattr(leaf, "clone"):
        return leaf.detach().clone()
    return leaf.copy() if hasattr(leaf, "dtype") and hasattr(leaf, "copy") else leaf
