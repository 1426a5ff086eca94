"""Mistakes that any function can have: they stand round the function, whatever it computes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

TENSORS = "Stay with tensor operations from the input to the result."
FLOATS = "x.{}() if getattr(x, 'is_floating_point', bool)() else x"  # bool() is False
KEEP_DTYPE = "Keep the dtype of the input: take out "


@dataclass(frozen=True)
class CommonMistake:
    """One way of making a common mistake.

    `take_x` in its changes is the first parameter's step, `take_each` that of every parameter that has no default; `x`
    in what stands there is the parameter. `exchange` gives the first two parameters each other's arguments.

    Attributes:
        name: What an author calls for it by.
        id: What stands behind the lesson's prefix; several ways may have one id.
    """

    name: str
    id: str
    says: str
    suggests: str
    changes: Mapping[str, str]
    coding: str = ""


# fmt: off
COMMON_MISTAKES = (
    CommonMistake("detached", "detached",
                  "The result is cut off from autograd (`.detach()`, `.data`, `.item()`, numpy or "
                  "`torch.tensor(...)`).", TENSORS, {"result": "value.detach()"}),
    CommonMistake("numpy", "detached",
                  "The result is cut off from autograd: numpy cannot take a tensor that needs a gradient.",
                  TENSORS, {"take_x": "__import__('torch').from_numpy(x.numpy())"}, "through numpy"),
    CommonMistake("float32", "dtype", "The answer's dtype is float32 whatever the input's is.",
                  f"{KEEP_DTYPE}`.float()` and `dtype=`.", {"take_each": FLOATS.format("float")}),
    CommonMistake("float64", "dtype", "The answer's dtype is float64 whatever the input's is.",
                  f"{KEEP_DTYPE}`.double()` and `dtype=`.", {"take_each": FLOATS.format("double")}, "float64"),
    CommonMistake("integer", "dtype", "The answer is rounded to whole numbers: its dtype is an integer type.",
                  f"{KEEP_DTYPE}`.long()` and `.int()`.", {"result": "value.long()"}, "integer"),
    CommonMistake("float16", "half", "It computes in half precision, which keeps three digits.",
                  "Compute in the dtype of the input: take out `.half()`.",
                  {"take_each": FLOATS.format("half"), "result": "value.float()"}),
    CommonMistake("exchanged", "exchanged", "The first two arguments are exchanged.",
                  "Take the arguments in the order of the exercise.", {"exchange": ""}),
    CommonMistake("transposed", "transposed", "The last two axes of the answer are exchanged.",
                  "Take out the last `transpose`, or exchange the factors of the product.",
                  {"result": "value.transpose(-2, -1)"}),
    CommonMistake("reversed", "reversed", "The answer is in reversed order along its first axis.",
                  "Count from the front, or turn the answer round with `flip(0)`.", {"result": "value.flip(0)"}),
    CommonMistake("shifted", "off-by-one", "The answer is one place late along its first axis.",
                  "Begin to count at 0.", {"result": "value.roll(1, 0)"}),
    CommonMistake("shifted", "off-by-one", "The answer is one place early along its first axis.",
                  "Begin to count at 0.", {"result": "value.roll(-1, 0)"}, "early"),
    CommonMistake("first_only", "first-only", "Every entry of the batch gets the answer of the first one.",
                  "Compute for all entries: keep the first axis, and take no `x[0]`.",
                  {"result": "value[:1].expand_as(value).clone()"}),
)
# fmt: on


def common_mistakes(parameters: Sequence[str], names: Iterable[str]) -> Iterator[CommonMistake]:
    """Yield the ways of making the mistakes of these names in a function of these parameters without a default.

    Raises:
        ValueError: There is no common mistake of a name, or it needs more parameters.
    """
    parameters = parameters or ["x"]
    taking = {"take_x": parameters[:1], "take_each": parameters}
    for name in names:
        found = [row for row in COMMON_MISTAKES if row.name == name]
        if not found:
            raise ValueError(f"no common mistake {name!r}; there are {sorted({row.name for row in COMMON_MISTAKES})}")
        for row in found:
            changes: dict[str, str] = {}
            for key, text in row.changes.items():
                if key == "exchange" and len(parameters) < 2:
                    raise ValueError(f"`{name}` needs two arguments without a default")
                if key == "exchange":
                    changes |= {
                        f"take_{one}": other for one, other in zip(parameters[:2], parameters[1::-1], strict=True)
                    }
                elif key in taking:
                    changes |= {f"take_{each}": re.sub(r"\bx\b", each, text) for each in taking[key]}
                else:
                    changes[key] = text
            yield CommonMistake(row.name, row.id, row.says, row.suggests, changes, row.coding)
