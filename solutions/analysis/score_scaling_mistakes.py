"""What people write in the instruments and readings of `score_scaling` in place of the reference's lines."""

import math  # noqa: F401  wrong lines use it

import torch
from torch.nn import functional as F  # noqa: F401, N812  right lines use it

from grader.api.checks import MistakeSet

entropy = MistakeSet("row_entropy", globals())
jacobian = MistakeSet("jacobian_norm", globals(), tolerances={"jacobian_zeros": 1e-3})  # as the check allows
gradient = MistakeSet("gradient_by_row", globals())
reading = MistakeSet("readings", globals())
MISTAKE_SETS = [entropy, jacobian, gradient, reading]

TABLE = torch.tensor([[0.5, 0.5, 0.0], [0.7, 0.2, 0.1]])
HEAD = (torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]]), torch.tensor([[1.0, 0.0], [0.5, 1.0]]),
        torch.tensor([[3.0], [-1.0]]), torch.tensor([[1.0], [2.0], [-1.0]]))  # fmt: skip
WIDE = (torch.tensor([[4.0] * 16, [9.0] * 16, [0.1] * 16]), torch.stack((torch.ones(16), torch.zeros(16))),
        torch.tensor([[3.0], [-1.0]]), torch.tensor([[1.0], [2.0], [-1.0]]))  # fmt: skip
for instrument in (entropy, jacobian):
    instrument.example(TABLE[1:])
    instrument.example(TABLE)
gradient.example(*HEAD[:3], 0.5, HEAD[3])
reading.example([HEAD])
reading.example([HEAD, WIDE])

# fmt: off
# --- spread
mistake, right = entropy.mistake, entropy.alternative
mistake("sc-entropy-bits", "The entropy is in bits: larger by 1/ln 2 = 1.44.", "Take the natural logarithm.",
        logs="weights.masked_fill(weights == 0, 1.0).log2()")
mistake("sc-entropy-zero-log", "Where a weight is 0 the entropy is NaN: 0 · ln 0 is 0 · −∞.", "Let a weight of 0 "
        "add 0: put a 1 in its place before the logarithm, or use torch.xlogy.", logs="weights.log()")
mistake("sc-entropy-sign", "The sign is missing: an entropy is never below 0.", "Put a minus in front.",
        terms="weights * logs")
mistake("sc-entropy-logs-alone", "The logarithms are added, without the weights.", "Each is counted with its weight: "
        "p ln p.", terms="-logs")
mistake("sc-entropy-mean", "You take the mean over the keys, where the entropy is a sum.", "Take the sum: the weights "
        "do the averaging.", spread="terms.mean(dim=-1)")
mistake("sc-entropy-columns", "You go down the columns: the axis of the queries.", "A row runs along the last axis: "
        "`dim=-1`.", spread="terms.sum(dim=-2)")
mistake("sc-entropy-of-all", "You give one number for the whole table.", "Sum over the last axis alone: `dim=-1`.",
        alone=True, spread="terms.sum()")
mistake("sc-entropy-share", "The entropy is divided by ln S.", "Give it in nats, up to ln S.",
        spread="terms.sum(dim=-1) / math.log(max(2, weights.size(-1)))")
mistake("sc-entropy-exp", "You give exp of the entropy: the number of keys that a row is as good as spread over.",
        "Give the entropy itself.", spread="terms.sum(dim=-1).exp()")
entropy.common("sc", "float32", "in_place")

right("xlogy", terms="-torch.xlogy(weights, weights)")
right("a tiny number", logs="weights.clamp(min=1e-30).log()")
right("where", terms="torch.where(weights > 0, -weights * weights.log(), torch.zeros_like(weights))")
right("NaN to 0", logs="weights.log()", terms="-(weights * logs).nan_to_num(0.0)")

# --- slope
mistake, right = jacobian.mistake, jacobian.alternative
WHOLE = "The Jacobian is diag(p) − p pᵀ: an (S, S) matrix for each row."
mistake("sc-jacobian-diagonal", "You take the diagonal alone, p(1 − p): how a weight follows the others' scores is "
        "left out.", WHOLE, jacobian="torch.diag_embed(weights * (1 - weights))")
mistake("sc-jacobian-no-outer", "You leave p pᵀ out: then all weights could rise together.", WHOLE, jacobian="own")
mistake("sc-jacobian-no-diagonal", "You leave diag(p) out.", WHOLE, jacobian="others")
mistake("sc-jacobian-added", "p pᵀ is added, where it is subtracted.", WHOLE, jacobian="own + others")
mistake("sc-jacobian-no-root", "The root is missing: you give the sum of squares.", "The Frobenius norm is its root.",
        size="squares")
mistake("sc-jacobian-absolute", "You add up absolute values.", "The Frobenius norm is the root of the sum of squares.",
        squares="jacobian.abs().sum(dim=(-2, -1)).square()")
mistake("sc-jacobian-mean", "You take the root of the mean square: it shrinks with the number of keys.",
        "Take the sum of the squares.", squares="jacobian.square().mean(dim=(-2, -1))")
mistake("sc-jacobian-spectral", "You take the largest singular value.", "The Frobenius norm counts all entries: the "
        "root of the sum of squares.", squares="torch.linalg.matrix_norm(jacobian, ord=2).square()")
mistake("sc-jacobian-largest", "You take the largest entry.", "The Frobenius norm is the root of the sum of squares.",
        squares="jacobian.abs().amax(dim=(-2, -1)).square()")
mistake("sc-jacobian-of-all", "You give one number for the whole table.", "One for each row: sum over the last two "
        "axes of (..., S, S).", alone=True, squares="jacobian.square().sum()")
mistake("sc-jacobian-columns", "You treat the columns as rows.", "The keys are the last axis.",
        squares="(torch.diag_embed(weights.mT) - weights.mT.unsqueeze(-1) * weights.mT.unsqueeze(-2))"
                ".square().sum(dim=(-2, -1))")
CLOSED_FORM = "(weights**2).sum(-1) - 2 * (weights**3).sum(-1) + (weights**2).sum(-1) ** 2"
mistake("sc-jacobian-cancels", "Sums of squares are subtracted from each other: of a row with nearly all its weight on "
        "one key rounding leaves less than 0, whose root is NaN.",
        "Square the entries of diag(p) − p pᵀ, which lose nothing, or clamp the sum at 0.", squares=CLOSED_FORM)
jacobian.common("sc", "float32", "in_place")

right("torch's norm", size="torch.linalg.matrix_norm(jacobian)")
right("in closed form", squares=CLOSED_FORM, size="squares.clamp(min=0).sqrt()")
right("an identity", own="torch.eye(weights.size(-1), dtype=weights.dtype, device=weights.device) * "
      "weights.unsqueeze(-1)")
right("einsum", others="torch.einsum('...i,...j->...ij', weights, weights)")

# --- gradient
mistake, right = gradient.mistake, gradient.alternative
mistake("sc-scale-not-in-gradient", "The scale stands in the scores and is missing in the gradient.",
        "dq = scale · ds k: the scale is a factor on the way back, too.", query="ds @ k")
mistake("sc-scale-not-in-scores", "The scores have no scale.", "softmax(scale · q kᵀ).",
        weights="torch.softmax(q @ k.T, dim=-1)")
mistake("sc-scale-ignored", "The argument `scale` is not used.", "Multiply the scores with it, and the gradient.",
        take_scale="1.0")
mistake("sc-scale-own", "You use 1/√d_k whatever the scale is.", "Use the argument `scale`.",
        take_scale="q.size(-1) ** -0.5")
mistake("sc-scale-on-top", "Beside `scale` the scores are divided by √d_k.", "`scale` is the only one.",
        take_scale="scale * q.size(-1) ** -0.5")
mistake("sc-scale-divided", "You divide by the scale.", "Multiply with it: it is 1/√d_k itself.", take_scale="1 / "
        "scale")
mistake("sc-global-max", "Your softmax subtracts the maximum of the whole table: a row far below it becomes 0/0, NaN.",
        "Subtract each row's own maximum: `amax(-1, keepdim=True)`.", weights="""
powers = (scale * (q @ k.T) - (scale * (q @ k.T)).max()).exp()
p = powers / powers.sum(dim=-1, keepdim=True)""")
mistake("sc-gradient-of-scores", "You measure the gradient of the scores.", "Go on to q: dq = scale · ds k.",
        length="ds.norm(dim=-1)")
mistake("sc-gradient-of-weights", "You measure the gradient of the weights.", "Go on through the softmax to q.",
        length="dp.norm(dim=-1)")
mistake("sc-gradient-of-keys", "You measure the gradient of the keys.", "One number for each query: dq = scale · ds k.",
        length="(scale * (ds.T @ q)).norm(dim=-1)")
mistake("sc-gradient-of-output", "You measure the output, and not the gradient.", "dq, row by row.",
        length="(p @ v).norm(dim=-1)")
mistake("sc-columns", "You measure columns: one number for each feature.", "One for each query: `norm(dim=-1)`.",
        length="dq.norm(dim=0)")
mistake("sc-gradient-of-all", "You give one number for all queries together.", "One for each: `norm(dim=-1)`.",
        alone=True, length="dq.norm()")
mistake("sc-gradient-squared", "The root is missing: you give squares of lengths.", "Take `norm(dim=-1)`.",
        length="dq.square().sum(dim=-1)")
mistake("sc-gradient-absolute", "You add up absolute values.", "The length is the root of the sum of squares.",
        length="dq.abs().sum(dim=-1)")
mistake("sc-gradient-mean", "You take a mean over the features.", "The length is the root of the sum of squares.",
        length="dq.square().mean(dim=-1).sqrt()")
mistake("sc-slope-alone", "You take the softmax's slope for p(1 − p).", "ds = p ∘ (dp − Σ p·dp), the sum over the "
        "keys.",
        through="p * (1 - p) * dp")
mistake("sc-d-out-ignored", "The gradient of the loss at the output is not used: you take 1 for all of it.",
        "Begin with d_out.", pull="torch.ones_like(d_out) @ v.T")
gradient.common("sc", "float32", "in_place")


def by_autograd(q, k, v, scale, d_out):
    q = q.detach().clone().requires_grad_()
    out = torch.softmax(q @ k.T * scale, dim=-1) @ v
    out.backward(d_out)
    return q.grad.norm(dim=1)


right("autograd", version=by_autograd)
right("torch's attention", version="torch.autograd.grad(F.scaled_dot_product_attention((z := q.detach().clone()"
      ".requires_grad_()), k, v, scale=scale), z, d_out)[0].norm(dim=-1)")
right("a scaled query", weights="torch.softmax((scale * q) @ k.T, dim=-1)", query="ds @ (scale * k)")
right("rowsum(d_out ∘ out)", through="p * (dp - (d_out * (p @ v)).sum(dim=-1, keepdim=True))")
right("a root of squares", length="dq.square().sum(dim=-1).sqrt()")

# --- readings
mistake, right = reading.mistake, reading.alternative
for coding, measure in (("", "mean"), ("totals", "norm"), ("the longest", "max")):
    mistake("sc-mean-for-median", "You compare means, totals or the longest rows, which a few near-ties decide: "
        "they grow "
            "with the width.", "Compare medians: what happens to most rows.", coding=coding,
            less=f"raw.{measure}() < scaled.{measure}()")
mistake("sc-one-sample", "You look at the first query alone.", "Compare the medians over all queries, and "
        "with the longest row of all.",
        less="raw[0] < scaled[0]", quiet="rows < 0.01 * rows[0]")
mistake("sc-comparison-turned", "You look for the width at which the raw gradient is larger.",
        "It is where the raw median is *smaller* than the scaled one.", less="raw.median() > scaled.median()")
mistake("sc-last-width", "You give the last width that fits, and not the smallest.", "Keep the first.", first="less")
mistake("sc-place-for-width", "You give the place in the list, and not the d_k that stands there.",
        "Give the d_k of that head.", heads="place, (q, k, v, d_out) in enumerate(heads)", width="place",
        raw="gradient_by_row(q, k, v, 1.0, d_out)", scaled="gradient_by_row(q, k, v, q.size(-1) ** -0.5, d_out)")
mistake("sc-keys-for-width", "You give the number of keys in place of the width.", "d_k is the last size of q.",
        width="k.size(0)", scaled="gradient_by_row(q, k, v, q.size(-1) ** -0.5, d_out)")
mistake("sc-scale-no-root", "The scale is 1/d_k.", "It is 1/√d_k.", scaled="gradient_by_row(q, k, v, 1 / d_k, d_out)")
mistake("sc-none-as-zero", "Where there is no such width you give 0.", "Give None.",
        readings="{'width': width or 0, 'silent': silent}")
mistake("sc-silent-scaled", "You count silent rows of the head with the scale.", "Count them with scale 1.",
        rows="gradient_by_row(q, k, v, q.size(-1) ** -0.5, d_out)")
mistake("sc-silent-narrow", "You count silent rows of the narrowest head.", "Take the widest, the last of the list.",
        widest="q, k, v, d_out = heads[0]")
mistake("sc-below-mean", "You compare with 1% of the mean.", "Compare with 1% of the longest row.",
        quiet="rows < 0.01 * rows.mean()")
mistake("sc-below-absolute", "You compare with 0.01.", "Compare with 1% of the longest row.", quiet="rows < 0.01")
mistake("sc-below-tenth", "You compare with a tenth of the longest row.", "1% is 0.01.", quiet="rows < 0.1 * "
        "rows.max()")
mistake("sc-loud", "You count the rows that are not silent.", "Count those shorter than 1% of the longest.",
        quiet="rows >= 0.01 * rows.max()")
mistake("sc-count-for-share", "You give a number of rows, and not their share.", "Divide by the number of queries.",
        share="float(quiet.sum())")
mistake("sc-percent", "You give a percentage.", "Give a share, from 0 to 1.", share="100 * "
        "quiet.double().mean().item()")

right("sorted", less="raw.sort().values[len(raw) // 2] < scaled.sort().values[len(scaled) // 2]")
right("a quantile", less="raw.quantile(0.5) < scaled.quantile(0.5)")
right("counted", share="int(quiet.sum()) / len(rows)")
right("a ratio", quiet="rows / rows.max() < 0.01")
right("a float32 mean", share="quiet.float().mean().item()")
# fmt: on
