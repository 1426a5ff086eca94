"""What people write in `FeedForward` in place of the reference's lines; and other right ways to write it."""

from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  the field's name for it

from grader.api.checks import MistakeSet, as_buffers, without_names  # noqa: F401  lines below use it

BOTH_FORMS = 2e-3  # both forms of GELU are right
# what the network holds at the start is random, and `test_parameters` reads it
ffn = MistakeSet("FeedForward", globals(), read=without_names, without=("parameters",),
                 tolerances={"strong_hidden": BOTH_FORMS, "gradient": BOTH_FORMS})  # fmt: skip
mistake, right = ffn.mistake, ffn.alternative
MISTAKE_SETS = [ffn]
STATE = {"w1.weight": (4, 3), "w1.bias": (4,), "w2.weight": (3, 4), "w2.bias": (3,)}


@ffn.probe("the names")
def _(subject, rand):
    made = subject.FeedForward(3, 4, state={name: rand(*shape) for name, shape in STATE.items()})
    if any(name.startswith(("w1.", "w2.")) and name.split(".")[1].isdigit() for name in made.missing):
        return "layers in a list"
    if made.missing and made.unexpected:
        return "other names"
    return [sorted(made.missing), sorted(made.unexpected)]


class PerPlace(nn.Module):
    """A network of its own for each of some places."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.ModuleList(nn.Linear(d_model, d_ff) for _ in range(8))
        self.w2 = nn.ModuleList(nn.Linear(d_ff, d_model) for _ in range(8))

    def forward(self, x):
        places = enumerate(x.unbind(-2))
        return torch.stack([self.w2[t](F.gelu(self.w1[t](token))) for t, token in places], dim=-2)


class OtherNames(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.net = nn.ModuleDict({"up": nn.Linear(d_model, d_ff), "down": nn.Linear(d_ff, d_model)})

    def forward(self, x):
        return self.net["down"](F.gelu(self.net["up"](x)))


class Sequence(nn.Sequential):
    """A row of modules under the given names."""

    def __init__(self, d_model, d_ff):
        layers = {"w1": nn.Linear(d_model, d_ff), "act": nn.GELU(), "w2": nn.Linear(d_ff, d_model)}
        super().__init__(OrderedDict(layers))


# fmt: off
NAMES = ("the names",)

# --- the bend
mistake("ff-no-activation", "There is nothing between the two linear maps: together they are one linear map.",
        "Bend the hidden layer: `gelu(self.w1(x))`.", bend="hidden")
mistake("ff-after-second", "The activation stands after the second map, and not between the two.",
        "Put it between them: `self.w2(gelu(self.w1(x)))`.", bend="hidden", narrow="F.gelu(self.w2(hidden))")
mistake("ff-before-first", "The activation stands before the first map, and not between the two.",
        "Put it between them: `self.w2(gelu(self.w1(x)))`.", take_x="F.gelu(x)", bend="hidden")
mistake("ff-both", "There is an activation after the second map, too: the result can hardly be negative.",
        "Return what `w2` gives.", narrow="F.gelu(self.w2(hidden))")
for name, wrong in (("ReLU", "hidden.relu()"), ("SiLU (z·σ(z))", "F.silu(hidden)"), ("tanh", "hidden.tanh()"),
                    ("z·½(1 + erf z), with z in place of z/√2", "hidden * (1 + torch.erf(hidden)) / 2"),
                    ("the sigmoid", "hidden.sigmoid()"), ("z·σ(1.702z)", "hidden * torch.sigmoid(1.702 * hidden)")):
    mistake("ff-relu" if name == "ReLU" else "ff-other-activation", f"The activation is {name}, and not GELU.",
            "Use `nn.functional.gelu`.", coding="" if name == "ReLU" else name, bend=wrong)

# --- the two maps
mistake("ff-swapped-widths", "The widths are exchanged: w1 leads from d_ff to D.", "w1 is Linear(d_model, d_ff), w2 is "
        "Linear(d_ff, d_model).", alone=True, w1="nn.Linear(d_ff, d_model)", w2="nn.Linear(d_model, d_ff)")
mistake("ff-no-bias", "The linear maps have no bias.", "Take out `bias=False`.",
        w1="nn.Linear(d_model, d_ff, bias=False)", w2="nn.Linear(d_ff, d_model, bias=False)")
mistake("ff-no-bias", "w1 has no bias.", "Take out `bias=False`.", coding="w1",
        w1="nn.Linear(d_model, d_ff, bias=False)")
mistake("ff-no-bias", "w2 has no bias.", "Take out `bias=False`.", coding="w2",
        w2="nn.Linear(d_ff, d_model, bias=False)")
mistake("ff-not-a-parameter", "The numbers of w1 are buffers: they are saved with the model, and no optimizer ever "
        "moves "
        "them.", "Make `w1` an nn.Linear, or its numbers nn.Parameter.", w1="as_buffers(nn.Linear(d_model, d_ff))")
mistake("ff-per-position", "There is a list of layers, one for each place: the network is the same at every place.",
        "One `w1` and one `w2` serve all places.", only=NAMES, version=PerPlace)
mistake("ff-other-names", "The layers have other names.", "Call them `w1` and `w2`, right in your module.", only=NAMES,
        version=OtherNames)
mistake("ff-other-names", coding="beside others",  # lines below may say `w1` and `w2`
        w1="self.up = nn.Linear(d_model, d_ff)\nself.__dict__['w1'] = self.up",
        w2="self.down = nn.Linear(d_ff, d_model)\nself.__dict__['w2'] = self.down")
mistake("ff-bias-twice", "The bias of w2 is added once more: `self.w2` adds it already.", "Return `self.w2(...)`.",
        narrow="self.w2(hidden) + self.w2.bias")
for name, step, product in (("w1", "widen", "x @ self.w1.weight.T"), ("w2", "narrow", "hidden @ self.w2.weight.T")):
    mistake("ff-bias-unused", f"The bias of {name} is not added.", f"Call `self.{name}(...)`, which adds it.",
            coding=name, **{step: product})
mistake("ff-wide-out", "The result stays at the width d_ff: w2 is not used.", "Return `self.w2(...)`.", narrow="hidden")
mistake("ff-w1-twice", "The weight of w1, turned round, is used in the place of w2.", "Use `self.w2`.",
        narrow="hidden @ self.w1.weight + self.w2.bias")

# --- around them
mistake("ff-mixes-positions", "The axes of places and features are exchanged: tokens are mixed.",
        "A linear map takes the last axis, which is D: exchange nothing.", alone=True, take_x="x.transpose(-2, -1)",
        result="value.transpose(-2, -1)")
mistake("ff-mixes-positions", "Tokens are mixed: each gets the mean of the hidden layer over its text.",
        "Treat every token by itself.", coding="mean",
        bend="nn.functional.gelu(hidden).mean(-2, keepdim=True).expand_as(hidden)")
mistake("ff-residual-inside", "x is added to the result: the sum belongs to the block.", "Return what `w2` gives.",
        narrow="x + self.w2(hidden)")
mistake("ff-norm-inside", "x is normed first: the norm belongs to the block.", "Take x as it is.",
        widen="self.w1(F.layer_norm(x, x.shape[-1:]))")
mistake("ff-norm-inside", coding="before all", take_x="F.layer_norm(x, x.shape[-1:])")
mistake("ff-norm-inside", "x is normed first, and that is what is added: both belong to the block.", "Take x as it is.",
        coding="and added", take_x="F.layer_norm(x, x.shape[-1:])", narrow="x + self.w2(hidden)")
mistake("ff-norm-inside", "The hidden layer is normed.", "Bend it and no more.", coding="hidden",
        bend="F.gelu(F.layer_norm(hidden, hidden.shape[-1:]))")
mistake("ff-softmaxed", "A softmax runs over the hidden layer.", "Bend it with GELU.",
        bend="nn.functional.gelu(hidden).softmax(-1)")
ffn.common("ff", "detached")
mistake("ff-in-place", "You change the caller's tensor.", "Make a new one.", narrow="x.copy_(self.w2(hidden))")

# --- just as right
right("GELU in its tanh form", bend="F.gelu(hidden, approximate='tanh')")
right("erf", bend="0.5 * hidden * (1 + torch.erf(hidden / 2**0.5))")
right("F.linear", widen="F.linear(x, self.w1.weight, self.w1.bias)")
right("matrix products", widen="x @ self.w1.weight.T + self.w1.bias",
      narrow="torch.einsum('...f,df->...d', hidden, self.w2.weight) + self.w2.bias")
right("a convolution of width 1", widen="F.conv1d(x.reshape(-1, x.size(-1), 1), self.w1.weight.unsqueeze(-1), "
      "self.w1.bias).view(*x.shape[:-1], -1)")
right("nn.Sequential", version=Sequence)
# fmt: on
