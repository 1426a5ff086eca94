"""Convert tensors and numpy arrays to plain data and back; torch is used only where it is imported already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from grader.worker.wire import ITEM_SIZES, MAX_RANK, REQUEST, Array, Bounds, Handle, Opaque, TooLarge, places_along

MAX_REPR_CHARS = 200
MAX_DEPTH = 12
NUMPY_DTYPES = frozenset({"bool", "int32", "int64", "float32", "float64"})  # of torch's, without conjugate views
SEQUENCES = (list, tuple)
CONTAINERS = (dict, list, tuple)
# By identity: a metaclass of the learner's may have a hash and a name of its own.
PLAIN_KEYS = frozenset(map(id, (type(None), bool, int, float, str)))
PLAIN_TYPES = PLAIN_KEYS | frozenset(map(id, (Handle, Opaque, Array)))
PLAIN_REPR = frozenset(map(id, (bytes, bytearray, complex, range)))  # of which no part has a class of its own
_type_name, _mro_of, _dict_of = (vars(type)[name].__get__ for name in ("__name__", "__mro__", "__dict__"))


def pack(value: Any, bounds: Bounds = REQUEST, depth: int = 0) -> Any:
    """Replace every tensor and numpy array in *value* by an `Array`, and anything that cannot cross by an `Opaque`.

    No code of a class of the learner's runs: it would be after the watch over calls has ended. What alone is beyond
    *bounds* is not copied first. Raises TooLarge for a list of too many values.
    """
    kind = type(value)
    if id(kind) in PLAIN_TYPES:
        return value
    if issubclass(kind, CONTAINERS):
        return _pack_container(value, kind, bounds, depth)
    return _pack_tensor(value, kind, bounds.body) or _pack_numpy(value, kind, bounds.body) or _pack_other(value, kind)


def _pack_container(value: Any, kind: type, bounds: Bounds, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return Opaque(_name_of(kind), "nested too deeply to send")
    items = _items_of(value, kind)
    if len(items) > bounds.items:
        raise TooLarge(f"it has too many values to be sent ({len(items)})")
    if not issubclass(kind, dict):
        packed = [pack(item, bounds, depth + 1) for item in items]
        return packed if issubclass(kind, list) else tuple(packed)
    keys = [_pack_key(key) for key, _ in items]
    if None in keys:
        return Opaque(f"{_name_of(kind)} with a key that is no text", "")
    return {key: pack(item, bounds, depth + 1) for key, (_, item) in zip(keys, items, strict=True)}


def _items_of(value: Any, kind: type) -> Any:
    """Return what a container holds, by the methods of its plain type; of a dictionary, pairs."""
    if kind is list or kind is tuple:
        return value
    if issubclass(kind, dict):
        return dict.items(value)
    return list(list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value))


def _pack_key(key: Any) -> str | None:
    kind = type(key)
    if id(kind) in PLAIN_KEYS or (kind is tuple and all(id(type(part)) in PLAIN_KEYS for part in key)):
        return str(key)
    return str.__str__(key) if issubclass(kind, str) else None


def _pack_other(value: Any, kind: type) -> Any:
    """Turn a subclass of a number or a text into its plain type, and name all else."""
    if issubclass(kind, int):
        return int.__int__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if issubclass(kind, str):
        return str.__str__(value)
    return Opaque(_name_of(kind), (repr(value) if id(kind) in PLAIN_REPR else object.__repr__(value))[:MAX_REPR_CHARS])


def _name_of(kind: type) -> str:
    return str.__str__(_type_name(kind))


def _too_large(kind: type, shape: Any) -> Opaque:
    return Opaque(f"{_name_of(kind)} of shape {tuple(shape)}, too large to be sent", "")


def _pack_tensor(value: Any, kind: type, max_bytes: int) -> Array | Opaque | None:
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(kind, torch.Tensor):
        return None
    if kind is not torch.Tensor:
        if any("__torch_dispatch__" in _dict_of(base) for base in _mro_of(kind) if base is not torch.Tensor):
            return None
        with torch._C.DisableTorchFunctionSubclass():  # torch's own methods, and not the class's
            value = torch.Tensor.as_subclass(torch.Tensor.detach(value), torch.Tensor)
    dtype = _dtype_names().get(value.dtype)
    if dtype is None or value.layout is not torch.strided or value.device.type == "meta":
        return None
    plain = torch.Tensor.detach(value)  # an attribute of the tensor itself may be called `detach`: this one has none
    # a view may show far more values than there is memory
    if plain.dim() > MAX_RANK or places_along(plain.shape) * ITEM_SIZES[dtype] > max_bytes:
        return _too_large(kind, plain.shape)
    if plain.is_cpu and dtype in NUMPY_DTYPES and not plain.is_neg():
        return Array("torch", dtype, tuple(plain.shape), plain.numpy().tobytes())
    flat = plain.resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
    data = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    return Array("torch", dtype, tuple(plain.shape), data, plain.device.type)


@cache
def _dtype_names() -> dict[Any, str]:
    """Name each dtype of torch that can cross."""
    torch = sys.modules["torch"]
    return {getattr(torch, name): name for name in ITEM_SIZES}


def _pack_numpy(value: Any, kind: type, max_bytes: int) -> Array | Opaque | None:
    numpy = sys.modules.get("numpy")
    if numpy is None or not (issubclass(kind, numpy.ndarray) or id(kind) in _numpy_scalars()):
        return None
    array = numpy.ndarray.view(value, numpy.ndarray) if issubclass(kind, numpy.ndarray) else numpy.asarray(value)
    if array.dtype.name not in ITEM_SIZES or issubclass(kind, float):  # numpy's float64 is one of Python's floats
        return None
    if array.ndim > MAX_RANK or places_along(array.shape) * array.dtype.itemsize > max_bytes:
        return _too_large(kind, array.shape)
    return Array("numpy", array.dtype.name, tuple(array.shape), array.tobytes())


@cache
def _numpy_scalars() -> frozenset[int]:
    numpy = sys.modules["numpy"]
    return frozenset(id(numpy.dtype(name).type) for name in ITEM_SIZES if name != "bfloat16")


def map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """Apply *change* to everything in plain data that is not a list, a tuple or a dictionary."""
    kind = type(value)
    if id(kind) in PLAIN_TYPES:
        return change(value)
    if issubclass(kind, dict):
        return {key: map_leaves(item, change) for key, item in dict.items(value)}
    if issubclass(kind, SEQUENCES):
        items = [map_leaves(item, change) for item in _items_of(value, kind)]
        return items if issubclass(kind, list) else tuple(items)  # a named tuple becomes a plain one
    return change(value)


def _map_arrays(value: Any, change: Callable[[Any], Any]) -> Any:
    """Do as `map_leaves`, but leave numbers and words as they are: some lists have hundreds of thousands of them."""
    kind = type(value)
    if kind is dict:
        pairs = value.items()
        return {key: part if id(type(part)) in PLAIN_KEYS else _map_arrays(part, change) for key, part in pairs}
    if kind is list or kind is tuple:
        return kind([part if id(type(part)) in PLAIN_KEYS else _map_arrays(part, change) for part in value])
    return value if id(kind) in PLAIN_KEYS else map_leaves(value, change)


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
        arrays = [item for item in value if id(type(item)) not in PLAIN_KEYS]
        return {device for item in arrays for device in device_types(item)}
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
    return _map_arrays(value, _bring_leaf_home)


def _bring_leaf_home(leaf: Any) -> Any:
    if _device_type(leaf) not in ("", "cpu"):
        return unpack(pack(leaf))
    return leaf.detach() if getattr(leaf, "requires_grad", False) is True else leaf


def duplicate(value: Any) -> Any:
    """Copy plain data so that no memory is shared; handles and other objects stay as they are.

    Arrays become contiguous, as those are that come over the wire: `view` does the same on both sides.
    """
    return _map_arrays(value, _copy_leaf)


def _copy_leaf(leaf: Any) -> Any:
    if id(type(leaf)) in PLAIN_TYPES:
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
