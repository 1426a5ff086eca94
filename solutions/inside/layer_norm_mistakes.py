"""What people write in `layer_norm` and `rms_norm` in place of the reference's lines; and other right ways."""

import torch

from grader.api.checks import MistakeSet

FAR = 2e-2  # as the check allows: float32 itself rounds a mean near 1000 by 6e-5
layer_norm = MistakeSet(
    "layer_norm",
    globals(),
    tolerances={name: FAR for name in ("ln_far_from_zero[1000.0]", "ln_far_from_zero[-1000.0]", "ln_constant")},
    without=("ln_one_number",),  # there a variance over D − 1 is NaN, beside whatever else
)
rms_norm = MistakeSet("rms_norm", globals())
MISTAKE_SETS = [layer_norm, rms_norm]

X = torch.tensor([1.0, 2.0, 3.0, 6.0])
ROWS = torch.tensor([[1.0, 2.0, 3.0, 6.0], [0.0, 4.0, 4.0, 8.0], [5.0, 1.0, 0.0, 0.0]])
WEIGHT, BIAS = torch.tensor([1.0, 2.0, 1.0, 3.0]), torch.tensor([0.0, 1.0, 5.0, 0.0])
TINY = X * 1e-3
for x in (X, ROWS, ROWS.expand(2, 3, 4), TINY, X + 1000.0, torch.full((4,), 3.0)):
    layer_norm.example(x, WEIGHT, BIAS)
    rms_norm.example(x, WEIGHT)

mistake, right = layer_norm.mistake, layer_norm.alternative
AXES = (  # (id, coding, what the statistics are taken over, the axes)
    ("ln-batch-axis", "", "the batch, as BatchNorm does: a token depends on the others beside it", "0"),
    ("ln-seq-axis", "", "the axis before the last: the tokens of a text are mixed", "-2"),
    ("ln-all-but-batch", "", "all axes but the first: all tokens of a text share one mean and one deviation",
     "tuple(range(min(1, x.dim() - 1), x.dim()))"),
    ("ln-all-but-batch", "all but the last", "all axes but the last: each feature is normalised over all tokens, as "
     "BatchNorm does", "tuple(range(x.dim() - 1)) or -1"),
    ("ln-global", "", "the whole tensor: all tokens share one mean and one deviation", "tuple(range(x.dim()))"),
)  # fmt: skip
LAST = "Take both over the last axis, the D features of one token: `dim=-1, keepdim=True`."

# fmt: off
# --- over which axes
for name, coding, over, axes in AXES:
    mistake(name, f"Mean and variance run over {over}.", LAST, coding=coding,
            mean=f"x.mean(dim={axes}, keepdim=True)", var=f"centred.square().mean(dim={axes}, keepdim=True)")
mistake("ln-global", "The mean is that of the whole tensor: all tokens share it.", "Take it over the last axis: "
        "`dim=-1, keepdim=True`.", coding="the mean", mean="x.mean()")
mistake("ln-global", coding="the mean, but not in the variance", mean="x.mean()",
        var="x.var(dim=-1, correction=0, keepdim=True)")
LOST = "lost its axis, so it is broadcast along the wrong one: an error on most shapes, silently wrong on a square."
mistake("ln-no-keepdim", f"The mean {LOST}", "Add `keepdim=True`.", mean="x.mean(dim=-1)")
mistake("ln-no-keepdim", f"The variance {LOST}", "Add `keepdim=True`.", coding="variance",
        var="centred.square().mean(dim=-1)")

# --- the root
mistake("ln-unbiased", "The variance divides by D − 1 (`var()` and `std()` do by default).",
        "Divide by D: `x.var(dim=-1, keepdim=True, correction=0)`.", var="x.var(dim=-1, keepdim=True)")
mistake("ln-eps-outside", "eps is added to the deviation, outside of the root: a token with a tiny spread is blown up.",
        "Add it to the variance, inside the root.", root="torch.sqrt(var) + eps")
mistake("ln-no-eps", "eps is not used: a token whose entries are all equal is 0/0, and a tiny spread is blown up.",
        "Add it to the variance, inside the root.", root="torch.sqrt(var)")
for number in ("1e-6", "1e-8", "1e-12", "1e-3"):
    mistake("ln-other-eps", f"Your eps is {number} whatever is asked for.",
            "Use the argument `eps`; its default is 1e-5.", coding=number, root=f"torch.sqrt(var + {number})")
mistake("ln-other-eps", "Your eps is 1e-5 whatever is asked for.", "Use the argument `eps`.", coding="1e-5",
        root="torch.sqrt(var + 1e-5)")
mistake("ln-no-sqrt", "You divide by the variance and not by its root: a spread of 2 becomes one of 1/2.",
        "Take the square root of var + eps.", root="var + eps")
mistake("ln-eps-squared", "eps is squared before it is added: so it is nearly nothing.", "Add eps itself.",
        root="torch.sqrt(var + eps**2)")
mistake("ln-eps-as-least", "eps is taken for the least variance, and not added to it.", "Take the root of var + eps.",
        root="torch.sqrt(var.clamp(min=eps))")

# --- the mean
mistake("ln-rms", "The mean is not taken off, as in RMSNorm.", "Subtract the mean, and take the variance around it.",
        centre="x")
mistake("ln-mean-stays", "You divide by the deviation, but do not take the mean off.",
        "Divide x − mean, and not x.", divide="x / scale")
mistake("ln-square-mean", "The variance is not around the mean: you divide by the root of the mean square of x.",
        "Take the mean of (x − mean)².", var="x.square().mean(dim=-1, keepdim=True)")
mistake("ln-centred-only", "You do not divide by the deviation.",
        "Divide by √(var + eps).", divide="centred")
mistake("ln-absolute", "You divide by the mean distance from the mean, not by the root of the mean square.",
        "Square, take the mean, take the root.", var="centred.abs().mean(dim=-1, keepdim=True).square()")
mistake("ln-e-of-square", "You compute the variance as E[x²] − E[x]²: for tokens far from 0 nothing is left of the "
        "difference but rounding, and it may even be negative.", "Subtract the mean first, then square.",
        var="x.square().mean(dim=-1, keepdim=True) - mean.square()")
mistake("ln-unit-length", "You scale each token to length 1: its entries are too small by √D.",
        "Divide by the root of the mean square, not of the sum.",
        var="centred.square().sum(dim=-1, keepdim=True)")

# --- weight and bias
mistake("ln-multiplied", "You multiply with the deviation, where it is to divide: tokens that vary come out larger "
        "still.",
        "Divide by √(var + eps), or multiply with `rsqrt`.", divide="centred * scale")
mistake("ln-affine-order", "You add the bias before you multiply with the weight: γ(x̂ + β).",
        "Multiply first: γ·x̂ + β.", affine="weight * (y + bias)")
mistake("ln-one-plus-gamma", "You multiply with 1 + weight: that is another convention, with weights that begin at 0.",
        "Multiply with the weight itself.", affine="(1 + weight) * y + bias")
mistake("ln-no-weight", "The weight is not used.", "Multiply with it: γ·x̂ + β.", affine="y + bias")
mistake("ln-no-bias", "The bias is not used.", "Add it: γ·x̂ + β.", affine="weight * y")
mistake("ln-no-affine", "Neither weight nor bias is used.", "Rescale at the end: γ·x̂ + β.", affine="y")
mistake("ln-weight-first", "You multiply with the weight before you normalise, which takes it away again.",
        "Normalise first, then multiply.", alone=True, take_x="x * weight", affine="y + bias")

layer_norm.common("ln", "detached", "numpy", "float32")
mistake("ln-detached", "Mean and deviation are cut off from autograd: the values are right, and the gradient is as if "
        "they were constants.", "Take out `.detach()` and `torch.no_grad()`.", coding="statistics",
        mean="x.detach().mean(dim=-1, keepdim=True)", root="torch.sqrt(var.detach() + eps)")
mistake("ln-in-place", "You change the caller's tensor (`x -= mean`).", "Make a new one: `x = x - mean`.",
        centre="x.sub_(mean)")
mistake("ln-in-place", "You change the caller's tensor (`x -= mean`, `x /= ...`).", "Make new ones: `x = x - mean`.",
        coding="twice", centre="x.sub_(mean)", divide="centred.div_(scale)")

# --- just as right
right("var_mean", version="(lambda var, mean: weight * (x - mean) * torch.rsqrt(var + eps) + bias)"
      "(*torch.var_mean(x, dim=-1, keepdim=True, correction=0))")
right("var with correction=0", var="x.var(dim=-1, keepdim=True, correction=0)")
right("unbiased=False", var="x.var(dim=-1, keepdim=True, unbiased=False)")
right("a power of -1/2", divide="centred * (var + eps) ** -0.5")
right("addcmul", affine="torch.addcmul(bias, weight, y)")
right("scale and shift folded", affine="centred * (weight / scale) + bias")
right("sums over D", mean="x.sum(-1, keepdim=True) / x.size(-1)",
      var="(centred * centred).sum(-1, keepdim=True) / x.size(-1)")
right("through einsum", var="(torch.einsum('...d,...d->...', centred, centred) / x.shape[-1]).unsqueeze(-1)")

# --- rms_norm
mistake, right = rms_norm.mistake, rms_norm.alternative
for name, coding, over, axes in AXES:
    mistake(name, f"The mean square runs over {over}.", LAST.replace("both", "it"), coding=coding,
            square=f"x.square().mean(dim={axes}, keepdim=True)")
mistake("ln-no-keepdim", f"The mean square {LOST}", "Add `keepdim=True`.", square="x.square().mean(dim=-1)")
mistake("ln-centred", "The mean is taken off first: this is LayerNorm without its bias.", "Leave the mean: x / rms.",
        take_x="x - x.mean(dim=-1, keepdim=True)")
mistake("ln-centred", "You divide by the standard deviation, which is around the mean.",
        "Divide by the root of the mean of x².", coding="deviation",
        square="x.var(dim=-1, keepdim=True, correction=0)")
mistake("ln-eps-outside", "eps is added outside of the root: a tiny token is blown up.", "Add it inside the root.",
        size="torch.sqrt(square) + eps")
mistake("ln-no-eps", "eps is not used: a token of zeros is 0/0, and a tiny one is blown up.", "Add it inside the root.",
        size="torch.sqrt(square)")
for number in ("1e-6", "1e-8", "1e-3"):
    mistake("ln-other-eps", f"Your eps is {number} whatever is asked for.",
            "Use the argument `eps`; its default is 1e-5.", coding=number, size=f"torch.sqrt(square + {number})")
mistake("ln-other-eps", "Your eps is 1e-5 whatever is asked for.", "Use the argument `eps`.", coding="1e-5",
        size="torch.sqrt(square + 1e-5)")
mistake("ln-eps-as-least", "eps is taken for the least mean square, and not added to it.",
        "Take the root of the mean of x², plus eps.", size="torch.sqrt(square.clamp(min=eps))")
mistake("ln-multiplied", "You multiply with the root of the mean square, where it is to divide: large tokens come out "
        "larger.",
        "Divide by it, or multiply with `rsqrt`.", shrink="x * size")
mistake("ln-absolute", "You divide by the mean of the absolute values, not by the root of the mean square.",
        "Square, take the mean, take the root.", square="x.abs().mean(dim=-1, keepdim=True).square()")
mistake("ln-no-sqrt", "You divide by the mean square and not by its root.", "Take the square root.",
        size="square + eps")
mistake("ln-unit-length", "You scale each token to length 1 (sum for mean): its entries are too small by √D.",
        "Take the mean of the squares.", square="x.square().sum(dim=-1, keepdim=True)")
mistake("ln-one-plus-gamma", "You multiply with 1 + weight: that is another convention, with weights that begin at 0.",
        "Multiply with the weight itself.", rescale="(1 + weight) * y")
mistake("ln-no-weight", "The weight is not used.", "Multiply with it at the end.", rescale="y")
rms_norm.common("ln", "detached", "numpy", "float32")
mistake("ln-in-place", "You change the caller's tensor (`x /= ...`, `x *= ...`).", "Make a new one: `x / ...`.",
        shrink="x.div_(size)")

right("rsqrt", shrink="x * torch.rsqrt(square + eps)")
right("a power of -1/2", shrink="x * (square + eps) ** -0.5")
right("pow(2)", square="x.pow(2).mean(-1, keepdim=True)")
right("the length over √D", size="torch.sqrt(torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2 / x.size(-1) "
      "+ eps)")
right("einsum", square="(torch.einsum('...d,...d->...', x, x) / x.size(-1))[..., None]")
# fmt: on
