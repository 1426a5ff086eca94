"""Compare what came back with what was expected, and describe the difference: shape first, then values."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import Any

from grader.worker.wire import Opaque, places_along

ATOL = 1e-4  # float32; the research behind the course found correct work within 9e-6 and wrong work beyond 1.5e-4
PLAIN = frozenset({type(None), bool, int, float, str, list, tuple, dict})  # most values are of these types
MAX_SHOWN_CHARS = 600  # characters of a value that are worth reading
DIGITS = (4, 6, 9)  # significant digits of a shown value: the fewest that tell it from another


@dataclass(frozen=True)
class Raised:
    """In place of a value: the call raised (or was killed)."""

    kind: str
    type_name: str
    about: str = field(default="", compare=False)  # which of the known errors it is


def _torch() -> Any:
    return sys.modules.get("torch")


def is_tensor(value: Any) -> bool:
    """Return True for a torch tensor, without importing torch."""
    torch = _torch()
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    """Return True for a torch tensor or a numpy array."""
    if type(value) in PLAIN:
        return False
    return is_tensor(value) or (type(value).__module__ == "numpy" and hasattr(value, "dtype"))


def same(actual: Any, expected: Any, atol: float = ATOL, nan_tells_nothing: bool = False) -> bool:
    """Return True if two observations have the same structure, shapes and dtypes, and every value within `atol`.

    NaN equals NaN. With `nan_tells_nothing`, an array with NaN in it on the left equals any array of its shape.
    """
    if is_array(expected):
        return is_array(actual) and _same_array(actual, expected, atol, nan_tells_nothing)
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or actual.keys() != expected.keys():
            return False
        return all(same(actual[key], value, atol, nan_tells_nothing) for key, value in expected.items())
    if isinstance(expected, list | tuple):
        if type(actual) is not type(expected) or len(actual) != len(expected):
            return False
        return all(same(a, e, atol, nan_tells_nothing) for a, e in zip(actual, expected, strict=True))
    if isinstance(expected, float) and isinstance(actual, float):
        close = abs(actual - expected) <= atol or actual == expected
        return close or (math.isnan(actual) and (nan_tells_nothing or math.isnan(expected)))
    return type(actual) is type(expected) and bool(actual == expected)


def _same_array(actual: Any, expected: Any, atol: float, nan_tells_nothing: bool) -> bool:
    if is_tensor(actual) != is_tensor(expected):
        return False
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    if is_tensor(actual):
        return _same_tensor(actual, expected, atol, nan_tells_nothing)
    if bool((actual == expected).all()):
        return True
    import numpy

    if expected.dtype.kind not in "fc":
        return False
    if nan_tells_nothing and bool(numpy.isnan(actual).any()):
        return True
    return bool(numpy.allclose(actual, expected, rtol=0.0, atol=atol, equal_nan=True))


def _same_tensor(actual: Any, expected: Any, atol: float, nan_tells_nothing: bool) -> bool:
    """Compare tensors of one shape and dtype, the quick ways first: `allclose` takes ten operations."""
    torch = _torch()
    if torch.equal(actual, expected):
        return True
    if not expected.dtype.is_floating_point:
        return False
    if expected.dtype in (torch.float32, torch.float64):
        distance = torch.dist(actual, expected, math.inf).item()
        if abs(distance - atol) > 1e-6 * atol:  # not NaN, nor so near that the rounding of `atol` itself decides
            return bool(distance <= atol)
    if nan_tells_nothing and bool(actual.isnan().any()):
        return True
    return bool(torch.allclose(actual, expected, rtol=0.0, atol=atol, equal_nan=True))


def largest_error(actual: Any, expected: Any) -> float:
    """Return the largest difference between two observations; inf where their structures differ."""
    if is_array(expected):
        if not is_array(actual) or actual.shape != expected.shape or actual.dtype != expected.dtype:
            return math.inf
        return _array_error(actual, expected)
    if isinstance(expected, dict) and isinstance(actual, dict) and actual.keys() == expected.keys():
        return max((largest_error(actual[key], value) for key, value in expected.items()), default=0.0)
    if isinstance(expected, list | tuple) and type(actual) is type(expected) and len(actual) == len(expected):
        return max((largest_error(a, e) for a, e in zip(actual, expected, strict=True)), default=0.0)
    if isinstance(expected, float) and isinstance(actual, float) and not math.isnan(actual - expected):
        return abs(actual - expected)
    return 0.0 if same(actual, expected) else math.inf


def _array_error(actual: Any, expected: Any) -> float:
    a, e = to_numpy(actual), to_numpy(expected)
    if a.size == 0:
        return 0.0
    import numpy

    if e.dtype.kind not in "fc":
        return 0.0 if bool((a == e).all()) else math.inf
    if not bool((numpy.isnan(a) == numpy.isnan(e)).all()):
        return math.inf
    with numpy.errstate(invalid="ignore"):
        difference = numpy.where((a == e) | numpy.isnan(a), 0.0, numpy.abs(a - e))
    return float(difference.max())


def to_numpy(value: Any) -> Any:
    """Return a tensor or array as a float64 (or Boolean, or integer) numpy array."""
    import numpy

    if is_tensor(value):
        floating = value.dtype.is_floating_point
        return (value.detach().double() if floating else value.detach()).cpu().numpy()
    value = numpy.asarray(value)
    return value.astype("float64") if value.dtype.kind == "f" else value


# --- in words ---------------------------------------------------------------------------------------------------------


def dtype_name(array: Any) -> str:
    """Return the name of an array's dtype without its library, such as `float32`."""
    return str(array.dtype).removeprefix("torch.")


def kind_of(value: Any, told: bool = True) -> str:
    """Describe what a value is: "None", "a list of 3", "a float32 tensor of shape (2, 3)", "0.5 (a float)".

    Unless it may be *told*, a number or text is described by its type alone.
    """
    if value is None:
        return "None"
    if isinstance(value, Opaque):
        return f"an object of type {value.type_name}"
    if is_array(value):
        dtype = dtype_name(value)
        if not value.shape and not is_tensor(value):  # a number of numpy's
            return f"a numpy {dtype}"
        what = "tensor" if is_tensor(value) else "numpy array"
        return f"{with_article(dtype)} {what} of shape {tuple(value.shape)}"
    if isinstance(value, list | tuple):
        return f"{with_article(type(value).__name__)} of {len(value)}" + _inside(value, told)
    if isinstance(value, Raised):
        return f"an error ({value.type_name})"
    name = type(value).__name__
    if not isinstance(value, bool | int | float | str):
        return name
    if not told:
        return with_article(name)
    if isinstance(value, str) and len(value) > MAX_SHOWN_CHARS:
        return f"a str of {len(value)} characters"
    return f"{value!r} ({with_article(name)})"


def with_article(noun: str) -> str:
    """Put the article before a type's name: "an int", "a uint8"."""
    return f"{'an' if noun[0] in 'aeioAEIO' else 'a'} {noun}"


def _inside(values: Any, told: bool) -> str:
    """Describe what a list or tuple holds, one level deep; floats are left out."""
    items = [item for item in values[:3] if not isinstance(item, float)]
    kinds = ["a list" if isinstance(item, list) else kind_of(item, told) for item in items]
    return f" ({', '.join(kinds)}{', ...' if len(values) > 3 else ''})" if kinds else ""


def explain(actual: Any, expected: Any, atol: float = ATOL) -> str:
    """Describe how two values differ, in one or more sentences; empty when they do not."""
    if same(actual, expected, atol):
        return ""
    if is_array(expected) and is_array(actual):
        return _explain_arrays(actual, expected, atol)
    if isinstance(expected, list | tuple) and type(actual) is type(expected):
        return _explain_sequence(actual, expected, atol)
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key not in actual:
                return f"{key} is missing."
            if not same(actual[key], value, atol):
                return f"{key}: {explain(actual[key], value, atol)}"
    if actual is None:
        return f"It returned None; expected {kind_of(expected)}. Is a `return` missing?"
    return f"It returned {kind_of(actual)}; expected {kind_of(expected)}."


def _explain_sequence(actual: Any, expected: Any, atol: float) -> str:
    if len(actual) != len(expected):
        return f"It returned {len(actual)} values; expected {len(expected)}."
    index = next(i for i, (a, e) in enumerate(zip(actual, expected, strict=True)) if not same(a, e, atol))
    return f"Entry {index}: {explain(actual[index], expected[index], atol)}"


def _explain_arrays(actual: Any, expected: Any, atol: float) -> str:
    if is_tensor(actual) != is_tensor(expected):
        return f"It returned {kind_of(actual)}; expected {kind_of(expected)}."
    if actual.shape != expected.shape:
        return f"Wrong shape: {tuple(actual.shape)}, expected {tuple(expected.shape)}."
    if actual.dtype != expected.dtype:
        return f"Wrong dtype: {actual.dtype}, expected {expected.dtype}."
    return _explain_values(to_numpy(actual), to_numpy(expected), atol)


def _explain_values(a: Any, e: Any, atol: float) -> str:
    import numpy

    with numpy.errstate(invalid="ignore"):
        wrong = ~((a == e) | (numpy.abs(a.astype("float64") - e.astype("float64")) <= atol))
    wrong &= ~(numpy.isnan(a.astype("float64")) & numpy.isnan(e.astype("float64")))
    index = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    where = f"[{', '.join(map(str, index))}]" if index else ""
    text = f"{int(wrong.sum())} of {wrong.size} values differ. First at {where or 'the only value'}: "
    text += f"got {_number(a[index])}, expected {_number(e[index])}."
    nans = int(numpy.isnan(a.astype("float64")).sum()) - int(numpy.isnan(e.astype("float64")).sum())
    if nans > 0:
        return f"{text} {nans} of them are NaN."
    if e.dtype.kind == "f" and numpy.isfinite(a).all():
        text += f" Largest error: {numpy.abs(a - e).max():.2g}."
    return text


def _number(value: Any) -> str:
    return f"{float(value):.4g}" if value.dtype.kind == "f" else str(value.item())


def show(value: Any, digits: int = 4) -> str:
    """Show a small value as it can be typed, with so many significant digits; a large one by its kind."""
    text = _as_typed(value, digits)
    return text if len(text) <= MAX_SHOWN_CHARS else kind_of(value)


def show_apart(actual: Any, expected: Any) -> tuple[str, str]:
    """Show two values with as many digits as tell them apart, and with their dtypes where nothing else does."""
    if (
        is_array(actual)
        and is_array(expected)
        and actual.dtype != expected.dtype
        and _has_equal_values(actual, expected)
    ):
        return f"{show(actual)} in {dtype_name(actual)}", f"{show(expected)} in {dtype_name(expected)}"
    for digits in DIGITS:
        shown = show(actual, digits), show(expected, digits)
        if shown[0] != shown[1]:
            return shown
    return shown


def _has_equal_values(actual: Any, expected: Any) -> bool:
    import numpy

    a, b = to_numpy(actual), to_numpy(expected)
    return a.shape == b.shape and bool(numpy.allclose(a, b, rtol=0, atol=ATOL, equal_nan=True))


def _as_typed(value: Any, digits: int) -> str:
    if is_array(value):
        if places_along(value.shape) > (36 if "bool" in str(value.dtype) else 24):
            return kind_of(value).partition(" ")[2]
        if _is_identity(value):
            return f"torch.eye({len(value)})"
        name = "torch.tensor" if is_tensor(value) else "numpy.array"
        return f"{name}({_format_nested(to_numpy(value).tolist(), digits)})"
    if isinstance(value, list | tuple):
        inside = ", ".join(show(item, digits) for item in value[:MAX_SHOWN_CHARS])
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        shown = {key: _format_nested(each, digits) if isinstance(each, float) else show(each, digits)
                 for key, each in value.items()}  # fmt: skip
        return "{" + ", ".join(f"{key!r}: {each}" for key, each in shown.items()) + "}"
    return repr(value) if value is None or isinstance(value, bool | int | float | str) else kind_of(value)


def _is_identity(value: Any) -> bool:
    if not (is_tensor(value) and dtype_name(value) == "float32" and value.ndim == 2 and len(value) > 1):
        return False
    rows = value.tolist()
    return len(rows) == len(rows[0]) and all(x == (i == j) for i, row in enumerate(rows) for j, x in enumerate(row))


def _format_nested(values: Any, digits: int) -> str:
    if isinstance(values, list):
        return "[" + ", ".join(_format_nested(item, digits) for item in values) + "]"
    if isinstance(values, float):
        return f"{values:.{digits}g}" if not values.is_integer() else f"{values:.1f}"
    return repr(values)
