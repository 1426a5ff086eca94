"""What people get wrong in `block`, executable; and other right ways to write it.

Not here, because one block alone cannot show them: one block put into a stack n times (bl-shared-layers), and blocks
that all read the stack's input (bl-each-layer-reads-input). A mask laid along the queries (at-mask-query-axis) is
at-mask-transposed here. Nor those that always end in an error about shapes, which says by itself where to look: heads
averaged, joined along the sequence or thrown away (hd-merge-averaged, hd-merge-along-sequence, hd-merge-one-head).
"""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  the field's name for it

from grader.api.checks import LearnerError, MistakeSet

INF = float("inf")
NORMS = ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias")
PROJECTIONS = ("attn.wq.weight", "attn.wk.weight", "attn.wv.weight", "attn.wo.weight")
NETWORK = ("ffn.w1.weight", "ffn.w1.bias", "ffn.w2.weight", "ffn.w2.bias")


class Keys:
    """What `load_state_dict` gives back."""

    def __init__(self, missing_keys, unexpected_keys):
        self.missing_keys, self.unexpected_keys = missing_keys, unexpected_keys


class Block(nn.Module):
    """The block in small steps, each a method, so that a mistake is another method in its place.

    Its parameters carry their dotted names themselves, in one flat module: hundreds of blocks are made when pairs of
    mistakes are sought, and modules inside modules would take much longer to make and to load.
    """

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.num_heads, self.norm_first = num_heads, norm_first
        for name, shape in self.shapes(d_model, d_ff).items():
            self._parameters[name] = nn.Parameter(torch.empty(shape))

    def load_state_dict(self, state_dict, strict=True):
        known = {**self._parameters, **self._buffers}
        for name in state_dict:
            if name in known:
                known[name].data = state_dict[name]
        return Keys([name for name in known if name not in state_dict], [n for n in state_dict if n not in known])

    def forward(self, x, mask=None):
        wire = self.pre if self.is_pre() else self.post
        return self.end(wire(x, self.passed(mask, x)))

    # --- the block's steps ---

    def shapes(self, d_model, d_ff):
        return {
            **{name: (d_model, d_model) for name in PROJECTIONS},
            **dict(zip(NETWORK, [(d_ff, d_model), (d_ff,), (d_model, d_ff), (d_model,)], strict=True)),
            **{name: (d_model,) for name in NORMS},
        }

    def is_pre(self):
        return self.norm_first

    def passed(self, mask, x):
        return mask

    def pre(self, x, mask):
        h = self.first_sum(x, self.attention(self.norm1(x), mask))
        return self.second_sum(x, h, self.network(self.norm2(h)))

    def post(self, x, mask):
        h = self.norm1(self.first_sum(x, self.attention(x, mask)))
        return self.norm2(self.second_sum(x, h, self.network(h)))

    def first_sum(self, x, branch):
        return x + branch

    def second_sum(self, x, h, branch):
        return h + branch

    def end(self, out):
        return out

    # --- the norm's steps ---

    def norm1(self, y):
        return self.shift(self.standardise(y), "norm1")

    def norm2(self, y):
        return self.shift(self.standardise(y), "norm2")

    def standardise(self, y):
        return F.layer_norm(y, y.shape[-1:])

    def shift(self, y, norm):
        return y * self._parameters[f"{norm}.weight"] + self._parameters[f"{norm}.bias"]

    # --- the network's steps ---

    def network(self, y):
        w1, b1, w2, b2 = (self._parameters.get(name) for name in NETWORK)
        return F.linear(self.activate(F.linear(y, w1, b1)), w2, b2)

    def activate(self, z):
        return F.gelu(z)

    # --- attention's steps ---

    def attention(self, y, mask):
        q, k, v = (self.split(part) for part in (self.project(y, "wq"), self.project(y, "wk"), self.values(y)))
        scores = self.scale(self.score(q, k), q)
        scores = scores if mask is None else self.hide(scores, mask)
        weights = self.kept(self.weigh(scores), mask, q)
        return self.mix(self.merge(weights @ v))

    def project(self, y, name):
        return y @ self._parameters[f"attn.{name}.weight"].T

    def values(self, y):
        return self.project(y, "wv")

    def split(self, y):
        return y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (B, H, T, d)

    def score(self, q, k):
        return q @ k.transpose(-2, -1)

    def scale(self, scores, q):
        return scores / q.size(-1) ** 0.5

    def hide(self, scores, mask):
        return scores.masked_fill(~mask, -INF)

    def weigh(self, scores):
        return torch.softmax(scores, dim=-1)

    def kept(self, weights, mask, q):
        return weights

    def merge(self, heads):
        return heads.transpose(1, 2).flatten(2)

    def mix(self, y):
        return self.project(y, "wo")


def make_block(**steps):
    """The class with these steps."""
    return type("TransformerBlock", (Block,), steps)


STEPS = {name: step for name, step in vars(Block).items() if not name.startswith("_")}
del STEPS["forward"], STEPS["load_state_dict"]

block = MistakeSet("TransformerBlock", make_block, **STEPS)

MISTAKE_SETS = [block]

# --- probes: equal on all of these is equal ---------------------------------------------------------------------------
# The hidden layer's inputs are small here, so that both forms of GELU give the same within the tolerance (see the
# checks). d_model is small enough to tell a variance divided by D - 1.

SIZES = (12, 3, 7)  # D, H, d_ff: pairwise different, and different from B = 2 and T = 5
ROWS = ("10110", "01011", "11001", "00111", "10010")
MASK = torch.tensor(
    [[letter == "1" for letter in row] for row in ROWS]
)  # no row and no column blocked whole, nor free:
# else a fill of -inf and one of -1e9 would answer a mistake differently
DRAWN = {}  # the numbers of each probe: drawing them anew for every mistake would take as long as running it


def numbers(rand, sizes):
    """A state dict of random numbers, γ, β and biases too. Drawn once, so a probe draws all else before."""
    if (rand.seed, sizes) not in DRAWN:
        shapes = Block.shapes(None, sizes[0], sizes[2])
        drawn = {name: rand(*s, scale=s[1] ** -0.5 if len(s) == 2 else 0.5) for name, s in shapes.items()}
        for norm in ("norm1", "norm2"):
            drawn[f"{norm}.weight"] += 1.0
        for part in ("weight", "bias"):
            drawn[f"ffn.w1.{part}"] *= 0.05
        drawn["ffn.w2.weight"] *= 6.0
        DRAWN[rand.seed, sizes] = drawn
    return DRAWN[rand.seed, sizes]


def built(subject, rand, sizes=SIZES, **changes):
    """A block that holds such numbers, in evaluation mode: what `nn.Dropout` does in training is not asked."""
    state = numbers(rand, sizes)
    return subject.TransformerBlock(*sizes, state=state, **changes).eval()


@block.probe("one token, pre-LN", stage="in pre-LN with one token")
def _(subject, rand):
    x = rand(2, 1, 12)
    return built(subject, rand, norm_first=True)(x)


@block.probe("five tokens, pre-LN", stage="in pre-LN with several tokens")
def _(subject, rand):
    x = rand(2, 5, 12)
    return built(subject, rand, norm_first=True)(x)


@block.probe("five tokens, pre-LN, a mask", stage="in pre-LN with a mask")
def _(subject, rand):
    x = rand(2, 5, 12)
    return built(subject, rand, norm_first=True)(x, mask=MASK)


@block.probe("one token, post-LN", stage="in post-LN with one token")
def _(subject, rand):
    x = rand(2, 1, 12)
    return built(subject, rand, norm_first=False)(x)


@block.probe("five tokens, post-LN", stage="in post-LN with several tokens")
def _(subject, rand):
    x = rand(2, 5, 12)
    return built(subject, rand, norm_first=False)(x)


@block.probe("five tokens, post-LN, a mask", stage="in post-LN with a mask")
def _(subject, rand):
    x = rand(2, 5, 12)
    return built(subject, rand, norm_first=False)(x, mask=MASK)


@block.probe("one head", stage="with one head")
def _(subject, rand):
    x = rand(2, 5, 10)
    return built(subject, rand, (10, 1, 7), norm_first=True)(x)


@block.probe("a mask for each sequence", stage="with a mask for each sequence")
def _(subject, rand):
    x = rand(2, 5, 12)
    return built(subject, rand, norm_first=True)(x, mask=torch.stack([MASK, ~MASK])[:, None])


@block.probe("tiny inputs, pre-LN", stage="on tiny inputs")
def _(subject, rand):
    x = rand(2, 5, 12, scale=1e-3)
    return built(subject, rand, norm_first=True)(x)


@block.probe("zeros, post-LN")
def _(subject, rand):
    return built(subject, rand, norm_first=False)(torch.zeros(1, 2, 12))


@block.probe("scores near -200", stage="on very low scores")
def _(subject, rand):
    x = rand(2, 5, 12)
    low = {
        "norm1.weight": rand(12, scale=0.1),
        "norm1.bias": torch.full((12,), 10.0),
        "attn.wq.weight": torch.eye(12),
        "attn.wk.weight": -torch.eye(12),
    }
    state = {**numbers(rand, SIZES), **low}
    return subject.TransformerBlock(*SIZES, norm_first=True, state=state).eval()(x, mask=MASK)


@block.probe("norm_first not given", stage="when `norm_first` is not given")
def _(subject, rand):
    x = rand(2, 1, 12)
    return built(subject, rand)(x)


@block.probe("the gradients, pre-LN", stage="in its gradients", atol=1e-3)
def _(subject, rand):
    x, weights = rand(1, 3, 12), rand(1, 3, 12)
    found = built(subject, rand, norm_first=True).gradients(x, wrt=[0], weights=weights)
    names = ("argument 0", *PROJECTIONS, *NETWORK, *NORMS)  # whatever more a block may have
    return None if found is None else {name: found.get(name) for name in names}


@block.probe("the input afterwards")
def _(subject, rand):
    x = rand(2, 2, 12)
    return [built(subject, rand, norm_first=order).observe(x).args for order in (True, False)]


@block.probe("two calls in evaluation mode")
def _(subject, rand):
    x = rand(2, 5, 12)
    made = built(subject, rand, norm_first=True)
    return bool((made(x) == made(x)).all())


@block.probe("the names")
def _(subject, rand):
    try:
        made = built(subject, rand)
    except LearnerError as error:
        if "load_state_dict" in error.text and error.type_name == "AttributeError":
            return "no module"
        raise
    if made.missing and made.unexpected:
        return "other names"
    if made.missing:
        biases = {name.replace("weight", "bias") for name in PROJECTIONS}
        return "biases in attention" if set(made.missing) <= biases else "more names"
    return sorted(made.unexpected)


NAMES, TWICE = ("the names",), ("two calls in evaluation mode",)

# --- mistakes alone, or in one order ---------------------------------------------------------------------------------


def in_one_order(pre, change, right):
    """The changed step where `norm_first` is `pre`, the right one elsewhere."""

    def step(self, *args):
        return change(self, *args) if self.norm_first is pre else right(self, *args)

    return step


def alone(id, *, says, suggests, coding="", only=(), **changes):
    """Register a mistake that is named where it is the only one. Sets of two take time to try, so only what people do
    most is sought beside something else."""
    block.mistake(id, says=says, suggests=suggests, coding=coding, only=only, version=make_block(**changes))


def mistake(id, *, says, suggests, coding="", **changes):
    """Register a mistake made in both orders, and the same made in one of them only: they are written apart."""
    block.mistake(id, says=says, suggests=suggests, coding=coding, **changes)
    for pre, name in ((True, "pre-LN"), (False, "post-LN")):
        one_order = {step: in_one_order(pre, change, STEPS[step]) for step, change in changes.items()}
        with_order = f"With norm_first={pre}: {says[0].lower()}{says[1:]}"
        alone(id, says=with_order, suggests=suggests, coding=f"{coding} {name} only".strip(), **one_order)


# --- mistakes: the sums -----------------------------------------------------------------------------------------------

mistake(
    "bl-no-residual-attn",
    says="What attention gives replaces x; nothing of x itself is carried on.",
    suggests="Add what the branch gives to its own input: `x + attn(...)`.",
    first_sum=lambda self, x, branch: branch,
)
mistake(
    "bl-no-attention",
    says="There is no attention in the block: no token ever hears from another.",
    suggests="Add the attention branch before the network: `x + attn(...)`.",
    attention=lambda self, y, mask: torch.zeros_like(y),
)
mistake(
    "bl-no-residual-ffn",
    says="What the network gives replaces the stream; the result of the attention step is not carried on.",
    suggests="Add what the branch gives to its own input: `h + ffn(...)`.",
    second_sum=lambda self, x, h, branch: branch,
)
mistake(
    "bl-ffn-residual-from-input",
    says="The second sum adds the block's input x again, so what attention said is lost from the stream.",
    suggests="Add the network's result to h, the result of the first sum.",
    second_sum=lambda self, x, h, branch: x + branch,
)


def pre_carrying_normed(first, second):
    def pre(self, x, mask):
        n = self.norm1(x)
        h = self.first_sum(n if first else x, self.attention(n, mask))
        m = self.norm2(h)
        return self.second_sum(x, m if second else h, self.network(m))

    return pre


for first, second, which, register in (
    (True, True, "Both sums take", block.mistake),
    (True, False, "The first sum takes", alone),
    (False, True, "The second sum takes", alone),
):
    register(
        "bl-residual-from-norm",
        coding=which,
        says=f"{which} the normalised copy instead of the stream itself, so every block normalises the stream.",
        suggests="Keep the two apart: `x = x + attn(norm1(x))`, not `x = norm1(x); x = x + attn(x)`.",
        pre=pre_carrying_normed(first, second),
    )


def post_carrying_unnormed(self, x, mask):
    total = self.first_sum(x, self.attention(x, mask))
    return self.norm2(self.second_sum(x, total, self.network(self.norm1(total))))


block.mistake(
    "bl-post-residual-unnormed",
    says="With norm_first=False, the second sum takes the value before norm1; in post-LN the normalised value is what "
    "goes on.",
    suggests="Let `h = norm1(x + attn(x))` serve both the network and the second sum.",
    post=post_carrying_unnormed,
)


def add_in_place(x, branch):
    x += branch
    return x


IN_PLACE = "Make new tensors: `x = x + ...`, never `x += ...`."
mistake(
    "bl-in-place",
    says="You change the caller's tensor: `x += ...` writes into it, and autograd refuses that on a leaf.",
    suggests=IN_PLACE,
    first_sum=lambda self, x, branch: add_in_place(x, branch),
)
mistake(
    "bl-in-place",
    coding="both sums",
    says="You change the caller's tensor: both `x += ...` write into it, and autograd refuses that on a leaf.",
    suggests=IN_PLACE,
    first_sum=lambda self, x, branch: add_in_place(x, branch),
    second_sum=lambda self, x, h, branch: add_in_place(h, branch),
)
alone(
    "bl-in-place",
    coding="second sum",
    says="The second `+=` writes over a value that the backward pass still needs.",
    suggests=IN_PLACE,
    second_sum=lambda self, x, h, branch: add_in_place(h, branch),
)

# --- mistakes: the order of things ------------------------------------------------------------------------------------

for coding, says, choose in (
    ("exchanged", "`norm_first` is taken the wrong way round: True must mean pre-LN, False post-LN.",
     lambda self: not self.norm_first),
    ("always pre", "The block is pre-LN whatever `norm_first` says; with norm_first=False it must be post-LN.",
     lambda self: True),
    ("always post", "The block is post-LN whatever `norm_first` says; with norm_first=True it must be pre-LN.",
     lambda self: False),
):  # fmt: skip
    block.mistake(
        "bl-other-placement",
        coding=coding,
        says=says,
        suggests="Write both orders, `x + f(norm(x))` and `norm(x + f(x))`, and choose by `self.norm_first`.",
        is_pre=choose,
    )


class PostUnlessTold(Block):
    def __init__(self, d_model, num_heads, d_ff, norm_first=False):
        super().__init__(d_model, num_heads, d_ff, norm_first)


block.mistake(
    "bl-other-placement",
    coding="default",
    says="Both orders are right, but a block made without `norm_first` is post-LN.",
    suggests="Make True the default of `norm_first`.",
    version=PostUnlessTold,
)


def pre_parallel(norm):
    def pre(self, x, mask):
        h = self.first_sum(x, self.attention(self.norm1(x), mask))
        return self.second_sum(x, h, self.network(getattr(self, norm)(x)))

    return pre


def post_parallel(self, x, mask):
    h = self.norm1(self.first_sum(x, self.attention(x, mask)))
    return self.norm2(self.second_sum(x, h, self.network(x)))


PARALLEL = {
    "says": "The network reads the block's input, so the two branches run side by side and it never hears attention.",
    "suggests": "Give the network what came out of the attention step: h, not x.",
}
mistake("bl-parallel", **PARALLEL, pre=pre_parallel("norm2"), post=post_parallel)
alone("bl-parallel", coding="one norm", **PARALLEL, pre=pre_parallel("norm1"))


def branch_then_norm(self, x, mask):
    h = self.first_sum(x, self.norm1(self.attention(x, mask)))
    return self.second_sum(x, h, self.norm2(self.network(h)))


mistake(
    "bl-norm-on-branch-output",
    says="You normalise what a branch gives before it is added; that is neither pre-LN nor post-LN.",
    suggests="Normalise what goes into the branch (pre-LN) or the whole sum (post-LN).",
    pre=branch_then_norm,
    post=branch_then_norm,
)


def network_first(first, second):
    def pre(self, x, mask):
        h = self.first_sum(x, self.network(first(self, x)))
        return self.second_sum(x, h, self.attention(second(self, h), mask))

    def post(self, x, mask):
        h = first(self, self.first_sum(x, self.network(x)))
        return second(self, self.second_sum(x, h, self.attention(h, mask)))

    return {"pre": pre, "post": post}


FFN_FIRST = {
    "says": "The network comes first and attention second; the block has attention first.",
    "suggests": "Exchange the two steps.",
}
mistake("bl-ffn-first", **FFN_FIRST, **network_first(Block.norm1, Block.norm2))
alone("bl-ffn-first", coding="each its norm", **FFN_FIRST, **network_first(Block.norm2, Block.norm1))

# --- mistakes: which norm ---------------------------------------------------------------------------------------------


def without(*names):
    """The shapes of a block that never made these parameters."""
    return lambda self, d_model, d_ff: {
        name: shape for name, shape in Block.shapes(self, d_model, d_ff).items() if name not in names
    }


def no_norm(self, y):
    return y


for number, where in ((1, "attention"), (2, "the network")):
    text = {
        "says": f"norm{number}, the norm that belongs to {where}, is missing.",
        "suggests": f"Use `self.norm{number}`: on the way into {where} in pre-LN, on the sum after it in post-LN.",
    }
    mistake("bl-missing-norm", coding=f"norm{number}", **text, **{f"norm{number}": no_norm})
    alone(
        "bl-missing-norm",
        coding=f"norm{number} never made",
        **text,
        **{f"norm{number}": no_norm},
        shapes=without(f"norm{number}.weight", f"norm{number}.bias"),
    )
alone(
    "bl-missing-norm",
    coding="both",
    says="Neither of the two norms is used.",
    suggests="Normalise what goes into each branch in pre-LN, the sum after it in post-LN.",
    norm1=no_norm,
    norm2=no_norm,
)
SHARED = {
    "says": "One norm serves both places; each place has γ and β of its own.",
    "suggests": "Use `self.norm1` for attention and `self.norm2` for the network.",
}
mistake("bl-shared-norm", coding="norm1 twice", **SHARED, norm2=Block.norm1)
alone("bl-shared-norm", coding="norm2 twice", **SHARED, norm1=Block.norm2)
alone(
    "bl-shared-norm",
    coding="norm2 never made",
    **SHARED,
    norm2=Block.norm1,
    shapes=without("norm2.weight", "norm2.bias"),
)


class OneNorm(Block):
    """One object under both names: what is loaded last is in both."""

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__(d_model, num_heads, d_ff, norm_first)
        for part in ("weight", "bias"):
            self._parameters[f"norm2.{part}"] = self._parameters[f"norm1.{part}"]


block.mistake("bl-shared-norm", coding="one object under both names", **SHARED, version=OneNorm)
mistake(
    "bl-swapped-norm",
    says="The two norms are exchanged: norm2 is where norm1 belongs, and the other way round.",
    suggests="Use `self.norm1` for attention and `self.norm2` for the network.",
    norm1=Block.norm2,
    norm2=Block.norm1,
)

FINAL = {
    "says": "There is one more norm at the end of the block; that one belongs to the model, after its last block.",
    "suggests": "Return the second sum as it is (pre-LN), or normalised once (post-LN).",
}
block.mistake("bl-extra-final-norm", coding="norm2 again", **FINAL, end=lambda self, out: self.norm2(out))
alone("bl-extra-final-norm", coding="norm1 again", **FINAL, end=lambda self, out: self.norm1(out))
alone("bl-extra-final-norm", coding="without weights", **FINAL, end=lambda self, out: self.standardise(out))


def with_more(*names):
    """The shapes of a block that has more parameters than were asked for."""
    return lambda self, d_model, d_ff: Block.shapes(self, d_model, d_ff) | {name: (d_model,) for name in names}


for coding, end in (("its own", Block.standardise),
                    ("its own, pre-LN only", in_one_order(True, Block.standardise, Block.end))):  # fmt: skip
    alone(
        "bl-extra-final-norm",
        coding=coding,
        **FINAL,
        end=end,
        shapes=with_more("norm3.weight", "norm3.bias"),
    )

# --- mistakes: how the norm is computed -------------------------------------------------------------------------------


def standard(dim=-1, correction=0, inside=1e-5, outside=0.0, centre=True):
    """A norm by hand: over `dim`, the variance divided by n - correction, eps inside or outside the root."""

    def standardise(self, y):
        centred = y - y.mean(dim=dim, keepdim=True) if centre else y
        spread = y.var(dim=dim, keepdim=True, correction=correction) if centre else y.pow(2).mean(dim, keepdim=True)
        return centred / ((spread + inside).sqrt() + outside)

    return standardise


for coding, dim, over in (
    ("tokens", 1, "over the tokens of a sequence"),
    ("batch", 0, "over the batch, which is BatchNorm"),
    ("tokens and features", (1, 2), "over all tokens and features of a sequence together"),
    ("batch and tokens", (0, 1), "over batch and tokens, which is BatchNorm"),
    ("all", (0, 1, 2), "over the whole tensor"),
):
    (block.mistake if coding == "tokens" else alone)(
        "bl-norm-axis",
        coding=coding,
        says=f"Your norm's mean and variance run {over}; each token must be normalised by itself.",
        suggests="Take mean and variance over the last axis, with `keepdim=True`.",
        standardise=standard(dim),
    )
for coding, steps in (("", {}), ("eps outside", {"inside": 0.0, "outside": 1e-5}),
                      ("eps 1e-6 outside", {"inside": 0.0, "outside": 1e-6})):  # fmt: skip
    and_eps = ", and eps is added outside the root" if steps else ""
    (alone if steps else block.mistake)(
        "bl-norm-unbiased",
        coding=coding,
        says=f"Your norm divides the variance by D − 1 (the default of `var` and `std`){and_eps}.",
        suggests="Divide by D: `y.var(-1, keepdim=True, unbiased=False)`, with eps inside the root.",
        standardise=standard(correction=1, **steps),
    )
for coding, inside, outside in (
    ("outside", 0.0, 1e-5), ("1e-6 outside", 0.0, 1e-6), ("none", 0.0, 0.0), ("1e-12", 1e-12, 0.0),
    ("1e-6", 1e-6, 0.0),
):  # fmt: skip
    alone(
        "bl-norm-eps",
        coding=coding,
        says="Your norm's eps is not 1e-5 inside the root, which shows on tokens whose features hardly vary.",
        suggests="Divide by `(var + 1e-5).sqrt()`.",
        standardise=standard(inside=inside, outside=outside),
    )
alone(
    "bl-norm-rms",
    says="Your norm does not subtract the mean: that is RMSNorm.",
    suggests="Subtract each token's mean first; the variance is taken around it.",
    standardise=standard(centre=False),
)
alone(
    "bl-norm-no-sqrt",
    says="Your norm divides by the variance, not by its root.",
    suggests="Divide by `(var + 1e-5).sqrt()`.",
    standardise=lambda self, y: (y - y.mean(-1, keepdim=True)) / (y.var(-1, keepdim=True, correction=0) + 1e-5),
)

# --- mistakes: the network --------------------------------------------------------------------------------------------

block.mistake(
    "bl-no-activation",
    says="There is no activation between the two linear layers, so together they are one linear map.",
    suggests="Put gelu between them: `self.w2(F.gelu(self.w1(y)))`.",
    activate=lambda self, z: z,
)


def activation(function):
    return lambda self, z: function(z)


for coding, name, function in (
    ("ReLU", "ReLU", F.relu),
    ("SiLU", "SiLU (Swish)", F.silu),
    ("QuickGELU", "QuickGELU, x · sigmoid(1.702 x)", lambda z: z * torch.sigmoid(1.702 * z)),
    ("leaky ReLU", "leaky ReLU", F.leaky_relu),
    ("tanh", "tanh", torch.tanh),
    ("sigmoid", "the sigmoid", torch.sigmoid),
    (
        "√(2π)",
        "GELU's tanh form with √(2π) where √(2/π) belongs",
        lambda z: 0.5 * z * (1 + torch.tanh((2 * torch.pi) ** 0.5 * (z + 0.044715 * z**3))),
    ),
    ("erf unscaled", "x · ½(1 + erf(x)), where Φ has erf(x / √2)", lambda z: z * 0.5 * (1 + torch.erf(z))),
):
    (block.mistake if coding == "ReLU" else alone)(
        "bl-wrong-activation",
        coding=coding,
        says=f"Your activation is not GELU: it is {name}.",
        suggests="Use `torch.nn.functional.gelu`.",
        activate=activation(function),
    )


def gelu_last(self, y):
    w1, b1, w2, b2 = (self._parameters[name] for name in NETWORK)
    return F.gelu(F.linear(F.linear(y, w1, b1), w2, b2))


alone(
    "bl-activation-last",
    says="The activation comes after the second linear layer: between the two there is none.",
    suggests="Put gelu between them: `self.w2(F.gelu(self.w1(y)))`.",
    network=gelu_last,
)

# --- mistakes: the mask -----------------------------------------------------------------------------------------------

mistake(
    "bl-mask-not-passed",
    says="The mask never reaches attention, so every token sees whatever the mask should hide.",
    suggests="Pass it on: `self.attn(..., mask)`, and use it there. (`masked_fill` returns a new tensor: assign it.)",
    passed=lambda self, mask, x: None,
)


def causal(x):
    return torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()


for coding, passed in (
    ("always", lambda self, mask, x: causal(x)),
    ("besides", lambda self, mask, x: causal(x) if mask is None else mask & causal(x)),
    ("unless given", lambda self, mask, x: causal(x) if mask is None else mask),
):
    alone(
        "bl-own-mask",
        coding=coding,
        says="The block makes a causal mask of its own; it must be causal only when the mask it is given is.",
        suggests="Use the `mask` argument and nothing else; with mask=None every token may see every other.",
        passed=passed,
    )


def fill(value, blocked=lambda mask: ~mask):
    return lambda self, scores, mask: scores.masked_fill(blocked(mask), value)


block.mistake(
    "at-mask-inverted",
    says="Inside attention you block what the mask allows: here True = may attend.",
    suggests="Fill where the mask is False: `masked_fill(~mask, -inf)`.",
    hide=fill(-INF, lambda mask: mask),
)
block.mistake(
    "at-mask-transposed",
    says="Inside attention the mask is used with rows and columns exchanged: its rows are queries, its columns keys.",
    suggests="Use the mask as it is given, without transposing it.",
    hide=fill(-INF, lambda mask: ~mask.transpose(-2, -1)),
)
alone(
    "at-mask-after-softmax",
    says="Inside attention you zero weights after the softmax, so the rows no longer sum to 1.",
    suggests="Mask the scores before the softmax: `masked_fill(~mask, -inf)`.",
    hide=lambda self, scores, mask: scores,
    kept=lambda self, weights, mask, q: weights if mask is None else weights.masked_fill(~mask, 0.0),
)
for coding, hide in (
    ("fill 0", fill(0.0)),
    ("fill 1e-9", fill(1e-9)),
    ("times the mask", lambda self, scores, mask: scores * mask),
):
    alone(
        "at-mask-as-zero-score",
        coding=coding,
        says="Inside attention a blocked key gets the score 0, which is not nothing: exp(0) = 1.",
        suggests="Fill blocked scores with -inf.",
        hide=hide,
    )
alone(
    "at-mask-added-bool",
    says="Inside attention you add the Boolean mask to the scores: that raises allowed ones by 1 and blocks nothing.",
    suggests="Fill blocked scores with -inf: `masked_fill(~mask, -inf)`.",
    hide=lambda self, scores, mask: scores + mask,
)
for value in (-10.0, -100.0):
    alone(
        "at-fill-too-small",
        coding=f"{value:g}",
        says=f"Inside attention you fill blocked scores with {value:g}, which wins when allowed scores are lower.",
        suggests="Fill with -inf (or -1e9).",
        hide=fill(value),
    )
for value in (INF, 1e9):
    alone(
        "at-fill-positive",
        coding=f"{value:g}",
        says="Inside attention you fill blocked scores with a huge *positive* number, so blocked keys win.",
        suggests="Fill with -inf.",
        hide=fill(value),
    )

# --- mistakes: scores and weights -------------------------------------------------------------------------------------


def divided(by):
    return lambda self, scores, q: scores / by(q)


block.mistake(
    "at-no-scale",
    says="Inside attention the scores are not scaled: your weights are softmax(QKᵀ), too peaked.",
    suggests="Divide the scores by √d, d = D / H: `q.size(-1) ** 0.5`.",
    scale=divided(lambda q: 1.0),
)
block.mistake(
    "at-scale-d-model",
    says="Inside attention you scale by √d_model; each head has only d = D / H features.",
    suggests="Divide by the root of one head's width: `q.size(-1) ** 0.5` after the split.",
    scale=divided(lambda q: (q.size(1) * q.size(-1)) ** 0.5),
)
for id, coding, says, by in (
    ("at-scale-dk", "", "you divide the scores by d, not by its root", lambda q: q.size(-1)),
    ("at-scale-multiplied", "", "you multiply the scores by √d", lambda q: q.size(-1) ** -0.5),
    ("at-scale-constant", "8", "you divide the scores by 8, which is √d only for d = 64", lambda q: 8.0),
    ("at-scale-wrong-axis", "T", "you divide the scores by √T, the root of the sequence's length",
     lambda q: q.size(-2) ** 0.5),
    ("at-scale-wrong-axis", "H", "you divide the scores by √H, the root of the number of heads",
     lambda q: q.size(1) ** 0.5),
):  # fmt: skip
    alone(
        id,
        coding=coding,
        says=f"Inside attention {says}.",
        suggests="Divide the scores by √d, the root of one head's width: `q.size(-1) ** 0.5`.",
        scale=divided(by),
    )
alone(
    "at-scale-after-softmax",
    says="Inside attention you scale the weights, not the scores: they sum to 1/√d.",
    suggests="Divide the scores by √d before the softmax.",
    scale=divided(lambda q: 1.0),
    kept=lambda self, weights, mask, q: weights / q.size(-1) ** 0.5,
)


def softmax_over(dim):
    return lambda self, scores: torch.softmax(scores, dim=dim)


block.mistake(
    "at-softmax-queries",
    says="Inside attention the softmax runs over the queries: each column sums to 1 where each row should.",
    suggests="Use `softmax(scores, dim=-1)`.",
    weigh=softmax_over(-2),
)
for dim, axis in ((0, "batch"), (1, "head")):
    alone(
        "at-softmax-batch-or-head",
        coding=axis,
        says=f"Inside attention the softmax runs over the {axis} axis.",
        suggests="Use `softmax(scores, dim=-1)`.",
        weigh=softmax_over(dim),
    )
alone(
    "at-no-softmax",
    says="Inside attention the raw scores multiply the values: there is no softmax.",
    suggests="Turn scores into weights: `softmax(scores, dim=-1)`.",
    weigh=lambda self, scores: scores,
)
alone(
    "sm-overflow",
    says="Your softmax exponentiates the scores as they are: very low scores all become 0, and 0/0 is NaN.",
    suggests="Subtract each row's maximum first, or use `torch.softmax`.",
    weigh=lambda self, scores: scores.exp() / scores.exp().sum(-1, keepdim=True),
)
alone(
    "at-qk-swapped",
    says="Inside attention the scores are keys × queries: row and column are exchanged.",
    suggests="Compute `q @ k.transpose(-2, -1)`.",
    score=lambda self, q, k: k @ q.transpose(-2, -1),
)
alone(
    "at-values-are-keys",
    says="Inside attention the weights mix the keys; the values are never used.",
    suggests="Multiply the weights by v, the split of `self.wv(y)`.",
    values=lambda self, y: self.project(y, "wk"),
)
alone(
    "at-values-are-keys",
    coding="the values unmixed",
    says="Attention gives the values as they are: the weights are never applied to them.",
    suggests="Multiply the weights by the values: `weights @ v`.",
    attention=lambda self, y, mask: self.mix(self.values(y)),
)
alone(
    "at-values-are-keys",
    coding="the unprojected input",
    says="Inside attention the weights mix the tokens themselves; `wv` is never used.",
    suggests="Multiply the weights by v, the split of `self.wv(y)`.",
    values=lambda self, y: y,
)
alone(
    "at-k-reshaped",
    says="Inside attention the keys are reshaped where they should be transposed: the shape fits, the numbers do not.",
    suggests="Use `k.transpose(-2, -1)`; `view` and `reshape` only relabel memory.",
    score=lambda self, q, k: q @ k.reshape(*k.shape[:2], k.size(3), k.size(2)),
)

# --- mistakes: heads and projections ----------------------------------------------------------------------------------


def with_weight(**taken):
    """A `project` that takes another weight where `taken` says so."""
    return lambda self, y, name: Block.project(self, y, taken.get(name, name))


for coding, taken in (
    ("wq for all three", {"wk": "wq", "wv": "wq"}),
    ("wq for the keys", {"wk": "wq"}),
    ("wq for the values", {"wv": "wq"}),
    ("wk for the queries", {"wq": "wk"}),
    ("wv for the keys", {"wk": "wv"}),
):
    alone(
        "hd-projection-shared",
        coding=coding,
        says=f"Attention uses {coding}: queries, keys and values have a projection each.",
        suggests="Queries come from `wq`, keys from `wk`, values from `wv`: look for a name that was copied.",
        project=with_weight(**taken),
    )
for coding, taken in (
    ("wk and wv", {"wk": "wv", "wv": "wk"}),
    ("wq and wv", {"wq": "wv", "wv": "wq"}),
    ("all three, in a ring", {"wq": "wk", "wk": "wv", "wv": "wq"}),
    ("all three, in the other ring", {"wq": "wv", "wv": "wk", "wk": "wq"}),
):
    alone(
        "hd-projections-exchanged",
        coding=coding,
        says=f"Attention exchanges its weights: {coding}.",
        suggests="Queries come from `wq`, keys from `wk`, values from `wv`: check the order in which you name them.",
        project=with_weight(**taken),
    )


def split_by_view(self, y):
    batch, length, width = y.shape
    return y.reshape(batch, self.num_heads, length, width // self.num_heads)


def merge_by_view(self, heads):
    batch, num_heads, length, width = heads.shape
    return heads.reshape(batch, length, num_heads * width)


block.mistake(
    "hd-split-view",
    says="Your split into heads has the right shape and the wrong contents: it cuts the sequence, not the features.",
    suggests="Use `view(B, T, H, d).transpose(1, 2)`.",
    split=split_by_view,
)
block.mistake(
    "hd-merge-no-transpose",
    says="The heads are joined without bringing the position axis back first, so tokens are mixed up between heads.",
    suggests="Transpose axes 1 and 2 before the reshape.",
    merge=merge_by_view,
)
alone(
    "hd-split-no-transpose",
    says="The heads stay on axis 2 (B, T, H, d), so attention runs between the heads of one token, not between tokens.",
    suggests="Bring the head axis forward after the view: `transpose(1, 2)`, and back before you join the heads.",
    split=lambda self, y: y.unflatten(-1, (self.num_heads, -1)),
    merge=lambda self, heads: heads.flatten(2),
)
alone(
    "hd-split-strided",
    says="Every H-th feature goes to the same head; a head must take d neighbouring features.",
    suggests="View as (B, T, H, d), heads before features, not (B, T, d, H).",
    split=lambda self, y: y.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2),
)
alone(
    "hd-merge-strided",
    says="The heads' features are interleaved when they are joined; head 0's come first, then head 1's.",
    suggests="Join with the head axis before the feature axis: `transpose(1, 2)`, then reshape.",
    merge=lambda self, heads: heads.permute(0, 2, 3, 1).flatten(2),
)
alone(
    "hd-merge-view-error",
    says="After `transpose` the memory is not contiguous, and `view` refuses to join the heads.",
    suggests="Use `reshape`, or `.contiguous()` before `view`.",
    merge=lambda self, heads: heads.transpose(1, 2).view(heads.size(0), heads.size(2), -1),
)
alone(
    "hd-merge-batch-mixed",
    says="Joining the heads mixes the sequences of a batch: a reshape pulls the batch axis and the head axis together.",
    suggests="Exchange only axes 1 and 2 before the reshape.",
    merge=lambda self, heads: heads.permute(1, 2, 0, 3).reshape(heads.size(0), heads.size(2), -1),
)
block.mistake(
    "bl-no-output-projection",
    says="The joined heads are returned as they are: the output projection `wo` is not applied.",
    suggests="Return `self.wo(...)` of the joined heads.",
    mix=lambda self, y: y,
)
alone(
    "bl-no-output-projection",
    coding="never made",
    says="There is no output projection: attention must end with `wo`.",
    suggests="Make `self.wo = nn.Linear(d_model, d_model, bias=False)` and apply it to the joined heads.",
    mix=lambda self, y: y,
    shapes=without("attn.wo.weight"),
)
alone(
    "bl-weights-transposed",
    says="Attention multiplies by its weight matrices as they are; they are laid out (out, in), as in nn.Linear.",
    suggests="Use nn.Linear, or `y @ weight.T`.",
    project=lambda self, y, name: y @ self._parameters[f"attn.{name}.weight"],
)

# --- mistakes: names and modules --------------------------------------------------------------------------------------

GROUPS = {"attn": PROJECTIONS, "ffn": NETWORK, "norm1 and norm2": NORMS}
IN_A_LIST = "Modules in a Python list or dict, and tensors without `nn.Parameter`, are not registered."

alone(
    "bl-plain-list",
    coding="norms",
    says=f"The state dict has nothing of norm1 and norm2: they were made without weights, or are hidden. {IN_A_LIST}",
    suggests="Make them attributes of the block: `self.norm1 = nn.LayerNorm(d_model)`, and the same for norm2.",
    shapes=without(*NORMS),
    shift=lambda self, y, norm: y,
)
for groups in (("attn",), ("ffn",), ("attn", "ffn"), ("attn", "norm1 and norm2"), ("ffn", "norm1 and norm2"),
               tuple(GROUPS)):  # fmt: skip
    alone(
        "bl-plain-list",
        coding=", ".join(groups),
        says=f"The state dict has nothing of {', '.join(groups)}, so no optimizer would train it. {IN_A_LIST}",
        suggests="Make each an attribute of an nn.Module (`self.attn = ...`), or use `nn.ModuleList`.",
        shapes=without(*(name for group in groups for name in GROUPS[group])),
        only=NAMES,  # its numbers are its own random ones
    )
alone(
    "bl-attention-bias",
    says="Your attention has biases that the statement does not have; nothing is loaded into them, so they keep the "
    "numbers they began with.",
    suggests="Make the four projections with `nn.Linear(d_model, d_model, bias=False)`.",
    shapes=with_more(*(name.replace("weight", "bias") for name in PROJECTIONS)),
    only=NAMES,
)
alone(
    "bl-ffn-no-bias",
    says="The network has no biases; both of its linear layers have one.",
    suggests="Leave out `bias=False` in `w1` and `w2`.",
    shapes=without("ffn.w1.bias", "ffn.w2.bias"),
)


def renamed(self, d_model, d_ff):
    return {name.replace("attn.", "attention."): shape for name, shape in Block.shapes(self, d_model, d_ff).items()}


alone(
    "bl-state-names",
    says="The names in your state dict are not those of the statement, so the checks' numbers never get in.",
    suggests="Name the attributes as the statement lists them; `print(block.state_dict().keys())` shows yours.",
    shapes=renamed,
    only=NAMES,
)
alone(
    "bl-state-names",
    coding="more than asked for",
    says="Your state dict has more names than the statement lists, though nothing depends on them.",
    suggests="Remove them; a buffer that must stay takes `persistent=False`.",
    shapes=with_more("attn.mask"),
)


class NoModule:
    """A class like any other."""

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        self.norm_first = norm_first


block.mistake(
    "bl-no-module",
    says="`TransformerBlock` is not an nn.Module, so it has no state dict and no parameters.",
    suggests="Write `class TransformerBlock(nn.Module)`, and begin `__init__` with `super().__init__()`.",
    version=NoModule,
    only=NAMES,
)


class Buffers(Block):
    """The right numbers under the right names, but not as parameters."""

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__(d_model, num_heads, d_ff, norm_first)
        for name in NORMS:
            self._buffers[name] = self._parameters.pop(name).detach()

    def shift(self, y, norm):
        return y * self._buffers[f"{norm}.weight"] + self._buffers[f"{norm}.bias"]


block.mistake(
    "bl-not-parameters",
    says="γ and β of your norms are not parameters, so no optimizer would train them.",
    suggests="Use nn.LayerNorm, or wrap them in `nn.Parameter`.",
    version=Buffers,
)

# --- mistakes: what happens at run time -------------------------------------------------------------------------------

DROPOUT = {
    "says": "Two calls with the same input give different answers: dropout is active, or something is drawn at "
    "random in each call (new weights, say).",
    "suggests": "The block has no dropout: take it out. (`F.dropout` needs `training=self.training` to ever stop.) "
    "Make modules in `__init__`, not in `forward`.",
    "only": TWICE,  # all other answers are random
}
alone(
    "bl-dropout-in-eval",
    **DROPOUT,
    first_sum=lambda self, x, branch: x + F.dropout(branch, 0.1),
)
alone(
    "bl-dropout-in-eval",
    coding="on the weights",
    **DROPOUT,
    kept=lambda self, weights, mask, q: F.dropout(weights, 0.1),
)
alone(
    "bl-detached",
    says="The result is cut off from autograd, so nothing before it can learn.",
    suggests="Take out `torch.no_grad()`, `.detach()` and `.data`.",
    end=lambda self, out: out.detach(),
)

# --- alternatives: just as right --------------------------------------------------------------------------------------


class Attention(nn.Module):
    """Attention from modules, with torch's own function inside."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        for name in ("wq", "wk", "wv", "wo"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))
        self.drop = nn.Dropout(0.1)  # inactive in evaluation mode

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        fused = x @ torch.cat([self.wq.weight, self.wk.weight, self.wv.weight]).T
        q, k, v = fused.view(batch, length, 3, self.num_heads, width // self.num_heads).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.drop(self.wo(heads.transpose(1, 2).contiguous().view(batch, length, width)))


class FromModules(nn.Module):
    """Containers for submodules, the mask by name only, the sums over one variable."""

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.attn = Attention(d_model, num_heads)
        self.ffn = nn.ModuleDict({"w1": nn.Linear(d_model, d_ff), "act": nn.GELU(), "w2": nn.Linear(d_ff, d_model)})
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.norm_first = norm_first

    def think(self, y):
        for layer in self.ffn.values():
            y = layer(y)
        return y

    def forward(self, x, *, mask=None):
        if self.norm_first:
            x = x + self.attn(self.norm1(x), mask)
            x = x + self.think(self.norm2(x))
        else:
            x = self.norm1(self.attn(x, mask) + x)
            x = self.norm2(self.think(x) + x)
        return x


def each_head_apart(self, y, mask):
    width = y.size(-1) // self.num_heads
    wq, wk, wv, wo = (self._parameters[name] for name in PROJECTIONS)
    total = 0
    for head in range(self.num_heads):
        rows = slice(head * width, (head + 1) * width)
        scores = (y @ wq[rows].T) @ (y @ wk[rows].T).transpose(1, 2) / width**0.5
        if mask is not None:
            one = mask if mask.dim() < 4 else mask[:, min(head, mask.size(1) - 1)]
            scores = scores.masked_fill(one.logical_not(), -1e9)
        total = total + torch.softmax(scores, dim=-1) @ (y @ wv[rows].T) @ wo[:, rows].T
    return total


block.alternative(
    "modules, a fused projection, F.scaled_dot_product_attention, dropout for training", version=FromModules
)
block.alternative("a norm written by hand", standardise=standard())
block.alternative("the tanh form of GELU", activate=lambda self, z: F.gelu(z, approximate="tanh"))
block.alternative("GELU from erf", activate=lambda self, z: 0.5 * z * (1 + torch.erf(z / 2**0.5)))
block.alternative("each head apart, their projections added", attention=each_head_apart)
block.alternative("a very negative fill, before the scale", hide=fill(-1e9))
block.alternative("q scaled instead of the scores", score=lambda self, q, k: (q / q.size(-1) ** 0.5) @ k.mT,
                  scale=lambda self, scores, q: scores)  # fmt: skip
block.alternative("einsum", score=lambda self, q, k: torch.einsum("bhtd,bhsd->bhts", q, k))
block.alternative("heads from chunks", split=lambda self, y: torch.stack(y.chunk(self.num_heads, -1), dim=1))
