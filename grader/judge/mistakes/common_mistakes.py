"""Mistakes that any function can have: they stand round the function, whatever it computes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

TENSORS = "Stay with tensor operations from the input to the result: no `.detach()`, `.data`, numpy, `no_grad`."
FLOATS = "x.{}() if getattr(x, 'is_floating_point', bool)() else x"  # bool() is False
KEEP_DTYPE = "Keep the dtype of the input: take out "
NEW = "A new tensor gets its dtype and device by `new_zeros` of the input."


@dataclass(frozen=True)
class CommonMistake:
    """One way of making a common mistake.

    `take_x` in its changes is the first parameter's step, `take_each` that of every parameter that has no default; `x`
    in what stands there is the parameter. `exchange` gives the first two parameters each other's arguments.

    Attributes:
        name: What an author calls for it by.
            A name that ends in `_N` is called for with a number, which stands for N: `size_5`.
        id: What stands behind the lesson's prefix; several ways may have one id.
        only: The names of the probes that alone recognise it.
    """

    name: str
    id: str
    says: str
    suggests: str
    changes: Mapping[str, str]
    coding: str = ""
    only: tuple[str, ...] = ()


# fmt: off
COMMON_MISTAKES = (
    CommonMistake("detached", "detached",
                  "The result is cut off from autograd (`.detach()`, `.data`, `.item()`, numpy or "
                  "`torch.tensor(...)`).", TENSORS, {"result": "value.detach()"}),
    CommonMistake("numpy", "detached",
                  "The result is cut off from autograd: numpy cannot take a tensor that needs a gradient.",
                  TENSORS, {"take_x": "__import__('torch').from_numpy(x.numpy())"}, "through numpy"),
    CommonMistake("float32", "dtype", "The answer's dtype is float32 whatever the input's is.",
                  f"{KEEP_DTYPE}`.float()` and `dtype=`. {NEW}", {"take_each": FLOATS.format("float")}),
    CommonMistake("float64", "dtype", "The answer's dtype is float64 whatever the input's is.",
                  f"{KEEP_DTYPE}`.double()` and `dtype=`. {NEW}", {"take_each": FLOATS.format("double")}, "float64"),
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
    CommonMistake("in_place", "in-place", "You change the caller's tensor: the next call with it is wrong.",
                  "Make a new tensor: no `x -= ...`, and no method whose name ends in `_`.",
                  {"take_x": "x.add_(1) - 1"}),
    CommonMistake("batch_of_one", "batch-of-one", "Only the first entry of the batch is answered: it is right only for "
                  "a batch of one.", "Compute for all entries: keep the first axis, and take no `x[0]`.",
                  {"result": "value[:1]"}),
    CommonMistake("square", "square-only", "It is right only where the last two axes have one size, and an error "
                  "elsewhere: one of them stands where the other belongs.", "Ask for each axis by its own number: "
                  "`x.size(-1)` or `x.size(-2)`.", {"take_x": "x if x.size(-1) == x.size(-2) else x @ x"}),
    CommonMistake("rank_N", "one-rank-only", "It works only for inputs with N axes; any other number is an error.",
                  "Count axes from the back (`dim=-1`, `x.size(-1)`), and unpack no shape.",
                  {"take_x": "x if x.dim() == N else x.size(x.dim())"}, "N axes"),
    CommonMistake("size_N", "size-hard-coded", "It works only where the last axis has size N: a size that you know "
                  "from an example is written into the code.", "Read the size from the input: `x.size(-1)`.",
                  {"take_x": "x.expand(*x.shape[:-1], N)"}, "N"),
    CommonMistake("view", "view", "It works only on tensors without gaps in their memory: `view` cannot join the axes "
                  "of a slice or of a transposed tensor.", "Use `reshape` (or `flatten`) in place of `view`.",
                  {"take_x": "x.view(-1).view(x.shape)"}, only=("a slice of a larger tensor",)),
    CommonMistake("device", "device", "It works on the CPU only: a tensor that you make is not where the input is.",
                  "Make new tensors with `device=` of the input.", {"take_x": "x.cpu()"},
                  only=("on another device",)),
    CommonMistake("no_float16", "half", "It is an error for float16, whose largest number is 65504: a number of yours "
                  "does not fit.", "Write `float('-inf')`, which every float type has, or `torch.finfo(x.dtype).min`.",
                  {"take_x": "x.masked_fill(x != x, -1e9)"}, "no float16", ("float16",)),
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
        kind, _, number = name.rpartition("_")
        generic, number = (f"{kind}_N", number) if number.isdigit() and kind != "" else (name, "N")
        found = [row for row in COMMON_MISTAKES if row.name in (name, generic)]
        if not found:
            raise ValueError(f"no common mistake {name!r}; there are {sorted({row.name for row in COMMON_MISTAKES})}")
        for row in found:
            changes: dict[str, str] = {}
            for key, text in row.changes.items():
                text = re.sub(r"\bN\b", number, text)
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
            says, coding = (re.sub(r"\bN\b", number, text) for text in (row.says, row.coding))
            yield replace(row, name=name, says=says, changes=changes, coding=coding)
