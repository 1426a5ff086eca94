"""Hints on error messages: each is tried on real errors of Python and torch that it is about."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
import torch
from support.factories import judge_source
from torch import nn
from torch.nn import functional

from grader.judge.diagnosis.error_hints import HINTS, UNKNOWN, hint_for

# What is to be written, and code that raises the error.
# fmt: off
ERRORS = (
    ('Indent by four spaces', 'def f(x):\n\ty = 1\n        return y\n'),
    ('Indent it exactly as the', 'def f(x):\n    y = 1\n      return y\n'),
    ('Indent it exactly as the', 'def f(x):\n    y = 1\n  return y\n'),
    ('Indent the lines that belong', 'def f(x):\nreturn x\n'),
    ('Indent the lines that belong', 'def f():\n'),
    ("Count this line's brackets", 'y = (1, 2'),
    ('Save it as UTF-8 text', 'x = 1\0\n'),
    ('Pair the brackets of this', 'z = [1, 2)'),
    ('Pair the brackets of this', 'z = 1)'),
    ('Put `:` at its end.', 'def f(x)\n    return x\n'),
    ('Put `:` at its end.', 'for i in range(3)\n    pass\n'),
    ('Write `f"{x.shape}"`: each', 'f"{x"'),
    ('Write `f"{x.shape}"`: each', 'f"{}"'),
    ('End it with the quotation', 'y = "abc'),
    ('End it with the quotation', "y = 'it's'"),
    ('Compare with `==`; to set a', 'if x = 3: pass'),
    ('Compare with `==`; to set a', 'x.size(-1) = 3'),
    ('Indent it as far as the', 'return 3'),
    ('Indent it as far as the', 'yield 3'),
    ('Put the plain arguments first.', 'f(a=1, 2)'),
    ('Put the plain arguments first.', 'def f(a=1, b): pass'),
    ('Write `2 * i`, `*` and', 'y = 10000 ** 2i'),
    ('Write `2 * i`, `*` and', 'y = 05'),
    ('Look for a missing operator,', 'x = 3 y = 4'),
    ('Look for a missing operator,', 'class = 3'),
    ('Take it out and use `learn', 'import bdb; raise bdb.BdbQuit'),
    ('Take it out and use `learn', 'breakpoint()'),
    ('Take out `exit()`: return a', 'raise SystemExit'),
    ('Take out `exit()`: return a', 'exit()'),
    ('Look for a function that has', 'def f(a):\n    return f(a)\nf(1)\n'),
    ('Compute from the arguments', 'torch.load("x.pt")'),
    ('Check the spelling of the', 'import torch.nn.functionals'),
    ('Check the spelling of the', 'from torch import sotfmax'),
    ('Write it with torch:', 'import einops'),
    ('Count its dots, or take', 'exec("from .helpers import f", {"__name__": "softmax"})'),
    ('Write it with torch. A file of yours', 'import transformers_magic'),
    ('Write it with torch:', 'from einops import rearrange'),
    ('Import it at the top of the', 'numpy.exp(1)'),
    ('Set it before this line,', 'def f():\n    total += 1\nf()\n'),
    ('Set it before this line,', 'def f():\n    if False: y = 1\n    return y\nf()\n'),
    ('Look for a misspelling, or', 'not_a_name'),
    ('Look for a misspelling, or', 'masked_fill(x, mask, 0)'),
    ('Take `.values`; or `amax`.', 'torch.max(x, dim=-1) - 1'),
    ('Take `.values`; or `amax`.', 'x - x.max(dim=-1, keepdim=True)'),
    ('Add the `return`; use a mask', '~None'),
    ('Add the `return`; use a mask', 'F.mse_loss(x, None)'),
    ('Begin `__init__` with', 'class A(nn.Module):\n    def __init__(self):\n        self.w = nn.Linear(4, 4)\nA()\n'),
    ('Begin `__init__` with', 'class A(nn.Module):\n    def __init__(self):\n        self.w = nn.Parameter()\nA()\n'),
    ('Write `super().__init__()`.', 'class A(nn.Module):\n    def __init__(self):\n        super.__init__()\nA()\n'),
    ('Name the method `forward`; go', 'class A(nn.Module):\n    def foward(self, x):\n        return x\nA()(x)\n'),
    ('Name the method `forward`; go', 'nn.ModuleList([nn.Linear(2, 2)])(x)'),
    ('Compare names, `nn.Linear(in,', 'nn.Linear(4, 8).load_state_dict(nn.Linear(8, 4).state_dict())'),
    ('Compare names, `nn.Linear(in,', 'nn.Linear(4, 8).load_state_dict({"w": w})'),
    ('Use `nn.LayerNorm(d_model)`,', 'nn.BatchNorm1d(5)(x)'),
    ('Make it with the size of the', 'nn.LayerNorm(5)(x)'),
    ('Make it with the size of the', 'nn.LayerNorm(2, 5)(x)'),
    ('Write `F.layer_norm(x,', 'F.layer_norm(x, 4)'),
    ('Exchange the arguments if', 'nn.MultiheadAttention(4, 3)'),
    ('Write `nn.ReLU()` for', 'nn.Sequential(F.relu)'),
    ('Write `nn.ReLU()` for', 'nn.Sequential([nn.Linear(2, 2)])'),
    ('Wrap it: `nn.Parameter(...)`.', 'nn.Linear(4, 4).weight = torch.zeros(4, 4)'),
    ('For a size write', 'class A:\n    def __init__(self, d): pass\n    def forward(self, x): return x\nA(4)(x)\n'),
    ('For a size write', 'x.shape(0)'),
    ('Write `x.size(0)` or', 'x.size[0]'),
    ('Check its spelling.', 'torch.sotfmax(x)'),
    ('Check its spelling.', 'torch.triangular(x)'),
    ('Make one tensor:', '[1, 2].shape'),
    ('Make one tensor:', '[1, 2] - x.amax()'),
    ('Write `x.to(dtype)` for', 'x.T.foo'),
    ('Write `x.to(dtype)` for', 'x.dims'),
    ('Compare the name with where', 'class A(nn.Module):\n    def forward(self, x): return self.norm(x)\nA()(x)\n'),
    ('Name it: `torch.softmax(x,', 'torch.softmax(x)'),
    ('Name it: `torch.softmax(x,', 'x.softmax()'),
    ('Write `x.transpose(-2, -1)`.', 'x.transpose()'),
    ('Write `x.transpose(-2, -1)`.', 'x.transpose(-1)'),
    ('Put all axes in order with', 'x.transpose(1, 2, 0)'),
    ('Write `dim`, `keepdim` and', 'F.softmax(x, axis=7)'),
    ('Write `dim`, `keepdim` and', 'x.sum(-1, keepdims=True, foo=1)'),
    ('Check its spelling against', 'F.cross_entropy(logits, targets, reducton="mean")'),
    ('Check its spelling against', 'torch.optim.SGD([w], learning_rate=1)'),
    ('Compare the call with the', 'class A(nn.Module):\n    def forward(x):\n        return x\nA()(x)\n'),
    ('Compare the call with the', 'torch.full(3, 4, -1)'),
    ('Compare the call with the', 'nn.CrossEntropyLoss()(logits.view(-1,7))'),
    ('Compare the call with the', 'torch.nn.utils.clip_grad_norm_([w])'),
    ('Give it once.', 'def f(a): pass\nf(1, a=3)\n'),
    ('Divide with `//`: `d_model //', 'x.view(2, 3, 2, 4 / 2)'),
    ('Divide with `//`: `d_model //', 'x.reshape(2, 3, 2, 4 / 2)'),
    ('For a number use', 'torch.sqrt(q.size(-1))'),
    ('For a number use', 'torch.exp(2)'),
    ('Stay with tensors, or convert', 'torch.sin(np.ones(3))'),
    ('Stay with tensors, or convert', 'torch.from_numpy(x)'),
    ('Write `torch.cat([a, b],', 'torch.cat(q, k)'),
    ('Write `torch.cat([a, b],', 'torch.stack(x.unbind(0), x)'),
    ('Make each entry a tensor.', 'torch.cat((q, 3))'),
    ('Write `torch.float32` or', 'torch.zeros(3, dtype="float32")'),
    ('Write `torch.float32` or', 'torch.ones(3, 4, dtype=x)'),
    ('Write `x.size(-1)` for a', 'torch.zeros(x)'),
    ('Write `x.size(-1)` for a', 'torch.arange(x)'),
    ("Compare each argument's kind", 'x.masked_fill(torch.ones(3,4).bool(), None)'),
    ("Compare each argument's kind", 'ids.float().mean(dim="last")'),
    ('Subtract the maximum first.', 'math.exp(1000)'),
    ('Look for a wrong sign one', 'math.sqrt(-1)'),
    ('Write `**`: `10000 ** x`.', '10000 ^ x'),
    ('Write `**`: `10000 ** x`.', '10000 ^ (2 / 4)'),
    ('Write `if mask is not None:`', 'if mask: pass'),
    ('Write `if mask is not None:`', 'while x > 0: pass'),
    ('Write `~mask`, which is what', '1 - mask'),
    ('Write `~mask`, which is what', 'mask - 1'),
    ('Compare first (`mask == 0`),', '~x'),
    ('Write `mask == 0`, or', 'x.masked_fill(torch.ones(3, 4), 0)'),
    ('Write `mask == 0`, or', 'torch.where(torch.ones(3,4), x, 0)'),
    ('Use `masked_fill(~mask,', 'x[mask]'),
    ('Fill with `float("-inf")`,', 'x.half().masked_fill(torch.ones(3,4).bool(), -1e9)'),
    ('Make the table as long as the', 'nn.Embedding(5, 4)(ids)'),
    ('Give the last axis of the', 'F.cross_entropy(logits.view(-1, 7), targets.view(-1) + 7)'),
    ('Write', 'F.cross_entropy(logits, targets)'),
    ('Write', 'F.cross_entropy(logits.view(-1, 7), targets)'),
    ('Convert them with `.long()`;', 'nn.Embedding(5, 4)(ids.float())'),
    ('Convert them with `.long()`;', 'F.cross_entropy(logits.view(-1, 7), targets.view(-1).float())'),
    ('Name all of them, or exchange', 'x.permute(0, 2)'),
    ('Name all of them, or exchange', 'x.permute(0, 1, 1)'),
    ('Count from the back: -1 is', 'x.transpose(2, 3)'),
    ('Count from the back: -1 is', 'x.squeeze(5)'),
    ('Convert it with `.long()`, or', 'x[torch.ones(2,3)]'),
    ('Convert it with `.long()`, or', 'x.gather(1, torch.zeros(2,3,4))'),
    ('Print the shape one line', 'x[5]'),
    ('Print the shape one line', 'x[:, :, :, 0]'),
    ('Write a group for each', 'torch.einsum("bqd,bkd->bqk", q, k[:, :, :3])'),
    ('Write a group for each', 'torch.einsum("bqd,bkd", q)'),
    ('Take sizes from the back,', 'a, b = x.shape'),
    ('Take sizes from the back,', 'a, b, c, d = x.shape'),
    ('Print their shapes, and check', 'torch.cat((q, k), dim=0)'),
    ('Print their shapes, and check', 'torch.stack((q, k))'),
    ('Print both one line earlier;', 'q + k'),
    ('Print both one line earlier;', 'x.masked_fill(mask, 0)'),
    ('Print the shapes of both', 'x.expand(2, 3, 5)'),
    ('Print the shapes of both', 'x.expand(3)'),
    ('Print both shapes:', 'nn.Linear(4, 8)(torch.randn(2, 8))'),
    ('Print both shapes:', 'mask.float() @ torch.randn(4, 5)'),
    ('Print both shapes; keys need', 'x.t()'),
    ('Print both shapes; keys need', 'torch.matmul(q, k)'),
    ('Multiply the sizes on both', 'x.unflatten(-1, (3, 2))'),
    ('Multiply the sizes on both', 'x.view(5, 5)'),
    ('Write the others out.', 'x.reshape(2, -1, -1)'),
    ('Use `reshape`, or', 'x.transpose(1, 2).view(6, 4)'),
    ('Look for a sum or maximum', 'a, b = x.max()'),
    ('Look for a sum or maximum', 'len(torch.tensor(1))'),
    ('Take that out where numbers', 'ids.mean(dim=-1)'),
    ('Keep the tensor until its last', 'x.mean().item().backward()'),
    ('Go through all with one `for`', 'next(iter([]))'),
    ('Take that out where numbers', 'ids.softmax(-1)'),
    ('Convert one side:', 'q @ q.double().transpose(1,2)'),
    ('Convert one side:', 'mask @ torch.randn(3,4)'),
    ('Name no device: create', 'x.to("cuda")'),
    ('Name no device: create', 'x.cuda()'),
    ('Compute the loss anew in each', 'l = (w * w).sum(); l.backward(); l.backward()'),
    ('Reduce it first:', '(w * 2).backward()'),
    ('Reduce it first:', 'x.masked_fill_(mask[0,0], w.sum()).backward()'),
    ('Stay with tensor operations.', 'x.sum().backward()'),
    ('Stay with tensor operations.', 'w.numpy()'),
    ('Make a new tensor, or update', 'w += 1'),
    ('Make a new tensor, or update', 'w[0] = 1'),
    ('Make a new tensor: `y = y +', 'y = w.exp(); y += 1; y.sum().backward()'),
    ('Make a new tensor: `y = y +', 'y = torch.exp(w); y[0] = 0; y.sum().backward()'),
    ('Write', 'torch.optim.SGD(nn.Linear(2, 2), lr=1)'),
    ('Write', 'torch.optim.SGD([], lr=1)'),
    ('Write `with torch.no_grad():`.', 'with torch.no_grad: pass'),
    ("Use torch's own, such as", 'math.sqrt(x)'),
    ("Use torch's own, such as", 'math.exp(x)'),
    ('Loop over `range(n)`, with n', 'sum(5)'),
    ('Loop over `range(n)`, with n', 'sum(x for x in 5)'),
    ('Look at what is subtracted', '1 / 0'),
    ('Print its keys one line', '{"a": 1}["b"]'),
    ('Print its keys one line', 'nn.ModuleDict()["a"]'),
    ('Take off the quotation marks;', 'torch.tensor("a")'),
    ('Take off the quotation marks;', '"a" + 1'),
    ('Take it out, or make it hold', 'assert x.shape == (1,), "wrong"'),
    ('Take it out, or make it hold', 'assert False'),
)
# fmt: on


def _names() -> dict[str, Any]:
    """What a learner's code has at hand."""
    torch.manual_seed(0)
    return {
        "torch": torch, "math": math, "nn": nn, "F": functional, "np": numpy, "none": None,
        "x": torch.randn(2, 3, 4), "q": torch.randn(2, 3, 4), "k": torch.randn(2, 5, 4), "v": torch.randn(2, 5, 6),
        "w": torch.randn(4, 4, requires_grad=True), "ids": torch.tensor([[1, 2], [3, 9]]),
        "mask": torch.ones(3, 3, dtype=torch.bool), "logits": torch.randn(2, 3, 7),
        "targets": torch.randint(0, 7, (2, 3)),
    }  # fmt: skip


def _error_of(code: str) -> str:
    """The error that running a piece of code raises, as "TypeName: text"."""
    with pytest.raises(BaseException) as caught:
        exec(compile(code, "learner.py", "exec"), _names())
    return f"{type(caught.value).__name__}: {caught.value}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("words, code", ERRORS, ids=[code.strip().splitlines()[-1] for _, code in ERRORS])
def test_a_real_error_gets_its_own_hint(words, code):
    """The error that torch or Python really raises is recognised, and what to write is said."""
    assert hint_for(_error_of(code)).write.startswith(words)


@pytest.mark.filterwarnings("ignore")
def test_every_hint_is_provoked():
    """No hint stands in the table whose error nothing raises, and none is hidden by one before it."""
    provoked = {hint_for(_error_of(code)) for _, code in ERRORS}

    assert [hint.pattern for hint in HINTS if hint not in provoked] == [r"torch\._dynamo"]  # below
    assert len(HINTS) >= 60


def test_an_unknown_error_gets_general_advice():
    """What no pattern knows is answered with what always helps."""
    assert hint_for("LookupError: nothing of the kind") is UNKNOWN


def test_every_hint_is_two_short_sentences():
    """What an error means and what to write fit under a line of an assessment."""
    assert all(4 < len(text) < 130 and text.endswith(".") for hint in HINTS for text in hint[1:])


SOFTMAX = "import torch\ndef softmax(x, dim=-1):\n    e = torch.exp(x - x.amax(dim, keepdim=True))\n    return {}\n"
IN_A_VERDICT = {
    "a root of a size": (SOFTMAX.format("e / torch.sqrt(x.size(dim))"), "e / torch.sqrt(x.size(dim))", "math.sqrt(n)"),
    "no dim": (SOFTMAX.format("e.transpose(dim)"), "return e.transpose(dim)", "x.transpose(-2, -1)"),
    "None": (SOFTMAX.format("e / print(x.shape).sum()"), "print(x.shape).sum()", "Add the `return`"),
    "syntax": (SOFTMAX.format("e / (e.sum()"), "return e / (e.sum()", "close it"),
    "a package": ("from einops import reduce\n" + SOFTMAX.format("e"), "from einops import", "Only torch, numpy, the"),
    "a compiler": (SOFTMAX.format("e / e.sum()").replace("def", "@torch.compile\ndef"), "@torch.compile", "Take out"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "line", "words"), IN_A_VERDICT.values(), ids=IN_A_VERDICT)
def test_a_verdict_shows_the_line_and_the_hint(launcher, source, line, words):
    """A learner reads their own line, what the error means, and what to write."""
    (mistake,) = judge_source(launcher, "softmax", source).mistakes

    assert line in mistake.says
    assert words in mistake.suggests


def test_an_argument_that_is_changed_in_place_is_called_no_parameter():
    """The checks ask for gradients of arguments: `h[~mask] = 0` fails there as a parameter's update does."""
    given = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError) as raised:
        given[0] = 0.0
    assert "what was given" in hint_for(f"RuntimeError: {raised.value}").means
