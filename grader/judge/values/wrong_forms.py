"""Faults of form that any function can have: what `mend` mends, and values that are cut off from autograd."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from grader.judge.values.compare import is_array, is_tensor


def _cut_off(value: Any) -> Any:
    return value.detach() if getattr(value, "requires_grad", False) else value


def _other_dtype(value: Any) -> Any:
    if not is_array(value):
        return value
    other = {"torch.float32": "float64", "float64": "float32", "torch.bool": "float32", "bool": "float64"}
    name = other.get(str(value.dtype))
    if name is None:
        return value
    return value.to(getattr(_torch(), name)) if is_tensor(value) else value.astype(name)


def _half(value: Any) -> Any:
    return value.half() if is_tensor(value) and value.dtype == _torch().float32 else value


def _listed(value: Any) -> Any:
    if is_array(value):
        return value.tolist()
    return value if isinstance(value, list) else list(value) if isinstance(value, tuple) else [value]


def _drop(value: Any) -> Any:
    return _torch().dropout(value, 0.1, True) if is_tensor(value) and value.is_floating_point() else value


def _torch() -> Any:
    import torch  # not at the top: a course of numpy goes without

    return torch


FORMS: dict[str, Callable[[Any], Any]] = {
    "no gradient": _cut_off,
    "another dtype": _other_dtype,
    "half precision": _half,
    "an axis more": lambda value: value[None] if is_array(value) else value,
    "(output, weights)": lambda value: (value, None),
    "a list": _listed,
    "a numpy array": lambda value: value.detach().numpy() if is_tensor(value) else value,
    "dropout left on": _drop,
}


def in_form(made: Any, form: Callable[[Any], Any], changed: list[str]) -> Any:
    """Return a function, or a class, that gives back its values in another form; `changed` grows where it does."""

    def give(value: Any) -> Any:
        given = value if value is None else form(value)  # where nothing is asked for, it has no form
        if given is not value:
            changed.append(form.__name__)
        return given

    inner: Any = getattr(made, "forward", made) if inspect.isclass(made) else made

    @functools.wraps(inner)
    def function(*args: Any, **kwargs: Any) -> Any:
        return give(inner(*args, **kwargs))

    return type(made.__name__, (made,), {"forward": function}) if inspect.isclass(made) else function
