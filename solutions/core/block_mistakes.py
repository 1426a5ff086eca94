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

# Its own probes recognise its mistakes, and not what the checks ask: see there.
block = MistakeSet("TransformerBlock", globals(), from_checks=False)
MISTAKE_SETS = [block]

# --- probes: equal on all of these is equal ---------------------------------------------------------------------------
# The hidden layer's inputs are small here, so that both forms of GELU give the same within the tolerance (see the
# checks). d_model is small enough to tell a variance divided by D - 1.

SIZES = (12, 3, 7)  # D, H, d_ff: pairwise different, and different from B = 2 and T = 5
ROWS = ("10110", "01011", "11001", "00111", "10010")
# no row and no column blocked whole, nor free: else a fill of -inf and one of -1e9 would answer a mistake differently
MASK = torch.tensor([[letter == "1" for letter in row] for row in ROWS])
DRAWN = {}  # the numbers of each probe: drawing them anew for every mistake would take as long as running it


def shapes(d_model, num_heads, d_ff):
    """The shapes that the statement asks for, by name."""
    return {
        **dict.fromkeys(PROJECTIONS, (d_model, d_model)),
        **dict(zip(NETWORK, [(d_ff, d_model), (d_ff,), (d_model, d_ff), (d_model,)], strict=True)),
        **dict.fromkeys(NORMS, (d_model,)),
    }


def numbers(rand, sizes):
    """A state dict of random numbers, γ, β and biases too. Drawn once, so a probe draws all else before."""
    if (rand.seed, sizes) not in DRAWN:
        drawn = {name: rand(*s, scale=s[1] ** -0.5 if len(s) == 2 else 0.5) for name, s in shapes(*sizes).items()}
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


def ask(name, stage, tokens, norm_first, sizes=SIZES, scale=1.0, **given):
    """Register a probe: the values for an input of two sequences of so many tokens."""

    @block.probe(name, stage=stage)
    def _(subject, rand):
        x = rand(2, tokens, sizes[0], scale=scale)
        return built(subject, rand, sizes, norm_first=norm_first)(x, **given)


for order, norm_first in (("pre-LN", True), ("post-LN", False)):
    ask(f"one token, {order}", f"in {order} with one token", 1, norm_first)
    ask(f"five tokens, {order}", f"in {order} with several tokens", 5, norm_first)
    ask(f"five tokens, {order}, a mask", f"in {order} with a mask", 5, norm_first, mask=MASK)
ask("one head", "with one head", 5, True, sizes=(10, 1, 7))
MASKS = torch.stack([MASK, ~MASK])[:, None]
ask("a mask for each sequence", "with a mask for each sequence", 5, True, mask=MASKS)
ask("tiny inputs, pre-LN", "on tiny inputs", 5, True, scale=1e-3)


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


# --- probes aside: what only rare faults show, which hide no other ----------------------------------------------------


@block.probe("in training mode", aside=True)
def _(subject, rand):
    x = rand(4, 5, 12)
    made = built(subject, rand, norm_first=True)
    other = built(subject, rand, norm_first=False)
    return all(bool((each.train()(x) == each.eval()(x)).all()) for each in (made, other))


@block.probe("a slice of a larger tensor", aside=True)
def _(subject, rand):
    x = rand(2, 5, 12)
    return built(subject, rand).on_slices(x)


@block.probe("allowed scores of 0", aside=True)
def _(subject, rand):
    x = rand(2, 5, 12)
    state = numbers(rand, SIZES) | {"attn.wq.weight": torch.zeros(12, 12)}
    return bool(subject.TransformerBlock(*SIZES, state=state).eval()(x, mask=MASK).isnan().any())


@block.probe("scores near -2000", aside=True)
def _(subject, rand):
    x = rand(2, 5, 12)
    low = {"norm1.weight": rand(12, scale=0.1), "norm1.bias": torch.full((12,), 32.0),
           "attn.wq.weight": torch.eye(12), "attn.wk.weight": -torch.eye(12)}  # fmt: skip
    return subject.TransformerBlock(*SIZES, state=numbers(rand, SIZES) | low).eval()(x, mask=MASK)


@block.probe("a mask for each head", aside=True)
def _(subject, rand):
    x = rand(2, 5, 12)
    mask = torch.stack((MASK, ~MASK, MASK.flip(1))).expand(2, 3, 5, 5)
    return built(subject, rand)(x, mask=mask)


NAMES, TWICE = ("the names",), ("two calls in evaluation mode",)

# --- what expressions below use ---------------------------------------------------------------------------------------


class Norm(nn.LayerNorm):
    """A norm by hand: over `dim`, the variance divided by n - correction, eps inside or outside the root."""

    def __init__(self, d_model, dim=-1, correction=0, inside=1e-5, outside=0.0, root=torch.sqrt):
        super().__init__(d_model)
        self.dim, self.correction, self.inside, self.outside, self.root = dim, correction, inside, outside, root

    def forward(self, y):
        centred = y - y.mean(dim=self.dim, keepdim=True)
        variance = y.var(dim=self.dim, keepdim=True, correction=self.correction)
        return centred / (self.root(variance + self.inside) + self.outside) * self.weight + self.bias


class RMSNorm(nn.LayerNorm):
    def forward(self, y):
        return y / (y.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * self.weight + self.bias


class BufferNorm(nn.LayerNorm):
    """The right numbers under the right names, but not as parameters."""

    def __init__(self, d_model):
        super().__init__(d_model)
        for name in ("weight", "bias"):
            self.register_buffer(name, self._parameters.pop(name).detach())


class PostUnlessTold(block.build({})):
    def __init__(self, d_model, num_heads, d_ff, norm_first=False):
        super().__init__(d_model, num_heads, d_ff, norm_first)


class NoModule:
    """A class like any other."""

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        self.norm_first = norm_first


def causal(x):
    return torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).tril()


def each_head_apart(attn, y, mask):
    """The heads' own parts of the weights; their projections added."""
    width = y.size(-1) // attn.num_heads
    wq, wk, wv, wo = (part.weight for part in (attn.wq, attn.wk, attn.wv, attn.wo))
    total = 0
    for head in range(attn.num_heads):
        rows = slice(head * width, (head + 1) * width)
        scores = (y @ wq[rows].T) @ (y @ wk[rows].T).transpose(1, 2) / width**0.5
        if mask is not None:
            one = mask if mask.dim() < 4 else mask[:, min(head, mask.size(1) - 1)]
            scores = scores.masked_fill(one.logical_not(), -1e9)
        total = total + torch.softmax(scores, dim=-1) @ (y @ wv[rows].T) @ wo[:, rows].T
    return total


class Attention(nn.Module):
    """Attention from modules, with torch's own function inside."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        for name in ("wq", "wk", "wv", "wo"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))
        self.drop = nn.Dropout(0.0)

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


# --- how mistakes are registered --------------------------------------------------------------------------------------

mistake, right = block.mistake, block.alternative


def alone(*args, **changes):
    """Register a mistake that is named where it is the only one. Sets of two take time to try, so only what people do
    most is sought beside something else."""
    mistake(*args, alone=True, **changes)


def in_orders(id, says, suggests, *, coding="", both=None, **changes):
    """Register a mistake made in both orders, and the same made in one of them only: they are written apart.

    Args:
        both: What stands in place of steps where both orders have it, if that is not what each has.
        changes: `sum1` is `pre_sum1` in the one and `post_sum1` in the other.
    """
    each = {
        order: {
            step if "_" in step else f"{order}_{step}": new
            for step, new in changes.items()
            if "_" not in step or step.startswith(order)
        }
        for order in ("pre", "post")
    }
    mistake(id, says, suggests, coding=coding, **(both or {**each["pre"], **each["post"]}))
    for order, own in each.items():
        with_order = f"With norm_first={order == 'pre'}: {says[0].lower()}{says[1:]}"
        alone(id, with_order, suggests, coding=f"{coding} {order}-LN only".strip(), **own)


def norm1_on(norm):
    """What is done where norm1 belongs, to `{}`."""
    return {"pre_norm1": norm.format("x"), "post_norm1": norm.format("h")}


def norm2_on(norm):
    return {"pre_norm2": norm.format("h"), "post_norm2": norm.format("out")}


def norms(made):
    """Both norms, made so."""
    return {"norm1": made, "norm2": made}


# fmt: off
# --- the sums
OWN_INPUT = "Add what the branch gives to its own input: `{}`."
IN_PLACE = "Make new tensors: `x = x + ...`, never `x += ...`."
CALLERS = "You change the caller's tensor: {} into it, and autograd refuses that on a leaf."
in_orders("bl-no-residual-attn", "What attention gives replaces x; nothing of x itself is carried on.",
          OWN_INPUT.format("x + attn(...)"), sum1="heard")
in_orders("bl-no-attention", "There is no attention in the block: no token ever hears from another.",
          "Add the attention branch before the network: `x + attn(...)`.", talk="torch.zeros_like(x)")
in_orders("bl-no-residual-ffn", "What the network gives replaces the stream; the result of the attention step is not "
    "carried on.", OWN_INPUT.format("h + ffn(...)"), sum2="thought")
in_orders("bl-ffn-residual-from-input", "The second sum adds the block's input x again, so what attention said is lost "
    "from the stream.", "Add the network's result to h, the result of the first sum.", sum2="x + thought")
for which, changes in {
    "Both sums take": {"pre_sum1": "y + heard", "pre_sum2": "y + thought"},
    "The first sum takes": {"pre_sum1": "y + heard"}, "The second sum takes": {"pre_sum2": "y + thought"},
}.items():
    mistake("bl-residual-from-norm", f"{which} the normalised copy instead of the stream itself, so every block "
        "normalises the stream.", "Keep the two apart: `x = x + attn(norm1(x))`, not `x = norm1(x); x = x + attn(x)`.",
        coding=which, alone=len(changes) == 1, **changes)
mistake("bl-post-residual-unnormed", "With norm_first=False, the second sum takes the value before norm1; in post-LN "
    "the normalised value is what goes on.", "Let `h = norm1(x + attn(x))` serve both the network and the second sum.",
    post_norm1="total, h = h, self.norm1(h)", post_sum2="total + thought")
in_orders("bl-in-place", CALLERS.format("`x += ...` writes"), IN_PLACE, sum1="x.add_(heard)")
in_orders("bl-in-place", CALLERS.format("both `x += ...` write"), IN_PLACE, coding="both sums", sum1="x.add_(heard)",
          sum2="h.add_(thought)")
alone("bl-in-place", "The second `+=` writes over a value that the backward pass still needs.", IN_PLACE,
      coding="second sum", pre_sum2="h.add_(thought)", post_sum2="h.add_(thought)")

BARE = norm1_on("{}") | norm2_on("{}")
alone("bl-bare", "There is neither a norm nor a sum: each branch replaces what it read.",
      "Write both orders out: `x + f(norm(x))` and `norm(x + f(x))`.", **BARE,
      pre_sum1="heard", pre_sum2="thought", post_sum1="heard", post_sum2="thought")
for coding, total in (("half of each branch", "{} + 0.5 * {}"), ("a tenth of each branch", "{} + 0.1 * {}"),
                      ("twice each branch", "{} + 2.0 * {}"), ("half of each input", "0.5 * {} + {}"),
                      ("each sum by √2", "({} + {}) / 2**0.5"), ("each sum by 2", "({} + {}) / 2")):
    alone("bl-scaled-residual", f"The sums are scaled ({coding}); they are plain sums.",
          "Write `x + branch`, without a factor.", coding=coding,
          **{f"{order}_sum{number}": total.format(*parts) for order in ("pre", "post")
             for number, parts in ((1, ("x", "heard")), (2, ("h", "thought")))})

# --- the order of things
for coding, order, says in (
    ("exchanged", "not self.norm_first",
     "`norm_first` is taken the wrong way round: True must mean pre-LN, False post-LN."),
    ("always pre", "True", "The block is pre-LN whatever `norm_first` says; with norm_first=False it must be post-LN."),
    ("always post", "False",
     "The block is post-LN whatever `norm_first` says; with norm_first=True it must be pre-LN."),
):
    mistake("bl-other-placement", says, "Write both orders, `x + f(norm(x))` and `norm(x + f(x))`, and choose by "
        "`self.norm_first`.", coding=coding, order=order)
mistake("bl-other-placement", "Both orders are right, but a block made without `norm_first` is post-LN.",
        "Make True the default of `norm_first`.", coding="default", version=PostUnlessTold)
PARALLEL = ("bl-parallel",
            "The network reads the block's input, so the two branches run side by side and it never hears attention.",
            "Give the network what came out of the attention step: h, not x.")
FFN_FIRST = ("bl-ffn-first", "The network comes first and attention second; the block has attention first.",
             "Exchange the two steps.")
EXCHANGED = {"pre_talk": "self.ffn(y)", "pre_think": "self.attn(y, mask)",
             "post_talk": "self.ffn(x)", "post_think": "self.attn(h, mask)"}
SWAPPED = norm1_on("self.norm2({})") | norm2_on("self.norm1({})")
in_orders(*PARALLEL, pre_norm2="self.norm2(x)", post_think="self.ffn(x)")
alone(*PARALLEL, coding="one norm", pre_norm2="y")
in_orders("bl-norm-on-branch-output", "You normalise what a branch gives before it is added; that is neither pre-LN "
    "nor post-LN.", "Normalise what goes into the branch (pre-LN) or the whole sum (post-LN).",
    talk="self.norm1(self.attn(x, mask))", post_norm1="h", think="self.norm2(self.ffn(h))", post_norm2="out")
in_orders(*FFN_FIRST, **EXCHANGED)
alone(*FFN_FIRST, coding="each its norm", **EXCHANGED, **SWAPPED)

# --- which norm
for number, where, use in ((1, "attention", norm1_on), (2, "the network", norm2_on)):
    text = ("bl-missing-norm", f"norm{number}, the norm that belongs to {where}, is missing.",
            f"Use `self.norm{number}`: on the way into {where} in pre-LN, on the sum after it in post-LN.")
    in_orders(*text, coding=f"norm{number}", **use("{}"))
    alone(*text, coding=f"norm{number} never made", **{f"norm{number}": "pass"}, **use("{}"))
alone("bl-missing-norm", "Neither of the two norms is used.", "Normalise what goes into each branch in pre-LN, the sum "
    "after it in post-LN.", coding="both", **norm1_on("{}"), **norm2_on("{}"))
BY_PLACE = "Use `self.norm1` for attention and `self.norm2` for the network."
SHARED = ("bl-shared-norm", "One norm serves both places; each place has γ and β of its own.", BY_PLACE)
in_orders(*SHARED, coding="norm1 twice", **norm2_on("self.norm1({})"))
alone(*SHARED, coding="norm2 twice", **norm1_on("self.norm2({})"))
alone(*SHARED, coding="norm2 never made", norm2="pass", **norm2_on("self.norm1({})"))
alone(*SHARED, coding="one object under both names", norm2="self.norm1")
in_orders("bl-swapped-norm", "The two norms are exchanged: norm2 is where norm1 belongs, and the other way round.",
          BY_PLACE, **SWAPPED)
FINAL = ("bl-extra-final-norm",
         "There is one more norm at the end of the block; that one belongs to the model, after its last block.",
         "Return the second sum as it is (pre-LN), or normalised once (post-LN).")
THIRD = {"norm2": "self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)"}
mistake(*FINAL, coding="norm2 again", end="self.norm2(out)")
alone(*FINAL, coding="norm1 again", end="self.norm1(out)")
alone(*FINAL, coding="without weights", end="F.layer_norm(out, out.shape[-1:])")
alone(*FINAL, coding="its own", **THIRD, end="self.norm3(out)")
alone(*FINAL, coding="its own, pre-LN only", **THIRD, pre_sum2="self.norm3(h + thought)")

# --- how the norm is computed
for coding, dim, over in (
    ("tokens", 1, "over the tokens of a sequence"), ("batch", 0, "over the batch, which is BatchNorm"),
    ("tokens and features", (1, 2), "over all tokens and features of a sequence together"),
    ("batch and tokens", (0, 1), "over batch and tokens, which is BatchNorm"),
    ("all", (0, 1, 2), "over the whole tensor"),
):
    mistake("bl-norm-axis", f"Your norm's mean and variance run {over}; each token must be normalised by itself.",
            "Take mean and variance over the last axis, with `keepdim=True`.", coding=coding, alone=coding != "tokens",
            **norms(f"Norm(d_model, dim={dim})"))
for coding, eps in {
    "": "", "eps outside": "inside=0.0, outside=1e-5", "eps 1e-6 outside": "inside=0.0, outside=1e-6",
}.items():
    and_eps = ", and eps is added outside the root" if eps else ""
    mistake("bl-norm-unbiased", f"Your norm divides the variance by D − 1 (the default of `var` and `std`){and_eps}.",
            "Divide by D: `y.var(-1, keepdim=True, unbiased=False)`, with eps inside the root.", coding=coding,
            alone=bool(eps), **norms(f"Norm(d_model, correction=1, {eps})"))
for coding, inside, outside in (
    ("outside", 0.0, 1e-5), ("1e-6 outside", 0.0, 1e-6), ("none", 0.0, 0.0), ("1e-12", 1e-12, 0.0), ("1e-6", 1e-6, 0.0),
    ("1e-10", 1e-10, 0.0), ("1e-8", 1e-8, 0.0), ("1e-7", 1e-7, 0.0), ("1e-4", 1e-4, 0.0), ("1e-3", 1e-3, 0.0),
):
    alone("bl-norm-eps", "Your norm's eps is not 1e-5 inside the root, which shows on tokens whose features hardly "
        "vary.", "Divide by `(var + 1e-5).sqrt()`.", coding=coding,
        **norms(f"Norm(d_model, inside={inside}, outside={outside})"))
PLAIN = "F.layer_norm({{0}}, {{0}}.shape[{}:])"
alone("bl-norm-axis", "Your norm's mean and variance run over all tokens and features of a sequence together; each "
    "token must be normalised by itself.", "Use `nn.LayerNorm(d_model)`, made in `__init__`.", coding="without weights",
    **norm1_on(PLAIN.format(1)), **norm2_on(PLAIN.format(1)))
alone("bl-norm-fresh", "Your norms have no γ and β of their own: they are made anew in each forward pass, or take no "
      "weights, so what norm1 and norm2 learn is never used.", "Make both in `__init__`, and call `self.norm1(x)`.",
      **norm1_on(PLAIN.format(-1)), **norm2_on(PLAIN.format(-1)))
alone("bl-norm-rms", "Your norm does not subtract the mean: that is RMSNorm.",
      "Subtract each token's mean first; the variance is taken around it.", **norms("RMSNorm(d_model)"))
alone("bl-norm-no-sqrt", "Your norm divides by the variance, not by its root.", "Divide by `(var + 1e-5).sqrt()`.",
      **norms("Norm(d_model, root=lambda variance: variance)"))

# --- the network
GELU_BETWEEN = "Put gelu between them: `self.w2(F.gelu(self.w1(y)))`."
mistake("bl-no-activation", "There is no activation between the two linear layers, so together they are one linear "
    "map.", GELU_BETWEEN, bend="hidden")
for coding, name, bend in (
    ("ReLU", "ReLU", "F.relu(hidden)"), ("SiLU", "SiLU (Swish)", "F.silu(hidden)"),
    ("QuickGELU", "QuickGELU, x · sigmoid(1.702 x)", "hidden * torch.sigmoid(1.702 * hidden)"),
    ("leaky ReLU", "leaky ReLU", "F.leaky_relu(hidden)"), ("tanh", "tanh", "torch.tanh(hidden)"),
    ("sigmoid", "the sigmoid", "torch.sigmoid(hidden)"),
    ("√(2π)", "GELU's tanh form with √(2π) where √(2/π) belongs",
     "0.5 * hidden * (1 + torch.tanh((2 * torch.pi) ** 0.5 * (hidden + 0.044715 * hidden**3)))"),
    ("erf unscaled", "x · ½(1 + erf(x)), where Φ has erf(x / √2)", "hidden * 0.5 * (1 + torch.erf(hidden))"),
):
    mistake("bl-wrong-activation", f"Your activation is not GELU: it is {name}.", "Use `torch.nn.functional.gelu`.",
            coding=coding, alone=coding != "ReLU", bend=bend)
alone("bl-activation-last", "The activation comes after the second linear layer: between the two there is none.",
      GELU_BETWEEN, bend="hidden", narrow="F.gelu(self.w2(hidden))")

alone("bl-tied", "Both layers of the network use the weights of `w1` (the second transposed); `w2.weight` is never "
    "used.", "Use `self.w2(hidden)`.", narrow="hidden @ self.w1.weight + self.w2.bias")

# --- the mask
alone("at-zero-score-hidden", "Inside attention you hide every score that is 0, to find those that the mask made 0: a "
      "token that is allowed and scores exactly 0 is lost, too.", "Ask the mask, not the scores: "
      "`scores.masked_fill(~mask, -inf)`.", only=("allowed scores of 0",),
      hide="(scores * mask).masked_fill(scores * mask == 0, -INF)")
alone("at-fill-too-small", "Inside attention you fill blocked scores with about -1000, which wins when allowed scores "
    "are lower.", "Fill with -inf (or -1e9).", coding="-1000", only=("scores near -2000",),
    hide="scores.masked_fill(~mask, -1000.0)")
alone("hd-mask-of-first-head", "All heads get the mask of head 0.", "Use the mask with all its axes: it broadcasts to "
      "(B, H, T, T).", only=("a mask for each head",),
      hide="scores.masked_fill(~(mask[:, :1] if mask.dim() == 4 else mask), -INF)")
in_orders("bl-mask-not-passed", "The mask never reaches attention, so every token sees whatever the mask should hide.",
          "Pass it on: `self.attn(..., mask)`, and use it there. (`masked_fill` returns a new tensor: assign it.)",
          both={"take_mask": "None"}, pre_talk="self.attn(y)", post_talk="self.attn(x)")
for coding, mask in (
    ("always", "causal(x)"), ("besides", "causal(x) if mask is None else mask & causal(x)"),
    ("unless given", "causal(x) if mask is None else mask"),
):
    alone("bl-own-mask", "The block makes a causal mask of its own; it must be causal only when the mask it is given "
        "is.", "Use the `mask` argument and nothing else; with mask=None every token may see every other.",
        coding=coding, take_mask=mask)
mistake("at-mask-inverted", "Inside attention you block what the mask allows: here True = may attend.",
        "Fill where the mask is False: `masked_fill(~mask, -inf)`.", hide="scores.masked_fill(mask, -INF)")
mistake("at-mask-transposed", "Inside attention the mask is used with rows and columns exchanged: its rows are "
    "queries, its columns keys.", "Use the mask as it is given, without transposing it.",
    hide="scores.masked_fill(~mask.transpose(-2, -1), -INF)")
alone("at-mask-after-softmax", "Inside attention you zero weights after the softmax, so the rows no longer sum to 1.",
      "Mask the scores before the softmax: `masked_fill(~mask, -inf)`.", hide="scores",
      blend="(weights if mask is None else weights.masked_fill(~mask, 0.0)) @ v")
for coding, hide in (
    ("fill 0", "scores.masked_fill(~mask, 0.0)"), ("fill 1e-9", "scores.masked_fill(~mask, 1e-9)"),
    ("times the mask", "scores * mask"),
):
    alone("at-mask-as-zero-score", "Inside attention a blocked key gets the score 0, which is not nothing: exp(0) = 1.",
          "Fill blocked scores with -inf.", coding=coding, hide=hide)
alone("at-mask-added-bool", "Inside attention you add the Boolean mask to the scores: that raises allowed ones by 1 "
    "and blocks nothing.", "Fill blocked scores with -inf: `masked_fill(~mask, -inf)`.", hide="scores + mask")
for value in (-10.0, -100.0):
    alone("at-fill-too-small",
          f"Inside attention you fill blocked scores with {value:g}, which wins when allowed scores are lower.",
          "Fill with -inf (or -1e9).", coding=f"{value:g}", hide=f"scores.masked_fill(~mask, {value})")
for value in (INF, 1e9):
    alone("at-fill-positive", "Inside attention you fill blocked scores with a huge *positive* number, so blocked keys "
        "win.", "Fill with -inf.", coding=f"{value:g}", hide=f"scores.masked_fill(~mask, float('{value}'))")

# --- scores and weights
mistake("at-no-scale", "Inside attention the scores are not scaled: your weights are softmax(QKᵀ), too peaked.",
        "Divide the scores by √d_head, d_head = D / H: `q.size(-1) ** 0.5`.", scale="scores")
mistake("at-scale-d-model", "Inside attention you scale by √d_model; each head has only d_head = D / H features.",
    "Divide by the root of one head's width: `q.size(-1) ** 0.5` after the split.", scale="scores / x.size(-1) ** 0.5")
for id, coding, says, scale in (
    ("at-scale-dk", "", "you divide the scores by d_head, not by its root", "scores / q.size(-1)"),
    ("at-scale-multiplied", "", "you multiply the scores by √d_head", "scores * q.size(-1) ** 0.5"),
    ("at-scale-constant", "8", "you divide the scores by 8, which is √d_head only for d_head = 64", "scores / 8"),
    ("at-scale-wrong-axis", "T", "you divide the scores by √T, the root of the sequence's length",
     "scores / q.size(-2) ** 0.5"),
    ("at-scale-wrong-axis", "H", "you divide the scores by √H, the root of the number of heads",
     "scores / q.size(1) ** 0.5"),
):
    alone(id, f"Inside attention {says}.",
          "Divide the scores by √d_head, the root of one head's width: `q.size(-1) ** 0.5`.", coding=coding,
          scale=scale)
alone("at-scale-after-softmax", "Inside attention you scale the weights, not the scores: they sum to 1/√d_head.",
      "Divide the scores by √d_head before the softmax.", scale="scores", blend="weights / q.size(-1) ** 0.5 @ v")
mistake("at-softmax-queries", "Inside attention the softmax runs over the queries: each column sums to 1 where each "
    "row should.", "Use `softmax(scores, dim=-1)`.", weigh="torch.softmax(scores, dim=-2)")
for dim, axis in ((0, "batch"), (1, "head")):
    alone("at-softmax-batch-or-head", f"Inside attention the softmax runs over the {axis} axis.",
          "Use `softmax(scores, dim=-1)`.", coding=axis, weigh=f"torch.softmax(scores, dim={dim})")
alone("at-no-softmax", "Inside attention the raw scores multiply the values: there is no softmax.",
      "Turn scores into weights: `softmax(scores, dim=-1)`.", weigh="scores")
alone("sm-overflow", "Your softmax exponentiates the scores as they are: very low scores all become 0, and 0/0 is NaN.",
      "Subtract each row's maximum first, or use `torch.softmax`.",
      weigh="scores.exp() / scores.exp().sum(-1, keepdim=True)")
alone("at-qk-swapped", "Inside attention the scores are keys × queries: row and column are exchanged.",
      "Compute `q @ k.transpose(-2, -1)`.", score="k @ q.transpose(-2, -1)")
BY_V = "Multiply the weights by v, the split of `self.wv(y)`."
alone("at-values-are-keys", "Inside attention the weights mix the keys; the values are never used.", BY_V,
      project="self.wq(x), self.wk(x), self.wk(x)")
alone("at-values-are-keys", "Attention gives the values as they are: the weights are never applied to them.",
      "Multiply the weights by the values: `weights @ v`.", coding="the values unmixed", blend="v")
alone("at-values-are-keys", "Inside attention the weights mix the tokens themselves; `wv` is never used.", BY_V,
      coding="the unprojected input", project="self.wq(x), self.wk(x), x")
alone("at-k-reshaped", "Inside attention the keys are reshaped where they should be transposed: the shape fits, the "
    "numbers do not.", "Use `k.transpose(-2, -1)`; `view` and `reshape` only relabel memory.",
    score="q @ k.reshape(*k.shape[:2], k.size(3), k.size(2))")

# --- heads and projections
COPIED = "Queries come from `wq`, keys from `wk`, values from `wv`: {}."
for coding, taken in (
    ("wq for all three", "qqq"), ("wq for the keys", "qqv"), ("wq for the values", "qkq"),
    ("wk for the queries", "kkv"), ("wv for the keys", "qvv"),
):
    alone("hd-projection-shared", f"Attention uses {coding}: queries, keys and values have a projection each.",
          COPIED.format("look for a name that was copied"), coding=coding,
          project=", ".join(f"self.w{letter}(x)" for letter in taken))
for coding, taken in (
    ("wk and wv", "qvk"), ("wq and wv", "vkq"),
    ("all three, in a ring", "kvq"), ("all three, in the other ring", "vqk"),
):
    alone("hd-projections-exchanged", f"Attention exchanges its weights: {coding}.",
          COPIED.format("check the order in which you name them"), coding=coding,
          project=", ".join(f"self.w{letter}(x)" for letter in taken))
mistake("hd-split-view",
        "Your split into heads has the right shape and the wrong contents: it cuts the sequence, not the features.",
        "Use `view(B, T, H, d_head).transpose(1, 2)`.", split="x.reshape(x.size(0), self.num_heads, x.size(1), -1)")
mistake("hd-merge-no-transpose", "The heads are joined without bringing the position axis back first, so tokens are "
    "mixed up between heads.", "Transpose axes 1 and 2 before the reshape.", merge="heads.reshape(x.shape)")
alone("hd-split-no-transpose", "The heads stay on axis 2 (B, T, H, d_head), so attention runs between the heads of one "
    "token, not between tokens.", "Bring the head axis forward after the view: `transpose(1, 2)`, and back before you "
    "join the heads.", split="x.unflatten(-1, (self.num_heads, -1))", merge="heads.flatten(2)")
alone("hd-split-strided", "Every H-th feature goes to the same head; a head must take d_head neighbouring features.",
      "View as (B, T, H, d_head), heads before features, not (B, T, d_head, H).",
      split="x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)")
alone("hd-merge-strided", "The heads' features are interleaved when they are joined; head 0's come first, then head "
    "1's.", "Join with the head axis before the feature axis: `transpose(1, 2)`, then reshape.",
    merge="heads.permute(0, 2, 3, 1).flatten(2)")
alone("hd-merge-view-error", "After `transpose` the memory is not contiguous, and `view` refuses to join the heads.",
      "Use `reshape`, or `.contiguous()` before `view`.",
      merge="heads.transpose(1, 2).view(heads.size(0), heads.size(2), -1)")
alone("hd-merge-batch-mixed", "Joining the heads mixes the sequences of a batch: a reshape pulls the batch axis and "
    "the head axis together.", "Exchange only axes 1 and 2 before the reshape.", merge="heads.permute(1, 2, 0, "
    "3).reshape(heads.size(0), heads.size(2), -1)")
mistake("bl-no-output-projection", "The joined heads are returned as they are: the output projection `wo` is not "
    "applied.", "Return `self.wo(...)` of the joined heads.", mix="joined")
alone("bl-no-output-projection", "There is no output projection: attention must end with `wo`.",
      "Make `self.wo = nn.Linear(d_model, d_model, bias=False)` and apply it to the joined heads.", coding="never made",
      wo="pass", mix="joined")
alone("bl-weights-transposed", "Attention multiplies by its weight matrices as they are; they are laid out (out, in), "
    "as in nn.Linear.", "Use nn.Linear, or `y @ weight.T`.", project="x @ self.wq.weight, x @ self.wk.weight, x @ "
    "self.wv.weight", mix="joined @ self.wo.weight")

# --- names and modules
IN_A_LIST = "Modules in a Python list or dict, and tensors without `nn.Parameter`, are not registered."
UNREGISTERED = {
    "attn": {"attn": "vars(self)['attn'] = SelfAttention(d_model, num_heads)"},
    "ffn": {"ffn": "vars(self)['ffn'] = FeedForward(d_model, d_ff)"},
    "norm1 and norm2": {f"norm{n}": f"vars(self)['norm{n}'] = nn.LayerNorm(d_model)" for n in (1, 2)},
}
alone("bl-plain-list", "The state dict has nothing of norm1 and norm2: they were made without weights, or are hidden. "
    f"{IN_A_LIST}", "Make them attributes of the block: `self.norm1 = nn.LayerNorm(d_model)`, and the same for norm2.",
    coding="norms", **norms("nn.LayerNorm(d_model, elementwise_affine=False)"))
for groups in (("attn",), ("ffn",), ("attn", "ffn"), ("attn", "norm1 and norm2"), ("ffn", "norm1 and norm2"),
               tuple(UNREGISTERED)):
    changes = {step: made for group in groups for step, made in UNREGISTERED[group].items()}
    alone("bl-plain-list",
          f"The state dict has nothing of {', '.join(groups)}, so no optimizer would train it. {IN_A_LIST}",
          "Make each an attribute of an nn.Module (`self.attn = ...`), or use `nn.ModuleList`.",
          coding=", ".join(groups), only=NAMES, **changes)  # its numbers are its own random ones
alone("bl-attention-bias", "Your attention has biases that the statement does not have; nothing is loaded into them, "
    "so they keep the numbers they began with.", "Make the four projections with `nn.Linear(d_model, d_model, "
    "bias=False)`.", only=NAMES, **dict.fromkeys(("wq", "wk", "wv", "wo"), "nn.Linear(d_model, d_model)"))
alone("bl-ffn-no-bias", "The network has no biases; both of its linear layers have one.",
      "Leave out `bias=False` in `w1` and `w2`.", w1="nn.Linear(d_model, d_ff, bias=False)",
      w2="nn.Linear(d_ff, d_model, bias=False)")
alone("bl-state-names", "The names in your state dict are not those of the statement, so the checks' numbers never get "
    "in.", "Name the attributes as the statement lists them; `print(block.state_dict().keys())` shows yours.",
    only=NAMES, attn="self.attention = SelfAttention(d_model, num_heads)", pre_talk="self.attention(y, mask)",
    post_talk="self.attention(x, mask)")
alone("bl-state-names", "Your state dict has more names than the statement lists, though nothing depends on them.",
      "Remove them; a buffer that must stay takes `persistent=False`.", coding="more than asked for",
      attn="self.attn = SelfAttention(d_model, num_heads)\nself.attn.register_buffer('mask', torch.ones(d_model))")
mistake("bl-no-module", "`TransformerBlock` is not an nn.Module, so it has no state dict and no parameters.",
        "Write `class TransformerBlock(nn.Module)`, and begin `__init__` with `super().__init__()`.", version=NoModule,
        only=NAMES)
alone("bl-not-parameters", "γ and β of your norms are not parameters, so no optimizer would train them.",
      "Use nn.LayerNorm, or wrap them in `nn.Parameter`.", **norms("BufferNorm(d_model)"))

# --- what happens at run time
DROPOUT = ("bl-dropout-in-eval",
           "Two calls with the same input give different answers: dropout is active, or something is drawn at random "
           "in each call (new weights, say).",
           "The block has no dropout: take it out. (`F.dropout` needs `training=self.training` to ever stop.) Make "
           "modules in `__init__`, not in `forward`.")
alone(*DROPOUT, only=TWICE, pre_sum1="x + F.dropout(heard, 0.1)", post_sum1="x + F.dropout(heard, 0.1)")
alone(*DROPOUT, coding="on the weights", only=TWICE, blend="F.dropout(weights, 0.1) @ v")
alone("bl-dropout", "The block has dropout: in training mode two calls differ. The exercise asks for none.",
      "Take the dropout out, or set its probability to 0.", only=("in training mode",),
      pre_sum1="x + F.dropout(heard, 0.1, self.training)", post_sum1="x + F.dropout(heard, 0.1, self.training)")
alone("bl-view", "It works only on inputs without gaps in their memory: `view` cannot join the axes of a slice.",
      "Use `reshape` or `flatten` in place of `view`.", only=("a slice of a larger tensor",),
      take_x="x.view(-1).view(x.shape)")
alone("bl-detached", "The result is cut off from autograd, so nothing before it can learn.",
      "Take out `torch.no_grad()`, `.detach()` and `.data`.", end="out.detach()")

# --- just as right
right("modules, a fused projection, F.scaled_dot_product_attention, a dropout of 0", version=FromModules)
right("a norm written by hand", **norms("Norm(d_model)"))
right("the tanh form of GELU", bend="F.gelu(hidden, approximate='tanh')")
right("GELU from erf", bend="0.5 * hidden * (1 + torch.erf(hidden / 2**0.5))")
right("each head apart, their projections added", project="return each_head_apart(self, x, mask)")
right("a very negative fill, before the scale", scale="scores", hide="scores.masked_fill(~mask, -1e9)",
      weigh="torch.softmax(scores / q.size(-1) ** 0.5, dim=-1)")
right("q scaled instead of the scores", score="(q / q.size(-1) ** 0.5) @ k.mT", scale="scores")
right("einsum", score="torch.einsum('bhtd,bhsd->bhts', q, k)")
right("heads from chunks", split="torch.stack(x.chunk(self.num_heads, -1), dim=1)")
# fmt: on
