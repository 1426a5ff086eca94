"""What errors of Python and torch mean in an exercise, and what to write: for messages that learners misread."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple


class Hint(NamedTuple):
    """What an error means here, and what to write in place of the line that raised it."""

    pattern: str  # found in "TypeName: text"
    means: str
    write: str

    @property
    def advice(self) -> str:
        """Both in one text."""
        return f"{self.means} {self.write}".lstrip()


UNKNOWN = Hint("", "", "Read the line shown, and print what stands on it one line earlier.")
MAX_KEPT = 256  # errors whose hint is remembered: known mistakes raise the same few a thousand times
MAX_CHARS = 500  # of an error that are looked at: its text may be a whole page, and is the submission's to choose

# The first pattern that is found tells.
# fmt: off
HINTS = tuple(Hint(*row) for row in (
    # --- Python cannot read the file
    (r"TabError", "Some lines are indented with tabs, others with spaces.", "Indent by four spaces everywhere."),
    (r"unexpected indent|unindent does not match", "This line begins further in or out than the block that it is in.",
     "Indent it exactly as the lines of its block."),
    (r"expected an indented block", "What ends in `:` needs a body below it, further in.",
     "Indent the lines that belong to it by four spaces."),
    (r"was never closed", "A bracket is opened here and never closed.", "Count this line's brackets and close it."),
    (r"unmatched|does not match opening", "A bracket is closed that was not opened, or with another sign.",
     "Pair the brackets of this line: `(` with `)`, `[` with `]`."),
    (r"expected ':'", "A line with `def`, `class`, `if`, `for` or `else` ends in a colon.", "Put `:` at its end."),
    (r"f-string", "The braces of an f-string hold no complete expression.",
     "Write `f\"{x.shape}\"`: each `{` closed by a `}`, with a value between."),
    (r"unterminated (triple-quoted )?string", "A string is not closed, or holds its own quotation mark.",
     "End it with the quotation mark that it began with; inside, use the other kind."),
    (r"Maybe you meant '=='|cannot assign to", "A single `=` assigns a value to a name, and no plain name is here.",
     "Compare with `==`; to set a value, write one plain name on the left."),
    (r"'(return|yield|await)' outside function", "This line is not indented into a function.",
     "Indent it as far as the function's other lines."),
    (r"positional argument follows keyword|without a default follows|non-default argument",
     "Arguments with a name or default come last.",
     "Put the plain arguments first."),
    (r"invalid decimal literal|leading zeros|invalid (non-printable )?character",
     "A number or sign is not Python's: `2i`, `×`, `“`.", "Write `2 * i`, `*` and straight quotation marks."),
    (r"null bytes", "The file holds signs that are no text.", "Save it as UTF-8 text, or write it anew."),
    (r"^SyntaxError", "Python cannot read this line, or the one before it.",
     "Look for a missing operator, comma or bracket, and for a keyword used as a name."),
    # --- what ends or leaves the program
    (r"BdbQuit|breakpoint\(\) stops nowhere", "`breakpoint()` has no terminal here.",
     "Take it out and use `learn check --pdb`, which stops at the call that fails."),
    (r"SystemExit|KeyboardInterrupt", "Your code ends the whole program.", "Take out `exit()`: return a value."),
    (r"RecursionError", "A function calls itself without end.",
     "Look for a function that has the name of what it should call."),
    (r"torch\._dynamo", "PyTorch's compiler is not there while your code is checked.",
     "Take out `torch.compile` and what is imported for it."),
    (r"^(Permission|FileNotFound|IsADirectory|NotADirectory)Error\b|Operation not permitted|name resolution",
     "While it is checked, your code has no files, no network and no new processes.",
     "Compute from the arguments alone."),
    (r"No module named '(torch|numpy|math)\b|cannot import name", "There is no such name in that module.",
     "Check the spelling of the import."),
    (r"No module named 'einops\b", "Only torch, numpy, the standard library and your own lessons are there.",
     "Write it with torch: `rearrange` is `reshape` and `transpose`."),
    (r"relative import", "No file of yours lies where this import leads.",
     "Count its dots, or take them out: `from helpers import ...`."),
    (r"No module named", "Only torch, numpy, the standard library and your own lessons are there.",
     "Write it with torch. A file of yours is found beside this one, and in the folders above it."),
    # --- names
    (r"name '(torch|nn|F|math|np|numpy)' is not defined", "That module was never imported.",
     "Import it at the top of the file."),
    (r"cannot access local variable|referenced before assignment",
     "This name is set in another branch, or only further down.", "Set it before this line, whatever the `if` says."),
    (r"is not defined", "That name is not known on this line.", "Look for a misspelling, or for what sets it first."),
    (r"torch\.return_types", "`max(dim)` and its like give a pair (values, indices).", "Take `.values`; or `amax`."),
    (r"'NoneType'",
     "Something is None: a function without `return`, an argument not given, a `.grad` before `backward`.",
     "Add the `return`; use a mask only `if mask is not None`."),
    # --- modules
    (r"before Module\.__init__\(\) call|has no attribute '_(modules|parameters|buffers)'",
     "The module was not set up before it got its first part.", "Begin `__init__` with `super().__init__()`."),
    (r"descriptor '__init__'|'super' object", "`super` is a function: it has to be called.",
     "Write `super().__init__()`."),
    (r"required \"forward\" function", "The module has no method `forward`: another name, or it is a `ModuleList`.",
     "Name the method `forward`; go through a `ModuleList` in a loop."),
    (r"loading state_dict", "Your parameters have other names or sizes than the exercise sets.",
     "Compare names, `nn.Linear(in, out)` and biases; take out BatchNorm, which has buffers."),
    (r"running_mean", "BatchNorm takes axis 1 for the features, and keeps statistics in buffers.",
     "Use `nn.LayerNorm(d_model)`, over the last axis."),
    (r"normalized_shape=", "LayerNorm was made for another width than the last axis has.",
     "Make it with the size of the last axis: `nn.LayerNorm(d_model)`."),
    (r"normalized_shape'.*not int", "`F.layer_norm` wants the normalised sizes as a tuple.",
     "Write `F.layer_norm(x, (x.size(-1),))`."),
    (r"divisible by num_heads", "The width does not divide into that many heads.",
     "Exchange the arguments if they are in the wrong order: width first, then heads."),
    (r"is not a Module subclass", "`Sequential` and `ModuleList` hold modules, not functions, lists or tensors.",
     "Write `nn.ReLU()` for `F.relu`, and `*layers` to hand a list to `Sequential`."),
    (r"cannot assign '.*' as parameter", "A parameter of a module cannot become a plain tensor.",
     "Wrap it: `nn.Parameter(...)`."),
    (r"object is not callable", "You call something that is no function: a tensor, a size, a class without `forward`.",
     "For a size write `x.shape[0]`; a layer derives from `nn.Module`; else take out the brackets."),
    (r"object is not subscriptable", "Square brackets stand where a function has to be called.",
     "Write `x.size(0)` or `x.shape[0]`."),
    (r"'(float|int|bool)' object has no attribute", "A plain number stands where a tensor should: of `.item()`, say.",
     "Keep the tensor until its last use, such as `loss.backward()`; call `.item()` behind that."),
    (r"module '.*' has no attribute", "There is no function of that name in that module.", "Check its spelling."),
    (r"'(list|tuple)' object has no attribute|for .: '(list|tuple)'|and '(list|tuple)'",
     "A list or tuple stands where a tensor should.", "Make one tensor: `torch.stack(parts)` or `torch.cat(parts)`."),
    (r"'Tensor' object has no attribute", "Tensors have no method of that name; numpy's are often called otherwise.",
     "Write `x.to(dtype)` for `astype`, `x.clone()` for `copy`, `x.dim()` for the number of axes."),
    (r"has no attribute", "This object has nothing of that name.",
     "Compare the name with where `__init__` sets `self.NAME`."),
    # --- arguments
    (r"missing \d required positional arguments?: \"dim\"", "torch wants to know over which axis.",
     "Name it: `torch.softmax(x, dim=-1)`."),
    (r"missing .*\"dim[01]\"", "`transpose` exchanges two axes, and wants both.", "Write `x.transpose(-2, -1)`."),
    (r"^TypeError: transpose\(\) takes", "`transpose` exchanges just two axes.",
     "Put all axes in order with `x.permute(...)`."),
    (r"unexpected keyword argument '(axis|keepdims|keep_dim|k)'", "This function knows numpy's word by another name.",
     "Write `dim`, `keepdim` and `diagonal`."),
    (r"unexpected keyword argument", "The function knows no argument of that name.",
     "Check its spelling against the `def` or the documentation."),
    (r"takes \d+ positional arguments? but|takes from \d+",
     "More arguments are given than the function takes; for a method, `self` counts as one.",
     "Compare the call with the `def`, and write `self` first in a method."),
    (r"missing \d required positional", "The function wants more arguments than it is given.",
     "Compare the call with the `def` or the documentation."),
    (r"multiple values for argument", "One argument is given twice: by its place and by its name.",
     "Give it once."),
    (r"failed to unpack|must be tuple of ints, *(but got|not) float|must be int, not float|got \(float|"
     r"'float' object cannot be interpreted|(indices must be|valid indices).*float|slice indices must be integers",
     "A size or an index is a float here: `/` gives a float even where it divides evenly.",
     "Divide with `//`: `d_model // num_heads`."),
    (r"must be Tensor, not (int|float)", "This function of torch takes a tensor, and got a plain number.",
     "For a number use `math.sqrt(n)`, `n ** 0.5` or `max(a, b)`; or make it a tensor."),
    (r"must be Tensor, not|expected np\.ndarray|'numpy\.ndarray'", "A numpy array meets a tensor here.",
     "Stay with tensors, or convert once with `torch.from_numpy`."),
    (r"tuple of Tensors, not Tensor|'dim' \(position 2\) must be int, not Tensor",
     "`cat` and `stack` take the tensors in one list or tuple.", "Write `torch.cat([a, b], dim=-1)`."),
    (r"expected Tensor as element", "The list holds something that is no tensor.", "Make each entry a tensor."),
    (r"must be torch\.dtype", "A dtype is an object of torch, not a string.", "Write `torch.float32` or `x.dtype`."),
    (r"must be Number|tuple of ints, not Tensor", "A plain number or size is wanted, and it got something else.",
     "Write `x.size(-1)` for a size, `float(\"-inf\")` for infinity."),
    (r"invalid combination of arguments", "No form of this function takes such arguments.",
     "Compare each argument's kind with the documentation: tensor, number, dim."),
    (r"range error", "`math` overflows where the exponent is large.", "Subtract the maximum first."),
    (r"domain error", "`math` has no value here: the root or logarithm of a negative number or of zero.",
     "Look for a wrong sign one line earlier."),
    # --- Booleans and masks
    (r"bitwise_xor|for \^:", "`^` is exclusive or in Python, not a power.", "Write `**`: `10000 ** x`."),
    (r"Boolean value of Tensor with more than one", "A tensor of many values is neither true nor false.",
     "Write `if mask is not None:` for `if mask:`, and `torch.maximum` for `max`."),
    (r"Subtraction, the `-` operator|Negation, the `-` operator", "Booleans are not subtracted.",
     "Write `~mask`, which is what `1 - mask` means."),
    (r"bitwise_not|invert|unary ~", "`~` is for Booleans, and this tensor holds numbers.",
     "Compare first (`mask == 0`), or make the tensor Boolean: `mask.bool()`."),
    (r"boolean masks|condition to be a boolean", "The mask holds numbers where Booleans are wanted.",
     "Write `mask == 0`, or `mask.bool()`."),
    (r"shape of the mask", "A mask used as an index has to have the axes of the tensor.",
     "Use `masked_fill(~mask, ...)`, which broadcasts."),
    (r"without overflow", "That number is too large for half precision.",
     "Fill with `float(\"-inf\")`, which every float has."),
    # --- shapes
    (r"index out of range in self", "An id is larger than the table of the embedding.",
     "Make the table as long as the vocabulary: `nn.Embedding(vocab_size, d_model)`."),
    (r"Target \d+ is out of bounds", "A target names a class that the logits do not have.",
     "Give the last axis of the logits the size of the vocabulary."),
    (r"Expected target size|match target batch_size", "`cross_entropy` wants classes on axis 1, or only two axes.",
     "Write `F.cross_entropy(logits.reshape(-1, V), targets.reshape(-1))`."),
    (r"target dtype|scalar types: Long", "Ids of classes and tokens are whole numbers.",
     "Convert them with `.long()`; exchange the arguments if logits stand second."),
    (r"number of dimensions does not match|desired ordering|duplicate dims",
     "`permute` wants every axis, each just once.", "Name all of them, or exchange two with `transpose`."),
    (r"Dimension out of range", "There is no axis of that number: counting begins at 0.",
     "Count from the back: -1 is the last axis, -2 the one before."),
    (r"tensors used as indices|Expected dtype int(32/int)?64 for index|Variables are valid indices",
     "An index has to hold whole numbers or Booleans.", "Convert it with `.long()`, or compare to get a mask."),
    (r"index out of range|out of bounds|too many indices", "That entry or axis is not there for this input.",
     "Print the shape one line earlier; count axes from the back."),
    (r"einsum\(\)", "The letters do not fit the operands: one letter for each axis, one size for each letter.",
     "Write a group for each tensor, separated by commas: `\"bqd,bkd->bqk\"`."),
    (r"values to unpack", "There are more or fewer values here than names: an input can have more axes, say.",
     "Take sizes from the back, `x.size(-1)`, or collect the front ones: `*lead, t, d = x.shape`."),
    (r"Sizes of tensors must match|expects each tensor to be equal size|same number of dimensions",
     "Only tensors of equal shape are joined; `cat` lets them differ along its own axis.",
     "Print their shapes, and check `dim`."),
    (r"The size of tensor a \(\d+\) must match|broadcastable|[Oo]utput with shape",
     "Two shapes that meet on this line do not broadcast.",
     "Print both one line earlier; a sum may need `keepdim=True`, a mask `unsqueeze`."),
    (r"expanded size|number of sizes provided", "The value does not fit into the place that it is assigned to.",
     "Print the shapes of both sides."),
    (r"mat1 and mat2", "The last axis of the first matrix and the first of the second differ.",
     "Print both shapes: `nn.Linear(in, out)` wants `in` last; a weight may need `.T`."),
    (r"batch2|inconsistent tensor size|size mismatch|matrix|D tensors? expected|<= 2 dimensions",
     "For `a @ b` the last axis of a and the last but one of b must have the same size.",
     "Print both shapes; keys need `k.transpose(-2, -1)`."),
    (r"is invalid for input of size|unflatten", "`view` and `reshape` keep the number of elements.",
     "Multiply the sizes on both sides and compare."),
    (r"one dimension can be inferred", "Only one size can be -1.", "Write the others out."),
    (r"view size is not compatible", "After `transpose` memory is in another order, and `view` refuses.",
     "Use `reshape`, or `.contiguous()` before it."),
    (r"0-d tensor", "This tensor is a single number: it has no axis to go along.",
     "Look for a sum or maximum without `dim` one line earlier."),
    # --- dtype and device
    (r"not implemented for '(Long|Int|Bool)'|infer output dtype|floating point dtype can require",
     "Whole numbers have no mean, softmax or gradient.",
     "Take that out where numbers only change places; elsewhere convert first: `x.float()`."),
    (r"expected scalar type|same dtype", "Two dtypes meet here, such as float32 and float64.",
     "Convert one side: `.to(x.dtype)`; make new tensors with `dtype=x.dtype`."),
    (r"CUDA|NVIDIA|same device|expected device", "Tensors are not on one device, or you name one that is not there.",
     "Name no device: create tensors with `device=x.device`."),
    # --- gradients
    (r"second time", "The graph of this loss was used up by the first `backward`.",
     "Compute the loss anew in each step; detach what is kept from the step before."),
    (r"only for scalar outputs", "`backward` begins at one number, and this tensor holds many.",
     "Reduce it first: `loss.mean().backward()`."),
    (r"does not require grad|Can't call numpy\(\)|Can't get.*numpy",
     "The way back is cut (`detach`, `.data`, `.item()`, `no_grad`, numpy).", "Stay with tensor operations."),
    (r"leaf Variable that requires grad", "A parameter, or what was given, is changed in place while autograd watches.",
     "Make a new tensor, or update it under `with torch.no_grad():`."),
    (r"modified by an inplace operation",
     "An operation in place (`+=`, `x[...] =`, a name ending in `_`) changed what autograd needs.",
     "Make a new tensor: `y = y + 1`."),
    (r"non-leaf Tensor|empty parameter list|should be an iterable of Tensors|'Linear' object is not iterable",
     "An optimizer takes the parameters of a model.", "Write `torch.optim.SGD(model.parameters(), lr=lr)`."),
    (r"context manager", "`torch.no_grad` is a function: it has to be called.", "Write `with torch.no_grad():`."),
    # --- numbers
    (r"must be real number|only one element tensors|elements cannot be converted to Scalar|only integer tensors of a",
     "One plain number is wanted, and this tensor holds many: `math` and `torch.tensor([...])` take numbers.",
     "Use torch's own, such as `torch.sin`; join tensors with `torch.stack`; loop over `range(x.size(0))`."),
    (r"object is not iterable|cannot be interpreted as an integer", "This is not something to loop over or count by.",
     "Loop over `range(n)`, with n a whole number such as `x.size(1)`."),
    (r"StopIteration", "`next` found nothing: there is none, or what came before has taken it.",
     "Go through all with one `for`: what `next` takes from a generator is gone."),
    (r"ZeroDivisionError", "The divisor is 0 for this input: a size or count can be 0 or 1.",
     "Look at what is subtracted from it: `n - 1` is 0 for n = 1."),
    (r"KeyError", "There is no entry of that name in the dictionary.", "Print its keys one line earlier."),
    (r"'str'|\bstr\b|string to float|invalid literal", "A string stands where a number should.",
     "Take off the quotation marks; infinity is `float(\"-inf\")`."),
    (r"^AssertionError", "An `assert` does not hold for this input.", "Take it out, or make it hold for every size."),
))
# fmt: on


def hint_for(error: str) -> Hint:
    """Return the hint on an error given as "TypeName: text"; UNKNOWN if no pattern is found in it."""
    return _hint_for(error[:MAX_CHARS])


@lru_cache(MAX_KEPT)
def _hint_for(error: str) -> Hint:
    return next((hint for hint in HINTS if re.search(hint.pattern, error)), UNKNOWN)
