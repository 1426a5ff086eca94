"""Mistakes that any function can have: they stand round the function, whatever it computes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

TENSORS = "Stay with tensor operations from the input to the result."
KEEP_DTYPE = "Keep the dtype of the input: take out "


@dataclass(frozen=True)
class CommonMistake:
    """One way of making a common mistake. `x` in its changes stands for the first parameter.

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
                  f"{KEEP_DTYPE}`.float()` and `dtype=`.", {"take_x": "x.float()"}),
    CommonMistake("float64", "dtype", "The answer's dtype is float64 whatever the input's is.",
                  f"{KEEP_DTYPE}`.double()` and `dtype=`.", {"take_x": "x.double()"}, "float64"),
    CommonMistake("integer", "dtype", "The answer is rounded to whole numbers: its dtype is an integer type.",
                  f"{KEEP_DTYPE}`.long()` and `.int()`.", {"result": "value.long()"}, "integer"),
)
# fmt: on


def common_mistakes(parameters: Sequence[str], names: Iterable[str]) -> Iterator[CommonMistake]:
    """Yield the ways of making the mistakes of these names in a function of these parameters.

    Raises:
        ValueError: There is no common mistake of a name.
    """
    first = parameters[0] if parameters else "x"
    for name in names:
        found = [row for row in COMMON_MISTAKES if row.name == name]
        if not found:
            raise ValueError(f"no common mistake {name!r}; there are {sorted({row.name for row in COMMON_MISTAKES})}")
        for row in found:
            changes = {
                key.replace("take_x", f"take_{first}"): text.replace("x.", f"{first}.") if "take_x" in key else text
                for key, text in row.changes.items()
            }
            yield CommonMistake(row.name, row.id, row.says, row.suggests, changes, row.coding)
