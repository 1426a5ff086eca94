"""Tensors and numpy arrays to plain data and back. Imports torch only where torch is loaded already."""

from __future__ import annotations

import sys
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


def unpack(value: Any, device: str | None = None) -> Any:
    """The reverse of `pack`: fresh tensors and arrays. `device` moves the tensors there; else they are on the CPU."""
    if isinstance(value, Array):
        return _unpack_array(value, device)
    if isinstance(value, list):
        return [unpack(item, device) for item in value]
    if isinstance(value, tuple):
        return tuple(unpack(item, device) for item in value)
    if isinstance(value, dict):
        return {key: unpack(item, device) for key, item in value.items()}
    return value


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
    if isinstance(value, list):
        return [brought_home(item) for item in value]
    if isinstance(value, tuple):
        return tuple(brought_home(item) for item in value)
    if isinstance(value, dict):
        return {key: brought_home(item) for key, item in value.items()}
    return unpack(pack(value)) if devices_of(value) - {"cpu"} else value


def duplicate(value: Any) -> Any:
    """A copy of plain data that shares no memory with it; handles and the like stay as they are."""
    if isinstance(value, list):
        return [duplicate(item) for item in value]
    if isinstance(value, tuple):
        return tuple(duplicate(item) for item in value)
    if isinstance(value, dict):
        return {key: duplicate(item) for key, item in value.items()}
    if hasattr(value, "clone"):
        return value.detach().clone()
    return value.copy() if hasattr(value, "dtype") and hasattr(value, "copy") else value
