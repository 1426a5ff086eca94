"""Convert tensors and numpy arrays to plain data and back; torch is used only where it is imported already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from grader.worker.wire import ITEM_SIZES, MAX_RANK, REQUEST, Array, Bounds, Handle, Opaque, TooLarge

MAX_REPR_CHARS = 200
MAX_DEPTH = 12
NUMPY_DTYPES = frozenset({"bool", "int32", "int64", "float32", "float64"})  # of torch's, without conjugate views
SEQUENCES = (list, tuple)
CONTAINERS = (dict, list, tuple)
PLAIN_TYPES = frozenset({type(None), bool, int, float, str, Handle, Opaque, Array})


def pack(value: Any, bounds: Bounds = REQUEST, depth: int = 0) -> Any:
    """Replace every tensor and numpy array in *value* by an `Array`, and anything that cannot cross by an `Opaque`.

    What alone is beyond *bounds* is not copied first. Raises TooLarge for a list of too many values.
    """
    kind = type(value)
    if kind in PLAIN_TYPES:
        return value
    if kind not in CONTAINERS and isinstance(value, bool | int | float | str | Handle | Opaque | Array):
        return _pack_subclass(value, bounds.body)
    if depth > MAX_DEPTH:
        return Opaque(type(value).__name__, "nested too deeply to send")
    if isinstance(value, list | tuple | dict):
        if len(value) > bounds.items:
            raise TooLarge(f"it has too many values to be sent ({len(value)})")
        if isinstance(value, dict):
            return {str(key): pack(item, bounds, depth + 1) for key, item in value.items()}
        items = [pack(item, bounds, depth + 1) for item in value]
        return items if isinstance(value, list) else tuple(items)
    packed = _pack_tensor(value, bounds.body) or _pack_numpy(value, bounds.body)
    return packed or Opaque(type(value).__name__, _safe_repr(value))


def _pack_subclass(value: Any, max_bytes: int) -> Any:
    """Turn a numpy scalar (numpy.float64 is a float) into an `Array`, and a learner's subclass into its plain type."""
    if type(value).__module__ == "numpy":
        return _pack_numpy(value, max_bytes)
    for plain in (int, float, str):
        if isinstance(value, plain) and type(value) not in (plain, bool):
            return plain(value)
    return value


def _safe_repr(value: Any) -> str:
    try:
        return repr(value)[:MAX_REPR_CHARS]
    except BaseException:  # a learner's __repr__ may do anything
        return ""


def _too_large(array: Any) -> Opaque:
    return Opaque(f"{type(array).__name__} of shape {tuple(array.shape)}, too large to be sent", "")


def _pack_tensor(value: Any, max_bytes: int) -> Array | Opaque | None:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    dtype = _dtype_names().get(value.dtype)
    if dtype is None or value.layout is not torch.strided or value.device.type == "meta":
        return None
    # a view may show far more values than there is memory
    if value.dim() > MAX_RANK or value.numel() * ITEM_SIZES[dtype] > max_bytes:
        return _too_large(value)
    if type(value) is torch.Tensor and value.is_cpu and dtype in NUMPY_DTYPES and not value.is_neg():
        return Array("torch", dtype, tuple(value.shape), value.detach().numpy().tobytes())
    flat = value.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return Array("torch", dtype, tuple(value.shape), data, value.device.type)


@cache
def _dtype_names() -> dict[Any, str]:
    """Name each dtype of torch that can cross."""
    torch = sys.modules["torch"]
    return {getattr(torch, name): name for name in ITEM_SIZES}


def _pack_numpy(value: Any, max_bytes: int) -> Array | Opaque | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray | numpy.generic) or value.dtype.name not in ITEM_SIZES:
        return None
    if value.ndim > MAX_RANK or value.size * value.dtype.itemsize > max_bytes:
        return _too_large(value)
    return Array("numpy", value.dtype.name, tuple(value.shape), numpy.ascontiguousarray(value).tobytes())


def map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Apply *change* to everything in plain data that is not a list, a tuple or a dictionary."""
    if type(value) in PLAIN_TYPES:
        return change(value)
    if isinstance(value, dict):
        return {key: map_leaves(item, change) for key, item in value.items()}
    if isinstance(value, SEQUENCES):
        items = [map_leaves(item, change) for item in value]
        return items if isinstance(value, list) else tuple(items)  # a named tuple becomes a plain one
    return change(value)


def unpack(value: Any, device: str | None = None) -> Any:
    """Reverse `pack`: build fresh tensors (on *device*, else on the CPU) and arrays."""
    kind = type(value)  # `map_leaves` takes twice as long
    if kind is Array:
        return unpack_array(value, device)
    if kind is dict:
        return {key: unpack(item, device) for key, item in value.items()}
    return kind([unpack(item, device) for item in value]) if kind in SEQUENCES else value


def unpack_array(array: Array, device: str | None = None) -> Any:
    """Build a fresh tensor or numpy array."""
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


def device_types(value: Any) -> set[str]:
    """Return the types of device that the tensors in plain data are on."""
    if isinstance(value, SEQUENCES):
        return {device for item in value for device in device_types(item)}
    if isinstance(value, dict):
        return {device for item in value.values() for device in device_types(item)}
    device = _device_type(value)
    return {device} if device else set()


def _device_type(leaf: Any) -> str:
    """Return the type of device that a tensor is on, "" for anything else."""
    if isinstance(leaf, Array):
        return leaf.device
    device: Any = getattr(leaf, "device", None)
    return device.type if hasattr(device, "type") else ""


def bring_home(value: Any) -> Any:
    """Make the tensors in plain data what those are that a worker sends: on the CPU, and without autograd's graph.

    One without data (on `meta`) becomes an `Opaque`.
    """
    return map_leaves(value, _bring_leaf_home)


def _bring_leaf_home(leaf: Any) -> Any:
    if _device_type(leaf) not in ("", "cpu"):
        return unpack(pack(leaf))
    return leaf.detach() if getattr(leaf, "requires_grad", False) is True else leaf


def duplicate(value: Any) -> Any:
    """Copy plain data so that no memory is shared; handles and other objects stay as they are.

    Arrays become contiguous, as those are that come over the wire: `view` does the same on both sides.
    """
    return map_leaves(value, _copy_leaf)


def _copy_leaf(leaf: Any) -> Any:
    if type(leaf) in PLAIN_TYPES:
        return leaf
    if hasattr(leaf, "clone"):
        return leaf.detach().clone().contiguous()
    return leaf.copy() if hasattr(leaf, "dtype") and hasattr(leaf, "copy") else leaf


def make_slice(leaf: Any) -> Any:
    """Lay an array into a larger one along every axis: what is returned is equal, and its memory has gaps."""
    if not hasattr(leaf, "dtype") or not leaf.ndim:
        return leaf
    shape = [size + 1 for size in leaf.shape]
    larger = leaf.new_zeros(shape) if hasattr(leaf, "new_zeros") else type(leaf)(shape, leaf.dtype)
    view = larger[tuple(slice(size) for size in leaf.shape)]
    view[...] = leaf
    return view
