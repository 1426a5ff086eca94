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
    in what stands there is the parameter.

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
)
# fmt: on


def common_mistakes(parameters: Sequence[str], names: Iterable[str]) -> Iterator[CommonMistake]:
    """Yield the ways of making the mistakes of these names in a function of these parameters without a default.

    Raises:
        ValueError: There is no common mistake of a name.
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
                if key in taking:
                    changes |= {f"take_{each}": re.sub(r"\bx\b", each, text) for each in taking[key]}
                else:
                    changes[key] = text
            yield CommonMistake(row.name, row.id, row.says, row.suggests, changes, row.coding)
