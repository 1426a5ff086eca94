"""What people write in `softmax` in place of the reference's lines; and other right ways to write it."""

import torch
from torch.nn import functional as F  # noqa: F401, N812  expressions below use it, by the field's name

from grader.api.checks import MistakeSet, draw

INF = float("inf")

# Probes below ask what these checks do, so that a rare fault hides no other.
without = ("slice", "exactly_zero", "half[float16]", "half[bfloat16]")
softmax = MistakeSet("softmax", globals(), without=without)
mistake, alone, right = softmax.mistake, softmax.alone, softmax.alternative
MISTAKE_SETS = [softmax]

softmax.example(torch.tensor([0.0, 1.0, 2.0]))
softmax.example(torch.tensor([[0.0, 1.0], [2.0, 4.0]]), dim=0)
softmax.example(torch.tensor([[0.0, 1.0], [2.0, 4.0]]), dim=1)
softmax.example(torch.tensor([1000.0, 1001.0]))
softmax.example(torch.tensor([[0.0, 1.0], [1000.0, 1001.0]]))
softmax.example(torch.tensor([0.0, 100.0, 200.0]))

softmax.ask("on a wide row alone", torch.tensor([[0.0, 100.0, 200.0]]))
softmax.ask("in all digits", draw(3, 5), see=lambda found: bool((found == found.round(decimals=4)).all()), stage="")
# aside: what only rare faults show, which hide no other
BLOCKED = torch.tensor([[0.5, -INF, 1.5]])
softmax.ask("a slice of a larger tensor", draw(3, 4, 5), by="on_slices", aside=True)
softmax.ask("minus infinity", BLOCKED, see=lambda found: bool((found[:, 1] == 0).all()), aside=True)
softmax.ask("float16", BLOCKED.half(), see=lambda found: str(found.dtype), aside=True)

# fmt: off
# --- the axis
mistake("sm-dim-ignored", "You ignore `dim`: both the maximum and the sum run over the last axis.", "Pass `dim` to the "
        "maximum and to the sum.", shift="x - x.amax(-1, keepdim=True)", total="powers.sum(-1, keepdim=True)")
mistake("sm-dim-ignored", "You ignore `dim` in the sum: it runs over the last axis, whatever axis was asked for.",
        "Pass `dim` to the sum, as to the maximum.", coding="the sum", total="powers.sum(-1, keepdim=True)")
for axis in (0, 1):
    mistake("sm-dim-hard-coded", f"What sums to 1 in your answer runs over axis {axis}, not over the `dim` that was "
            "asked for.", f"Replace the constant {axis} by `dim`.", coding=f"dim={axis}",
            shift=f"x - x.amax({axis}, keepdim=True)", total=f"powers.sum({axis}, keepdim=True)")
    mistake("sm-dim-ignored", f"You ignore `dim` in the sum: it runs over axis {axis}, whatever was asked for.",
            "Pass `dim` to the sum.", coding=f"the sum, over axis {axis}", total=f"powers.sum({axis}, keepdim=True)")
mistake("sm-columns", "You normalise over the axis before the last: columns sum to 1 where rows should.",
        "Normalise over `dim`.", shift="x - x.amax(-2, keepdim=True)", total="powers.sum(-2, keepdim=True)")
for end, axis in (("front", 0), ("back", -1)):
    mistake("sm-axis-moved", f"The axis `dim` comes out at the {end}, wherever it was.", "Put it back: `movedim`, or "
            "`stack(..., dim=dim)`.", coding=end, give=f"(powers / total).movedim(dim, {axis})")
mistake("sm-axis-moved", "You cut x into rows as long as `dim` without moving that axis to the back: a row holds other "
        "entries.", "Begin with `x.movedim(dim, -1)`.", coding="rows cut anew",
        version="torch.softmax(x.reshape(-1, x.shape[dim]), -1).reshape(x.shape)")
mistake("sm-max-over-last", "The maximum runs over the last axis and the sum over `dim`, so the shift no longer "
        "cancels.", "Take the maximum over the same `dim` as the sum.", shift="x - x.amax(-1, keepdim=True)")
mistake("sm-sum-all", "You divide by one total for the whole tensor; each slice along `dim` needs its own.",
        "Use `sum(dim=dim, keepdim=True)`.", total="powers.sum()")
LOST = "lost its axis, so it is broadcast along the wrong one: an error on most shapes, silently wrong on a square."
mistake("sm-no-keepdim", f"The sum {LOST}", "Add `keepdim=True`.", total="powers.sum(dim)")
mistake("sm-no-keepdim", f"The sum {LOST} It ignores `dim`, too: it runs over the last axis, whatever was asked for.",
        "Use `sum(dim=dim, keepdim=True)`.", coding="over the last axis", total="powers.sum(-1)")
mistake("sm-no-keepdim", f"The maximum {LOST}", "Add `keepdim=True`.", coding="maximum", shift="x - x.amax(dim)")
mistake("sm-no-keepdim", "The maximum and the sum lost their axis, so they are broadcast along the wrong one.",
        "Add `keepdim=True` to both.", coding="maximum and sum", shift="x - x.amax(dim)", total="powers.sum(dim)")
mistake("sm-no-keepdim", "The maximum and the sum lost their axis, and you put it back as the last one "
        "(`unsqueeze(-1)`).", "Use `keepdim=True`, or `unsqueeze(dim)`.", coding="put back at the end",
        shift="x - x.amax(dim).unsqueeze(-1)", total="powers.sum(dim).unsqueeze(-1)")

# --- the shift
OVERFLOW = "You exponentiate the scores as they are: exp(1000) overflows to inf, and inf/inf is NaN."
mistake("sm-overflow", OVERFLOW, "Subtract the maximum over `dim` first; it cancels in the fraction.", shift="x")
mistake("sm-overflow", f"{OVERFLOW} The tiny number below does not help: where exp(-1000) is 0 it gives weights of 0 "
        "that sum to 0.", "Subtract the maximum over `dim` first; it cancels in the fraction, and no tiny number is "
        "needed.", coding="a tiny number below", shift="x", total="powers.sum(dim, keepdim=True) + 1e-8")
mistake("sm-overflow", f"{OVERFLOW} Replacing NaN by 0 hides that: such weights no longer sum to 1.",
        "Subtract the maximum over `dim` first; then there is no NaN to replace.", coding="NaN replaced", shift="x",
        give="torch.nan_to_num(powers / total)")
mistake("sm-global-max", "You subtract the maximum of the whole tensor: a slice far below it underflows to 0/0.",
        "Subtract each slice's own maximum: `x.amax(dim=dim, keepdim=True)`.", shift="x - x.max()")
mistake("sm-shift-absolute", "You subtract the largest absolute value: a slice of low scores underflows to 0/0.",
        "Subtract the maximum: then its own power is 1.", shift="x - x.abs().amax(dim, keepdim=True)")
mistake("sm-shift-absolute", coding="of the whole tensor", shift="x - x.abs().max()")
for what, shift in (("mean", "x.mean(dim, keepdim=True)"), ("minimum", "x.amin(dim, keepdim=True)")):
    mistake("sm-shift-min-or-mean", f"You subtract the {what}: entries far above it still overflow.",
            "Subtract the maximum: only then is every exponent at most 0.", coding=what, shift=f"x - {shift}")
alone("sm-infinity-replaced", "A score of -inf is replaced by 0 (`nan_to_num`, `where`): what is blocked gets weight.",
      "Leave -inf as it is: exp(-inf) is 0.", take_x="x.masked_fill(x == -INF, 0.0)")
alone("sm-infinity-replaced", coding="shifted", shift="(x - x.amax(dim, keepdim=True)).masked_fill(x == -INF, 0.0)")
alone("sm-shift-numerator-only", "The shift is in the numerator only, so slices no longer sum to 1.", "Shift once, "
      "then use the shifted scores above and below the fraction line.", total="torch.exp(x).sum(dim, keepdim=True)")
mistake("sm-clamp", "You clamp the scores before exponentiating, which makes all large scores equal.",
        "Subtract the maximum instead of clamping: that changes nothing in the answer.", shift="x.clamp(-50.0, 50.0)")
mistake("sm-clamp", "You cut large scores off before exponentiating, which makes them all equal, and very low ones "
        "become 0/0.", "Subtract the maximum: that changes nothing.", coding="from above", shift="x.clamp(max=50.0)")
mistake("sm-sign", "The smallest score gets the largest weight: the sign of the scores is flipped.",
        "Exponentiate +x: the largest score must get the largest weight.", coding="negated", take_x="-x")
mistake("sm-sign", "The sign of the scores is ignored: -2 gets as much weight as 2.", "Take out the `abs`: negative "
        "scores must get less weight than positive ones.", coding="absolute", take_x="x.abs()")

# --- the powers and their total
alone("sm-no-exp", "You do not exponentiate the scores: weights come out negative or above 1.",
      "Exponentiate first: `torch.exp`.", shift="x", power="shifted")
mistake("sm-not-normalised", "Your entries are not divided by their sum: they need not add up to 1.",
        "Divide by `sum(dim=dim, keepdim=True)`.", total="1.0")
mistake("sm-wrong-normaliser", "You divide by the mean over `dim`: slices sum to their length, not to 1.",
        "Divide by the sum.", coding="mean", total="powers.mean(dim, keepdim=True)")
mistake("sm-wrong-normaliser", "You divide by the Euclidean norm: the squares of a slice sum to 1, not its entries.",
        "Divide by the sum.", coding="norm", total="powers.norm(dim=dim, keepdim=True)")
mistake("sm-wrong-normaliser", "You use powers of 2 instead of powers of e: every weight is too even.",
        "Use `torch.exp`.", coding="base 2", power="torch.exp2(shifted)")
mistake("sm-log", "This is the logarithm of softmax: every entry is 0 or below.", "Return the weights themselves: the "
        "`exp` of what you have.", give="torch.log(powers / total)")
alone("sm-log", coding="in log space", give="x - torch.logsumexp(x, dim, keepdim=True)")
alone("sm-sigmoid", "This is the sigmoid: it scores each entry by itself, while in softmax the entries of a slice "
      "compete.", "Divide exponentials by the sum over `dim`.", give="torch.sigmoid(x)")
for coding, give in (("", "torch.sigmoid(x) / torch.sigmoid(x).sum(dim, keepdim=True)"),
                     (" by normalize", "F.normalize(torch.sigmoid(x), p=1.0, dim=dim)")):
    alone("sm-sigmoid", "You divide sigmoids by their sum, not exponentials: all large scores get the same weight.",
          "Use `torch.exp` in place of the sigmoid.", coding=f"divided by the sum{coding}", give=give)
for coding, less, eps in (("n - 1", 1, 0.0), ("n", 0, 0.0), ("n - 1, with eps", 1, 1e-8), ("n, with eps", 0, 1e-8)):
    alone("sm-z-scores", "You divide the scores by their standard deviation: how far apart they are no longer counts.",
          "Subtract the maximum, and divide by nothing before `exp`.", coding=coding,
          shift=f"(x - x.mean(dim, keepdim=True)) / (x.std(dim, keepdim=True, correction={less}) + {eps})")
for decimals in (4, 3, 2):
    alone("sm-rounded", f"Your weights are rounded to {decimals} decimals: rounding has no gradient, and slices no "
          "longer sum to 1.", "Take it out.", coding=f"{decimals} decimals", result=f"value.round(decimals={decimals})")
mistake("sm-never-zero", "No weight is ever 0 in your answer (`clamp(min=...)`, or a tiny number added to the powers): "
        "-inf gets a little, too.", "Take the tiny number out: below the fraction line stands at least 1.",
        only=("minus infinity",), power="torch.exp(shifted) + 1e-7")
softmax.common("sm", "detached", "numpy", "float32", "float64", "integer", "view", "no_float16")

# --- in place
mistake("sm-in-place", "You change the caller's tensor (`x -= ...`).", "Make a new tensor: `x = x - ...`.",
        coding="shift", shift="x.sub_(x.amax(dim, keepdim=True))")
alone("sm-in-place", "You change the caller's tensor (`x.exp_()`, `x /= ...`), and exp overflows.", "Make new tensors: "
      "`torch.exp(x - ...)`.", coding="all of it", shift="x", power="shifted.exp_()", give="powers.div_(total)")
alone("sm-in-place", "You change the caller's tensor: every step (`x -= ...`, `x.exp_()`, `x /= ...`) writes into it.",
      "Make new tensors: `z = x - ...`, then `torch.exp(z)`.", coding="shift and all of it",
      shift="x.sub_(x.amax(dim, keepdim=True))", power="shifted.exp_()", give="powers.div_(total)")
alone("sm-in-place", "You change a tensor of your own in place (`y -= y.amax(...)`, `e /= ...`), but the gradient "
      "needs it as it was: the values are right, and the backward pass is an error.", "Make new tensors: `y = y - "
      "y.amax(...)`, `e / e.sum(...)`.", coding="the exponentials", power="shifted.exp_()", give="powers.div_(total)")

# --- just as right
right("through logsumexp", give="torch.exp(x - torch.logsumexp(x, dim, keepdim=True))")
right("a tiny number added below", give="powers / (total + 1e-9)")
right("the maximum detached", shift="x - x.detach().amax(dim, keepdim=True)")
right("max().values, unsqueeze", shift="x - x.max(dim)[0].unsqueeze(dim)", total="powers.sum(dim).unsqueeze(dim)")
right("a power of e", power="torch.e**shifted")
# fmt: on
