"""What people write in place of the reference's lines, in numbers and in matrices; and other right ways to write it."""

import math

import torch

from grader.api.checks import MistakeSet

two = MistakeSet("two_tokens", globals())
backward = MistakeSet("attention_backward", globals())
MISTAKE_SETS = [two, backward]

mistake, right = two.mistake, two.alternative
two.example(1.0, 2.0, 0.0, 3.0, -1.0, 1.0)
two.example(2.0, 1.0, 0.5, 3.0, -1.0, 0.5)

# fmt: off
# --- two tokens
mistake("tt-other-weight", "a is the weight of token 2.", "a = exp(q·k1) / (exp(q·k1) + exp(q·k2)).",
        weight="1 / (1 + math.exp(q * k1 - q * k2))")
mistake("tt-slope-is-a", "You take a for the slope of the softmax.", "Its slope is a(1 − a): a rises with its own "
        "score, and its share of the sum rises, too.", slope="a")
mistake("tt-slope-is-one", "The gradient passes the softmax unchanged.", "Multiply with the slope, a(1 − a).",
        slope="1.0")
mistake("tt-slope-of-others", "You take 1 − a for the slope of the softmax.", "Its slope is a(1 − a).", slope="1 - a")
mistake("tt-tokens-apart", "Each score's gradient knows its own token alone: the weights of the two share a sum, and "
        "one gains what the other loses.", "Both have the factor v1 − v2.", first="slope * g * v1",
        second="slope * g * v2")
mistake("tt-second-sign", "The gradient of the second score has the sign of the first.",
        "What token 1 gains token 2 loses: the second is the negative of the first.", second="slope * pull")
mistake("tt-second-sign", "dk2 has the sign of dk1.", "What token 1 gains token 2 loses: ds2 = −ds1.", coding="dk2",
        two_keys="dk1, dk2 = ds1 * q, -ds2 * q")
mistake("tt-g-forgotten", "The gradients of the scores lack the factor g.", "The chain begins with g: ∂loss/∂a = "
        "g · (v1 − v2).", gain="v1 - v2")
mistake("tt-dv-without-g", "The gradients of the values lack the factor g.", "dv1 = g · a.",
        two_values="dv1, dv2 = a, 1 - a")
mistake("tt-values-added", "The two values are added where they are subtracted.", "out = v2 + a · (v1 − v2): the "
        "slope in a is v1 − v2.", gain="g * (v1 + v2)")
mistake("tt-one-way", "dq takes one way only, through the first key.", "q has two ways to the loss, through both "
        "scores: add them.", query="ds1 * k1")
mistake("tt-keys-added", "In dq the two keys are added.", "The second score's gradient has the other sign: ds · (k1 − "
        "k2).", query="ds1 * k1 - ds2 * k2")
mistake("tt-dq-dk-exchanged", "The gradient of a key has the key as factor, and not the query.", "∂(q·k1)/∂k1 = q.",
        two_keys="dk1, dk2 = ds1 * k1, ds2 * k2")
mistake("tt-dv-exchanged", "The gradients of the two values have changed places.", "v1 comes into out with the "
        "weight a.", two_values="dv1, dv2 = g * (1 - a), g * a")
mistake("tt-dv-one-weight", "The gradient of v2 has the weight of v1.", "v2 comes into out with 1 − a: dv2 = g · "
        "(1 − a).", two_values="dv1, dv2 = g * a, g * a")
mistake("tt-dv-one-weight", "The gradient of v1 has the weight of v2.", "v1 comes into out with a: dv1 = g · a.",
        coding="of v2", two_values="dv1, dv2 = g * (1 - a), g * (1 - a)")
mistake("tt-dv-whole", "Each value gets the whole of g.", "v1 comes into out with the weight a: dv1 = g · a.",
        two_values="dv1, dv2 = g, g")
mistake("tt-sign", "The gradients of q and of the keys have the wrong sign.", "A larger a moves out towards v1: "
        "v1 − v2.", gain="g * (v2 - v1)")

right("through both weights", first="a * (g * v1 - g * (a * v1 + (1 - a) * v2))",
      second="(1 - a) * (g * v2 - g * (a * v1 + (1 - a) * v2))")
right("the whole Jacobian", first="a * (1 - a) * g * v1 - a * (1 - a) * g * v2",
      second="-a * (1 - a) * g * v1 + (1 - a) * a * g * v2")
right("two exponentials", weight="math.exp(q * k1) / (math.exp(q * k1) + math.exp(q * k2))")
right("tanh", weight="0.5 + 0.5 * math.tanh(0.5 * q * (k1 - k2))", query="ds1 * (k1 - k2)")

# --- matrices
mistake, right = backward.mistake, backward.alternative
Q, K = torch.tensor([[1.0]]), torch.tensor([[2.0], [0.0]])
V, OUT = torch.tensor([[3.0], [-1.0]]), torch.tensor([[1.0]])
MORE = torch.tensor([[1.0, 0.0], [1.0, 2.0]])
backward.example(Q, K, V, OUT)
OTHERS = torch.tensor([[3.0, 1.0], [-1.0, 2.0]]), torch.tensor([[1.0, 0.0], [2.0, -1.0]])
backward.example(MORE, MORE.T.contiguous(), *OTHERS)
backward.example(30.0 * MORE, 30.0 * MORE, MORE, MORE)

# through the softmax
SOFTMAX = "A row of scores gets p ∘ (dp − Σ p·dp), the sum over the row's keys."
mistake("ab-diagonal-only", "You take the softmax's slope for p(1 − p), number by number: that is the diagonal of its "
        "Jacobian, and every score is in every weight of its row.", SOFTMAX, through="p * (1 - p) * dp")
mistake("ab-dot-term-missing", "You multiply with p and subtract nothing: as if a weight could rise and the others "
        "of its row stay.", SOFTMAX, through="p * dp")
mistake("ab-dot-over-columns", "The mean that is subtracted runs over the queries.", "Sum over the keys of a row: "
        "`dim=-1`.", mean="(p * dp).sum(dim=0, keepdim=True)")
mistake("ab-dot-over-all", "The sum that is subtracted is one for the whole table.", "Sum over the keys of each row: "
        "`dim=-1, keepdim=True`.", mean="(p * dp).sum()")
mistake("ab-dot-without-p", "What is subtracted is the plain sum of dp, without the weights.", SOFTMAX,
        mean="dp.sum(dim=-1, keepdim=True)")
mistake("ab-dot-without-p", "What is subtracted is the plain mean of dp: the weights are left out.", SOFTMAX,
        coding="mean", mean="dp.mean(dim=-1, keepdim=True)")
mistake("ab-dot-not-weighted", "The sum is subtracted as it is, and not times p.", SOFTMAX, through="p * dp - mean")
mistake("ab-no-keepdim", "The row's sum has lost its axis: it is subtracted along the wrong one.",
        "Keep it: `keepdim=True`.", mean="(p * dp).sum(dim=-1)")
mistake("ab-softmax-skipped", "The gradient of the weights is taken for that of the scores: the softmax is left out.",
        SOFTMAX, through="dp")
mistake("ab-sign", "The gradient of the scores has the wrong sign.", SOFTMAX, through="p * (mean - dp)")
mistake("ab-added", "The row's sum is added, not subtracted.", SOFTMAX, through="p * (dp + mean)")
mistake("ab-weights-detached", "The weights are taken for constants: q and k get no gradient.",
        "The weights were made from q and k: go on through the softmax.", through="torch.zeros_like(p)")

# the scale
TWICE = "The scale stands between q·k and the scores: once forwards, and once in dq and dk."
mistake("ab-scale-missing", "dq and dk lack the factor 1/√d_k.", TWICE, queries="ds @ k", keys="ds.T @ q")
mistake("ab-scale-twice", "dq and dk have the factor 1/√d_k twice.", TWICE, through="p * (dp - mean) * scale")
mistake("ab-no-scale", "There is no scale at all: neither in the scores nor in the gradient.", TWICE, scale="1.0")
mistake("ab-unscaled-scores", "The weights are made from scores without the scale.", TWICE, score="q @ k.T")
mistake("ab-scale-upside-down", "dq and dk are multiplied with √d_k.", TWICE, queries="ds @ k / scale",
        keys="ds.T @ q / scale")
mistake("ab-scale-one-sided", "Only dq has the factor 1/√d_k.", TWICE, keys="ds.T @ q")
mistake("ab-scale-one-sided", "Only dk has the factor 1/√d_k.", TWICE, coding="dk", queries="ds @ k")
mistake("ab-scale-of-values", "The scale is that of the values' width.", "It is √d_k, the last size of q and k.",
        scale="v.size(-1) ** -0.5")

# the products
mistake("ab-dv-not-transposed", "dv is weights @ d_out: each query collects, where each value should.",
        "A value collects from all queries that looked at it: weightsᵀ @ d_out.", values="p @ d_out")
mistake("ab-dk-not-transposed", "dk is ds @ q: row t belongs to a query, and dk has a row for each key.",
        "A key collects from all queries: dsᵀ @ q.", keys="ds @ q * scale")
mistake("ab-dq-transposed", "dq is dsᵀ @ k: its rows belong to keys.", "A query collects from all keys: ds @ k.",
        queries="ds.T @ k * scale")
mistake("ab-dq-dk-exchanged", "dq and dk have changed places.", "Return (dq, dk, dv).", give="dk, dq, dv")
mistake("ab-own-factor", "dq is made with q, and dk with k: ∂(q·k)/∂q is k.", "dq = ds @ k, and dk = dsᵀ @ q.",
        queries="ds @ q * scale", keys="ds.T @ k * scale")
mistake("ab-order", "You return the gradients in another order.", "Return (dq, dk, dv).", alone=True, give="dv, dk, dq")
mistake("ab-dv-whole", "Each value gets the whole of d_out, whatever its weight is.", "dv = weightsᵀ @ d_out.",
        values="torch.ones_like(p).T @ d_out")
mistake("ab-dv-of-scores", "dv is made with ds, the gradient of the scores, and not with the weights.",
        "dv = weightsᵀ @ d_out.", give="dq, dk, ds.T @ d_out")
mistake("ab-softmax-queries", "The softmax runs over the queries.", "Over the keys: `dim=-1`.",
        weights="scores.softmax(dim=0)")
mistake("ab-overflow", "exp of the scores as they are: at 1000 it is inf, and all is NaN.",
        "Subtract the row's maximum first, or use torch.softmax.",
        weights="scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")
mistake("ab-global-max", "Your softmax subtracts the maximum of the whole table: a row far below it becomes 0/0, NaN.",
        "Subtract each row's own maximum: `amax(-1, keepdim=True)`.", weights="""
powers = (scores - scores.max()).exp()
p = powers / powers.sum(dim=-1, keepdim=True)""")
backward.common("ab", "float32", "in_place")

right("rowsum(d_out ∘ out)", mean="(d_out * (p @ v)).sum(dim=-1, keepdim=True)")
right("with the whole Jacobians",
      through="torch.einsum('ts,tsr->tr', dp, torch.diag_embed(p) - p[:, :, None] * p[:, None, :])")
right("in einsum", values="torch.einsum('ts,td->sd', p, d_out)", pull="torch.einsum('td,sd->ts', d_out, v)",
      queries="torch.einsum('ts,sd->td', ds, k) * scale", keys="torch.einsum('ts,td->sd', ds, q) * scale")
right("the scale once, in ds", through="p * (dp - mean) * scale", queries="ds @ k", keys="ds.T @ q")
right("a scaled query", score="(q * scale) @ k.T", keys="ds.T @ (q * scale)")
right("a weighted sum by matmul", mean="(p.unsqueeze(1) @ dp.unsqueeze(-1)).squeeze(-1)")
right("two terms", through="p * dp - p * mean")


def query_by_query(q, k, v, d_out):
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    root = math.sqrt(q.shape[1])
    for t in range(len(q)):
        p = torch.softmax(k @ q[t] / root, dim=0)
        jacobian = torch.diag(p) - torch.outer(p, p)
        ds = jacobian @ (v @ d_out[t]) / root
        dq[t] = ds @ k
        dk += torch.outer(ds, q[t])
        dv += torch.outer(p, d_out[t])
    return dq, dk, dv


right("query by query", version=query_by_query)
# fmt: on
