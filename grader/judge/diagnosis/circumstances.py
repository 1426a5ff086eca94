"""In which circumstances a probe asks: with a mask, with four axes, with large numbers, for gradients.

A mistake beside which something else is wrong explains all answers but those in some circumstance. It is named, and the
circumstance is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from grader.judge.transcript.transcript import Exchange
from grader.judge.values.compare import dtype_name, is_array, to_numpy
from grader.worker.arrays import map_leaves

LARGE, TINY = 20.0, 1e-2  # magnitudes that standard normal numbers never have, and never all have
LONG = 60  # a size that only a question about long inputs has
MAX_CHOICE = 2  # numbers up to this are choices (an axis, one head), greater ones sizes
IN_ARGUMENTS = "in what becomes of its arguments"
IN_GRADIENTS = "in its gradients"
ORDINARY = frozenset({"float32", "int64", "bool"})


def circumstances_of(
    exchanges: Iterable[Exchange], parameters: Sequence[str], to_build: Sequence[str]
) -> frozenset[str]:
    """Return in words what is special in what is asked, by itself or among the other probes.

    Args:
        parameters: Of the function, or of a class's `forward`.
        to_build: Of the class's `__init__`.
    """
    found = set()
    for exchange in exchanges:
        content = exchange.content
        if exchange.operation == "make":
            found |= {*_in_spec(content["spec"])}
        elif exchange.operation == "mode" and content["training"]:
            found.add("in training mode")
        elif exchange.operation == "build":
            found |= {*_in_arguments(by_name(to_build, content)), *_in_numbers(content["state"])}
        elif exchange.operation == "call":
            found |= {*_in_arguments(by_name(parameters, content))}
            found |= {IN_GRADIENTS} if "grad" in content else set()
            found |= {IN_ARGUMENTS} if content.get("after") else set()
    return frozenset(found)


def by_name(parameters: Sequence[str], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call is given, by the names of the parameters."""
    return {**dict(zip(parameters, content["args"], strict=False)), **content["kwargs"]}


def _in_spec(spec: Mapping[str, Any]) -> Iterator[str]:
    """Tell what is special in a model or an optimizer that the learner's function is given."""
    if spec["kind"] == "optimizer":
        yield f"with the optimizer {spec['name']}"
    yield from (f"with a layer of {layer[0]}" for layer in spec.get("layers", ()))
    yield from _in_numbers(spec.get("state"))
    if spec.get("training") is False:
        yield "with a model in evaluation mode"


def _in_arguments(given: Mapping[str, Any]) -> Iterator[str]:
    yield from _in_numbers(given)
    ranks = set()
    for name, value in given.items():
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) <= MAX_CHOICE):
            yield f"with `{name}={value}`"
        elif isinstance(value, int) and value >= LONG:
            yield f"with a large `{name}`"
        elif is_array(value):
            yield f"with `{name}`"
            ranks.add(value.ndim)
            yield from _in_shape(name, tuple(value.shape))
    yield from (f"with {rank} {'axis' if rank == 1 else 'axes'}" for rank in sorted(ranks)[-1:])


def _in_shape(name: str, shape: tuple[int, ...]) -> Iterator[str]:
    if 1 in shape:
        yield f"where an axis of `{name}` has size 1"
    if max(shape, default=0) >= LONG:
        yield "on long inputs"
    if len(set(shape)) == 1 < len(shape):
        yield f"where all sizes of `{name}` are equal"


def _in_numbers(values: Any) -> Iterator[str]:
    arrays: list[Any] = []
    map_leaves([values], lambda leaf: arrays.append(leaf) if is_array(leaf) else None)
    for array in map(to_numpy, filter(_has_floats, arrays)):
        magnitudes = abs(array)
        if (magnitudes > LARGE).any():
            yield "with large numbers"
        elif array.size and (magnitudes < TINY).all():
            yield "with zeros" if not array.any() else "with tiny numbers"
    dtypes = {dtype_name(array) for array in arrays}
    yield from (f"with {dtype}" for dtype in dtypes - ORDINARY)


def _has_floats(array: Any) -> bool:
    return "float" in str(array.dtype)
