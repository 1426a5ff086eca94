"""Advice on error messages of Python and of the array libraries that beginners misread."""

from __future__ import annotations

import re

GENERAL = "Read the line shown, and print what stands on it one line earlier."

# The first pattern that is found in "TypeName: text" gives the advice.
# fmt: off
ADVICE = (
    (r"torch\.return_types", "`max(dim)` and its like give a pair (values, indices): take `.values`, or use `amax`."),
    (r"name '(torch|nn|F|math|np|numpy)' is not defined", "Import it at the top of the file."),
    (r"is not defined", "That name is not known on this line: look for a misspelling, or for what sets it first."),
    (r"Boolean value of Tensor with more than one", "A tensor of many values is neither true nor false: write "
     "`if mask is not None:` for `if mask:`."),
    (r"bad operand type for unary ~: 'NoneType'", "The mask may be None: use it only `if mask is not None`."),
    (r"Subtraction, the `-` operator, with .*bool", "Booleans are not subtracted: `~mask` is what `1 - mask` means."),
    (r"bitwise_not|invert|unary ~", "`~` is for Booleans: compare first (`mask == 0`), or make the tensor Boolean."),
    (r"must be real number|only one element tensors|elements cannot be converted to Scalar|only integer tensors of a",
     "Functions of `math` take one number: use torch's own, such as `torch.sin` or `torch.exp`."),
    (r"The size of tensor a \(\d+\) must match|broadcastable|Output with shape",
     "Two shapes that meet on this line do not broadcast: print both one line earlier."),
    (r"cannot be multiplied|batch2|inconsistent tensor size|size mismatch",
     "For `a @ b` the last axis of a and the last but one of b must have the same size: print both shapes."),
    (r"is invalid for input of size|cannot unflatten|unflatten",
     "`view` and `reshape` keep the number of elements: multiply the sizes and compare."),
    (r"view size is not compatible", "After `transpose` memory is in another order: use `reshape`."),
    (r"leaf Variable that requires grad|modified by an inplace operation",
     "An operation in place (`+=`, `x[...] =`, a name ending in `_`) changed what autograd needs: make a new tensor."),
    (r"Can't call numpy\(\)|does not require grad",
     "The way back is cut (`detach`, `.data`, `.item()`, numpy): stay with tensor operations."),
    (r"values to unpack", "The input can have another number of axes: count them from the back, `x.size(-1)`."),
    (r"Dimension out of range|index out of range|out of bounds",
     "That axis or entry is not there for this input: print the shape one line earlier."),
    (r"BdbQuit", "`breakpoint()` has no terminal here: use `learn check LESSON --pdb`."),
    (r"RecursionError", "It calls itself without end: look for a function that has the name of what it should call."),
    (r"^(Permission|FileNotFound|IsADirectory|NotADirectory)Error\b|Operation not permitted|name resolution",
     "While it is checked, your code has no files and no network: compute from the arguments alone."),
    (r"CUDA|NVIDIA|same device", "Name no device: create tensors with `device=x.device`."),
    (r"No module named|cannot import name",
     "Use torch, numpy, the standard library, or your own earlier lessons beside this file."),
    (r"keyword argument|positional argument", "It is called with other arguments than it takes: compare with the "
     "signature in the exercise."),
    (r"'NoneType' object|NoneType", "Something on this line is None: a function without `return`, or an argument that "
     "was not given."),
    (r"SystemExit|KeyboardInterrupt", "Take out what ends the program."),
)
# fmt: on


def advice_for(error: str) -> str:
    """Return advice on an error given as "TypeName: text"; general advice if the error is not known."""
    return next((text for pattern, text in ADVICE if re.search(pattern, error)), GENERAL)
