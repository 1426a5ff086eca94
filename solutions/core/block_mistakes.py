"""What people get wrong in `block`, executable; and other right ways to write it.

Not here, because one block alone cannot show them: one block put into a stack n times (bl-shared-layers), and blocks
that all read the stack's input (bl-each-layer-reads-input). A mask laid along the queries (at-mask-query-axis) is
at-mask-transposed here. Nor those that always end in an error about shapes, which says by itself where to look: heads
averaged, joined along the sequence or thrown away (hd-merge-averaged, hd-merge-along-sequence, hd-merge-one-head).
"""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: F401, N812  expressions below use it, by the field's name

from grader.api.checks import (
    MistakeSet,
    PlainClass,
    as_buffers,  # noqa: F401  lines below use it
    draw,
    draw_state,
    is_alike_in_training,
    of_model,
    read_names,
    without_names,
)

INF = float("inf")
SLOPES = 2e-3  # spans the gradients of both forms of GELU, and what float32 leaves of scores near -2000


# Questions below ask what other checks do, so that a rare fault hides no other.
block = MistakeSet("TransformerBlock", globals(), read=without_names, tolerances={"pre_gradients": SLOPES}, checks=(
    "pre_one_token", "pre_several_tokens", "default_order", "post_one_token", "post_several_tokens", "pre_mask",
    "post_mask", "mask_of_each[padding]", "other_sizes[(10, 1, 24)]", "post_scales", "pre_gradients", "input_unchanged")
)  # fmt: skip
MISTAKE_SETS = [block]

SIZES = (12, 3, 7)  # D, H, d_ff: pairwise different, and different from B = 2 and T = 5
SHAPES = {
    **{f"attn.w{letter}.weight": (12, 12) for letter in "qkvo"},
    **{f"norm{n}.{part}": (12,) for n in (1, 2) for part in ("weight", "bias")},
    "ffn.w1.weight": (7, 12), "ffn.w1.bias": (7,), "ffn.w2.weight": (12, 7), "ffn.w2.bias": (12,),
}  # fmt: skip
# small inputs of the hidden layer, and outputs of the network that count
numbers = draw_state(SHAPES, {"w1.": 0.05, "w2.weight": 6.0})
PAST = torch.ones(5, 5, dtype=torch.bool).tril()


def ask(name, *args, by="__call__", own=lambda rand: {}, **options):
    """Register a question to a block that holds such numbers, and some of its `own`, in evaluation mode."""
    block.ask(name, *args, by=of_model(*SIZES, by=by), state=lambda rand: numbers(rand) | own(rand), **options)


def low_scores(rand):
    """Numbers that make all scores about -2000."""
    heads = {f"attn.w{letter}.weight": torch.eye(12) * sign for letter, sign in (("q", 1), ("k", -1))}
    return {"norm1.weight": rand(12, scale=0.1), "norm1.bias": torch.full((12,), 32.0), **heads,
            "attn.wv.weight": torch.eye(12) - 1 / 12}  # fmt: skip


X = draw(2, 5, 12)
ask("two calls", X, by=lambda made, x: bool((made(x) == made(x)).all()), stage="")
OUT, W2 = ({name: torch.zeros(SHAPES[name])} for name in ("attn.wo.weight", "ffn.w2.weight"))
for zeros in (OUT, W2, OUT | W2):  # of two mistakes one is seen alone where the other's branch gives nothing
    ask(f"zeros in {' and '.join(zeros)}", X, own=lambda rand, zeros=zeros: zeros, stage="")
ask("in training mode", draw(4, 5, 12), by=is_alike_in_training, aside=True)
ask("a slice of a larger tensor", X, by="on_slices", aside=True)
ask("allowed scores of 0", X, mask=PAST, own=lambda rand: {"attn.wq.weight": torch.zeros(12, 12)}, aside=True,
    see=lambda found: bool(found.isnan().any()))  # fmt: skip
ask("scores near -2000", X, mask=PAST, own=low_scores, aside=True, atol=SLOPES)
# in the first head the keys of token 2 are far from the others'
APART = torch.tensor([[1.0], [1.0], [-1.0], [1.0], [1.0]]) * torch.tensor([1.0, -0.5, -0.5]).repeat_interleave(4)
FAR = {"own": lambda rand: low_scores(rand) | {"norm1.weight": torch.full((12,), 2.0)}, "atol": SLOPES}
ask("a blocked score far ahead", APART[None], mask=(torch.arange(5) != 2).expand(5, 5), aside=True, **FAR)
ask("where rows are far apart", APART[None], **FAR)
ask("a mask for each head", X, mask=torch.stack((PAST, PAST.T, PAST | PAST.T)).expand(2, 3, 5, 5), aside=True)
block.ask("the names", *SIZES, by=read_names, state=numbers, stage="in the names")


# --- what expressions below use ---------------------------------------------------------------------------------------


class Norm(nn.LayerNorm):
    """A norm by hand: over `dim`, the variance divided by n - correction, eps inside or outside the root."""

    def __init__(self, d_model, dim=-1, correction=0, inside=1e-5, outside=0.0, root=torch.sqrt):
        super().__init__(d_model)
        self.dim, self.correction, self.inside, self.outside, self.root = dim, correction, inside, outside, root

    def forward(self, y):
        variance = y.var(dim=self.dim, keepdim=True, correction=self.correction)
        scale = self.root(variance + self.inside) + self.outside
        return (y - y.mean(dim=self.dim, keepdim=True)) / scale * self.weight + self.bias


class PostUnlessTold(block.build({})):
    def __init__(self, d_model, num_heads, d_ff, norm_first=False):
        super().__init__(d_model, num_heads, d_ff, norm_first)


FROM_MODULES = {
    "project": "(x @ torch.cat([self.wq.weight, self.wk.weight, self.wv.weight]).T).chunk(3, dim=-1)",
    "blend": "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)",
    "merge": "heads.transpose(1, 2).contiguous().view(x.shape)",
    "attn": "self.attn, self.drop = SelfAttention(d_model, num_heads), nn.Dropout(0.0)",
    "ffn": "self.ffn = nn.ModuleDict(vars(FeedForward(d_model, d_ff))['_modules'])",
    "pre_think": "self.drop(self.ffn['w2'](F.gelu(self.ffn['w1'](y))))",
    "post_think": "self.drop(self.ffn['w2'](F.gelu(self.ffn['w1'](h))))",
}


class MaskByName(block.build(FROM_MODULES)):
    def forward(self, x, *, mask=None):
        return super().forward(x, mask)


# --- how mistakes are registered --------------------------------------------------------------------------------------

mistake, alone, right = block.mistake, block.alone, block.alternative
IN_NAMES = ("the names",)


def in_orders(id, says, suggests, *, coding="", **changes):
    """Register a mistake made in both orders, and the same made in one of them only: they are written apart.

    Args:
        changes: `sum1` is `pre_sum1` in the one and `post_sum1` in the other.
    """
    each = {"pre": {}, "post": {}}
    for step, new in changes.items():
        for order in each:
            if "_" not in step or step.startswith(order):
                each[order][step if "_" in step else f"{order}_{step}"] = new
    mistake(id, says, suggests, coding=coding, **each["pre"], **each["post"])
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
in_orders("bl-no-residual-attn", "What attention gives replaces x.", "Add x: `x + attn(...)`.", sum1="heard")
in_orders("bl-no-attention", "There is no attention in the block: no token ever hears from another.",
          "Add the attention branch before the network: `x + attn(...)`.", talk="torch.zeros_like(x)")
in_orders("bl-no-residual-ffn", "What the network gives replaces h.", "Add h: `h + ffn(...)`.", sum2="thought")
in_orders("bl-ffn-residual-from-input", "The second sum adds the block's input x again, so what attention said is lost "
          "from the stream.", "Add the network's result to h, the result of the first sum.", sum2="x + thought")
SUM_1, SUM_2 = {"pre_sum1": "y + heard"}, {"pre_sum2": "y + thought"}
for which, sums in (("Both sums take", SUM_1 | SUM_2), ("The first sum takes", SUM_1), ("The second sum takes", SUM_2)):
    mistake("bl-residual-from-norm", f"{which} the normalised copy, not the stream.", "Keep the two apart: `x = x + "
            "attn(norm1(x))`, not `x = norm1(x); x = x + attn(x)`.", coding=which, alone=len(sums) == 1, **sums)
mistake("bl-post-residual-unnormed", "With norm_first=False, the second sum takes the value before norm1; in post-LN "
        "the normalised value is what goes on.", "Let `h = norm1(x + attn(x))` serve both the network and the second "
        "sum.", post_norm1="total, h = h, self.norm1(h)", post_sum2="total + thought")
for coding, writes, sums in (("", "`x += ...` writes", {}), ("both sums", "both `x += ...` write",
                                                              {"sum2": "h.add_(thought)"})):
    in_orders("bl-in-place", f"You change the caller's tensor: {writes} into it, and autograd refuses that on a leaf.",
              "Make new tensors: `x = x + ...`.", coding=coding, sum1="x.add_(heard)", **sums)
alone("bl-in-place", "The second `+=` writes over a value that the backward pass still needs.", coding="second sum",
      pre_sum2="h.add_(thought)", post_sum2="h.add_(thought)")
alone("bl-bare", "There is neither a norm nor a sum: each branch replaces what it read.",
      "Write both orders out: `x + f(norm(x))` and `norm(x + f(x))`.", **norm1_on("{}"), **norm2_on("{}"),
      pre_sum1="heard", pre_sum2="thought", post_sum1="heard", post_sum2="thought")
for coding, total in (("half of each branch", "{} + 0.5 * {}"), ("a tenth of each branch", "{} + 0.1 * {}"),
                      ("twice each branch", "{} + 2.0 * {}"), ("half of each input", "0.5 * {} + {}"),
                      ("each sum by √2", "({} + {}) / 2**0.5"), ("each sum by 2", "({} + {}) / 2")):
    sums = {"sum1": total.format("x", "heard"), "sum2": total.format("h", "thought")}
    alone("bl-scaled-residual", f"The sums are scaled ({coding}); they are plain sums.",
          "Write `x + branch`.", coding=coding, **{f"{o}_{s}": new for o in ("pre", "post") for s, new in sums.items()})

# --- the order of things
mistake("bl-other-placement", "`norm_first` is taken the wrong way round: True is pre-LN, False post-LN.", "Write both "
        "orders, `x + f(norm(x))` and `norm(x + f(x))`, and choose by `self.norm_first`.", coding="exchanged",
        order="not self.norm_first")
mistake("bl-other-placement", "It is pre-LN whatever `norm_first` says.", coding="always pre", order="True")
mistake("bl-other-placement", "It is post-LN whatever `norm_first` says.", coding="always post", order="False")
mistake("bl-other-placement", "Both orders are right, but a block made without `norm_first` is post-LN.",
        "Make True the default of `norm_first`.", coding="default", version=PostUnlessTold)
in_orders("bl-parallel", "The network reads the block's input, so it never hears attention: the two run side by side.",
          "Give the network what attention made: h, not x.", pre_norm2="self.norm2(x)", post_think="self.ffn(x)")
alone("bl-parallel", coding="one norm", pre_norm2="y")
in_orders("bl-norm-on-branch-output", "You normalise what a branch gives before it is added; that is neither pre-LN "
          "nor post-LN.", "Normalise what goes into the branch (pre-LN) or the whole sum (post-LN).",
          talk="self.norm1(self.attn(x, mask))", post_norm1="h", think="self.norm2(self.ffn(h))", post_norm2="out")
alone("bl-norm-on-branch-output", coding="attention's", post_talk="self.norm1(self.attn(x, mask))", post_norm1="h")
alone("bl-norm-on-branch-output", coding="the network's", post_think="self.norm2(self.ffn(h))", post_norm2="out")
EXCHANGED = {"pre_talk": "self.ffn(y)", "pre_think": "self.attn(y, mask)",
             "post_talk": "self.ffn(x)", "post_think": "self.attn(h, mask)"}
SWAPPED = norm1_on("self.norm2({})") | norm2_on("self.norm1({})")
in_orders("bl-ffn-first", "The network comes first and attention second.", "Exchange the two steps.", **EXCHANGED)
in_orders("bl-ffn-first", "The network comes first, with its norm.", "", coding="each its norm", **EXCHANGED, **SWAPPED)

# --- which norm
for number, where, use in ((1, "attention", norm1_on), (2, "the network", norm2_on)):
    in_orders("bl-missing-norm", f"norm{number}, the norm that belongs to {where}, is missing.", "Use each norm on the "
              "way into its branch in pre-LN, on the sum after it in post-LN.", coding=f"norm{number}", **use("{}"))
    alone("bl-missing-norm", f"norm{number}, the norm that belongs to {where}, is missing.",
          coding=f"norm{number} never made", **{f"norm{number}": "pass"}, **use("{}"))
alone("bl-missing-norm", "Neither of the two norms is used.", coding="both", **norm1_on("{}"), **norm2_on("{}"))
BY_PLACE = "Use `self.norm1` for attention and `self.norm2` for the network."
SHARED = ("bl-shared-norm", "One norm serves both places; each place has γ and β of its own.", BY_PLACE)
in_orders(*SHARED, coding="norm1 twice", **norm2_on("self.norm1({})"))
alone(*SHARED, coding="norm2 twice", **norm1_on("self.norm2({})"))
alone(*SHARED, coding="norm2 never made", norm2="pass", **norm2_on("self.norm1({})"))
alone(*SHARED, coding="one object under both names", norm2="self.norm1")
in_orders("bl-swapped-norm", "The two norms are exchanged: norm2 is where norm1 belongs.", BY_PLACE, **SWAPPED)
THIRD = {"norm2": "self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)"}
for coding, changes in {
    "norm2 again": {"end": "self.norm2(out)"}, "norm2, pre-LN only": {"pre_sum2": "self.norm2(h + thought)"},
    "without weights": {"end": "F.layer_norm(out, out.shape[-1:])"}, "its own": {**THIRD, "end": "self.norm3(out)"},
    "norm1 again": {"end": "self.norm1(out)"}, "its own, pre-LN": {**THIRD, "pre_sum2": "self.norm3(h + thought)"},
}.items():
    mistake("bl-extra-final-norm", "There is one more norm at the end of the block; that one belongs to the model, "
            "after its last block.", "Return the second sum as it is (pre-LN), or normalised once (post-LN).",
            coding=coding, alone=coding != "norm2 again", **changes)

# --- how the norm is computed
BY_ITSELF = "Take mean and variance over the last axis, with `keepdim=True`: each token is normalised by itself."
for coding, dim, over in (
    ("tokens", 1, "over the tokens of a sequence"), ("batch", 0, "over the batch, which is BatchNorm"),
    ("tokens and features", (1, 2), "over all tokens and features of a sequence together"),
    ("batch and tokens", (0, 1), "over batch and tokens, which is BatchNorm"),
    ("all", (0, 1, 2), "over the whole tensor"),
):
    mistake("bl-norm-axis", f"Your norm's mean and variance run {over}; each token must be normalised by itself.",
            BY_ITSELF, coding=coding, alone=coding != "tokens", **norms(f"Norm(d_model, dim={dim})"))
for coding, eps in {"": "", "eps outside": "inside=0, outside=1e-5", "eps 1e-6": "inside=0, outside=1e-6"}.items():
    and_eps = ", and eps is added outside the root" if eps else ""
    mistake("bl-norm-unbiased", f"Your norm divides the variance by D − 1 (the default of `var` and `std`){and_eps}.",
            "Divide by D: `y.var(-1, keepdim=True, unbiased=False)`, with eps inside the root.", coding=coding,
            alone=bool(eps), **norms(f"Norm(d_model, correction=1, {eps})"))
OUTSIDE = {"outside": "outside=1e-5, inside=0", "1e-6 outside": "outside=1e-6, inside=0", "none": "inside=0"}
for coding, eps in {**OUTSIDE, **{f"1e-{n}": f"inside=1e-{n}" for n in (12, 10, 8, 7, 6, 4, 3)}}.items():
    alone("bl-norm-eps", "Your norm's eps is not 1e-5 inside the root, which shows on tokens whose features hardly "
          "vary.", "Divide by `(var + 1e-5).sqrt()`.", coding=coding, **norms(f"Norm(d_model, {eps})"))
PLAIN = "F.layer_norm({{0}}, {{0}}.shape[{}:])"
RMS = "F.rms_norm({{}}, self.norm{0}.weight.shape, self.norm{0}.weight, 1e-5) + self.norm{0}.bias"
alone("bl-norm-axis", "Your norm runs over all tokens and features of a sequence.", "Make `nn.LayerNorm(d_model)` in "
      "`__init__`.", coding="without weights", **norm1_on(PLAIN.format(1)), **norm2_on(PLAIN.format(1)))
alone("bl-norm-fresh", "Your norms are made anew in each forward pass, or take no weights: they never learn.",
      "Make both in `__init__`: `self.norm1(x)`.", **norm1_on(PLAIN.format(-1)), **norm2_on(PLAIN.format(-1)))
alone("bl-norm-rms", "Your norm does not subtract the mean: that is RMSNorm.", "Subtract each token's mean first; the "
      "variance is taken around it.", **norm1_on(RMS.format(1)), **norm2_on(RMS.format(2)))
alone("bl-norm-no-sqrt", "Your norm divides by the variance, not by its root.", "Divide by `(var + 1e-5).sqrt()`.",
      **norms("Norm(d_model, root=lambda variance: variance)"))

# --- the network
GELU_BETWEEN = "Put gelu between them: `w2(F.gelu(w1(y)))`."
mistake("bl-no-activation", "There is no activation between the two linear layers, so together they are one linear "
        "map.", GELU_BETWEEN, bend="hidden")
for name, bend in {
    "ReLU": "F.relu(hidden)", "SiLU (Swish)": "F.silu(hidden)", "leaky ReLU": "F.leaky_relu(hidden)",
    "tanh": "torch.tanh(hidden)", "the sigmoid": "torch.sigmoid(hidden)",
    "QuickGELU, x · sigmoid(1.702 x)": "hidden * torch.sigmoid(1.702 * hidden)",
    "GELU's tanh form with √(2π) where √(2/π) belongs":
        "0.5 * hidden * (1 + torch.tanh((2 * torch.pi) ** 0.5 * (hidden + 0.044715 * hidden**3)))",
    "x · ½(1 + erf(x)), where Φ has erf(x / √2)": "hidden * 0.5 * (1 + torch.erf(hidden))",
}.items():
    mistake("bl-wrong-activation", f"Your activation is not GELU: it is {name}.", "Use `torch.nn.functional.gelu`.",
            coding=name, alone=name not in ("ReLU", "SiLU (Swish)"), bend=bend)
alone("bl-activation-last", "The activation comes after the second linear layer: between the two there is none.",
      GELU_BETWEEN, bend="hidden", narrow="F.gelu(self.w2(hidden))")
alone("bl-tied", "Both layers of the network use the weights of `w1` (the second transposed); `w2.weight` is never "
      "used.", "Use `self.w2(hidden)`.", narrow="hidden @ self.w1.weight + self.w2.bias")

# --- attention, as in its own lesson; what is looked for beside other mistakes is below
HERE = {"d_k": "d_head"}
BESIDE = ("at-no-scale", "at-scale-d-model", "at-softmax-queries", "at-mask-inverted", "at-mask-transposed")
block.include("attention", says="Inside attention,", words=HERE, alone=True, without=(
    *BESIDE, "at-one-rank-only", "at-mask-query-axis", "at-scale-wrong-axis (S)", "at-scale-wrong-axis (d_v)",
    "at-scale-wrong-axis (size(2))", "at-in-place", "at-values-are-keys (weights only)", "at-softmax-batch-or-head",
    "at-mask-ignored", "at-always-causal", "at-detached", "at-dtype", "at-dropout-on", "at-softmax-overflow",
    # rare here, where attention comes from a lesson before
    "at-argmax", "at-cosine", "at-k-dot-T", "at-mask-zero-times-infinity", "at-rounded", "at-self-only", "at-sigmoid",
    "at-values-are-keys (queries)", "at-z-scores", "one matrix at a time"))  # the last is no answer of the block's
block.include("attention", says="Inside attention,", words=HERE, only=BESIDE)
# what is said of the mistakes of heads is said there
block.include("multi_head", only=(), words={
    "joined @ w_o.T": "self.wo(joined)", **{f"w_{letter}": f"w{letter}" for letter in "qkvo"}})
alone("sm-overflow", weigh="scores.exp() / scores.exp().sum(-1, keepdim=True)")
for dim in (0, 1):
    alone("at-softmax-batch-or-head", coding=f"dim={dim}", weigh=f"torch.softmax(scores, dim={dim})")
alone("at-values-are-keys", "Inside attention the weights mix the tokens themselves; `wv` is never used.",
      "Multiply the weights by v, the split of `self.wv(y)`.", coding="unmixed", project="self.wq(x), self.wk(x), x")
alone("hd-mask-of-first-head", only=("a mask for each head",),
      hide="scores.masked_fill(~(mask[:, :1] if mask.dim() == 4 else mask), -INF)")
in_orders("bl-mask-not-passed", "The mask never reaches attention.", "Pass it on: `self.attn(..., mask)`, and use it. "
          "(Assign what `masked_fill` returns.)", pre_talk="self.attn(y)", post_talk="self.attn(x)")
CAUSAL = "torch.ones(x.size(1), x.size(1), device=x.device).tril() == 1"
for coding, mask in {"always": CAUSAL, "besides": f"{CAUSAL} if mask is None else mask & ({CAUSAL})",
                     "unless given": f"{CAUSAL} if mask is None else mask"}.items():
    alone("bl-own-mask", "The block makes a causal mask of its own.", "Use the `mask` argument and nothing else; with "
          "mask=None every token may see every other.", coding=coding, take_mask=mask)

# --- heads and projections
for id, coding, taken in (
    ("hd-projection-shared", "w_q for all three", "qqq"), ("hd-projection-shared", "w_q for the keys", "qqv"),
    ("hd-projection-shared", "w_q for the values", "qkq"), ("hd-projection-shared", "w_k for the queries", "kkv"),
    ("hd-projection-shared", "w_v for the keys", "qvv"), ("hd-projections-exchanged", "w_k and w_v", "qvk"),
    ("hd-projections-exchanged", "w_q and w_v", "vkq"), ("hd-projections-exchanged", "all three, in a ring", "kvq"),
    ("hd-projections-exchanged", "all three, in the other ring", "vqk"),
):
    alone(id, coding=coding, project=", ".join(f"self.w{letter}(x)" for letter in taken))
mistake("hd-split-view", split="x.reshape(x.size(0), self.num_heads, x.size(1), -1)")
alone("hd-split-no-transpose", coding="and joined from there", split="x.unflatten(-1, (self.num_heads, -1))",
      merge="heads.flatten(2)")
alone("hd-split-size-exchanged", split="x.unflatten(-1, (-1, self.num_heads)).transpose(1, 2)")
alone("hd-split-strided", split="x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)")
mistake("hd-merge-no-transpose", merge="heads.reshape(x.shape)")
alone("hd-merge-strided", merge="heads.permute(0, 2, 3, 1).flatten(2)")
alone("hd-merge-view-error", merge="heads.transpose(1, 2).view(x.shape)")
alone("hd-merge-batch-mixed", coding="H T B d_head", merge="heads.permute(1, 2, 0, 3).reshape(x.shape)")
mistake("bl-no-output-projection", mix="joined")
alone("bl-no-output-projection", "There is no output projection, `wo`.", coding="never made", wo="pass", mix="joined")
alone("bl-weights-transposed", "Attention multiplies by weights as they lie, (out, in).", "Use `y @ weight.T`.",
      mix="joined @ self.wo.weight", project="x @ self.wq.weight, x @ self.wk.weight, x @ self.wv.weight")

# --- names and modules
IN_A_LIST = "Modules in a Python list or dict, and tensors without `nn.Parameter`, are not registered."
UNREGISTERED = {
    "attn": {"attn": "vars(self)['attn'] = SelfAttention(d_model, num_heads)"},
    "ffn": {"ffn": "vars(self)['ffn'] = FeedForward(d_model, d_ff)"},
    "norm1 and norm2": {f"norm{n}": f"vars(self)['norm{n}'] = nn.LayerNorm(d_model)" for n in (1, 2)},
}
alone("bl-plain-list", "The state dict has nothing of norm1 and norm2: they were made without weights, or are hidden. "
      f"{IN_A_LIST}", "Make each an attribute of an nn.Module (`self.attn = ...`), or use `nn.ModuleList`.",
      coding="norms", **norms("nn.LayerNorm(d_model, elementwise_affine=False)"))
for groups in (("attn",), ("ffn",), ("attn", "ffn"), ("attn", "norm1 and norm2"), ("ffn", "norm1 and norm2"),
               tuple(UNREGISTERED)):
    changes = {step: made for group in groups for step, made in UNREGISTERED[group].items()}
    alone("bl-plain-list", f"The state dict has nothing of {', '.join(groups)}, so no optimizer would train it. "
          f"{IN_A_LIST}", coding=", ".join(groups), only=IN_NAMES, **changes)  # its numbers are its own random ones
alone("bl-attention-bias", "Your attention has biases that the statement does not have; nothing is loaded into them, "
      "so they keep the numbers they began with.", "Make the four projections with `nn.Linear(d_model, d_model, "
      "bias=False)`.", only=IN_NAMES, **dict.fromkeys(("wq", "wk", "wv", "wo"), "nn.Linear(d_model, d_model)"))
alone("bl-ffn-no-bias", "The network has no biases; both of its linear layers have one.", "Leave out `bias=False`.",
      w1="nn.Linear(d_model, d_ff, bias=False)", w2="nn.Linear(d_ff, d_model, bias=False)")
alone("bl-state-names", "The names in your state dict are not the statement's: the checks' numbers never get in.",
      "Name them as the statement does; `block.state_dict().keys()` shows yours.", only=IN_NAMES,
      attn="self.mha = SelfAttention(d_model, num_heads)", pre_talk="self.mha(y, mask)", post_talk="self.mha(x, mask)")
alone("bl-state-names", "Your state dict has more names than the statement lists, though nothing depends on them.",
      "Remove them; a buffer that must stay takes `persistent=False`.", coding="more than asked for",
      attn="self.attn = SelfAttention(d_model, num_heads)\nself.attn.register_buffer('mask', torch.ones(d_model))")
mistake("bl-no-module", "`TransformerBlock` is not an nn.Module, so it has no state dict and no parameters.",
        "Write `class TransformerBlock(nn.Module)`, with `super().__init__()`.", only=IN_NAMES, version=PlainClass)
alone("bl-not-parameters", "γ and β of your norms are not parameters, so no optimizer would train them.",
      "Use nn.LayerNorm, or wrap them in `nn.Parameter`.", **norms("as_buffers(nn.LayerNorm(d_model))"))

# --- what happens at run time
for coding, changes in {"": {"pre_sum1": "x + F.dropout(heard, 0.1)", "post_sum1": "x + F.dropout(heard, 0.1)"},
                        "on the weights": {"blend": "F.dropout(weights, 0.1) @ v"}}.items():
    alone("bl-dropout-in-eval", "Two calls with the same input differ: dropout is active, or something is drawn at "
          "random in each call (new weights, say).", "Take the dropout out (`F.dropout` never stops by itself), and "
          "make modules in `__init__`, not in `forward`.", coding=coding, only=("two calls",), **changes)
DROPPED = "x + F.dropout(heard, 0.1, self.training)"
alone("bl-dropout", "The block has dropout: in training mode two calls differ. The exercise asks for none.", "Take the "
      "dropout out, or set its probability to 0.", only=("in training mode",), pre_sum1=DROPPED, post_sum1=DROPPED)
block.common("bl", "view", "detached", alone=True)

# --- just as right
right("modules, a fused projection, F.scaled_dot_product_attention, a dropout of 0", version=MaskByName)
right("a norm written by hand", **norms("Norm(d_model)"))
right("the tanh form of GELU", bend="F.gelu(hidden, approximate='tanh')")
right("GELU from erf", bend="0.5 * hidden * (1 + torch.erf(hidden / 2**0.5))")
right("each head apart, their projections added", merge="heads",
      mix="sum(y @ w.T for y, w in zip(joined.unbind(1), self.wo.weight.chunk(self.num_heads, dim=1)))")
right("heads from chunks", split="torch.stack(x.chunk(self.num_heads, -1), dim=1)")
# fmt: on
