"""The questions on writing attention, answered by torch."""

from __future__ import annotations

import ast

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from support.run_question_code import run, wrong_line


def shapes(question):
    """The first product, its softmax and the second product, of tensors of these shapes."""
    q, k, v = (torch.ones(question.values[name]) for name in "qkv")
    scores = torch.einsum("...td,...sd->...ts", q, k)
    weights = scores.softmax(dim=-1)
    return [tuple(scores.shape), tuple(weights.shape), tuple((weights @ v).shape)]


def scale(question):
    """What torch's own attention divides by: one score s against one of 0 gives the weight 1/(1 + exp(-s))."""
    d_k = question.values["q"][-1]
    q, k = torch.ones(1, d_k, dtype=torch.float64) / d_k, torch.ones(2, d_k, dtype=torch.float64)
    k[1] = 0.0
    weight = F.scaled_dot_product_attention(q, k, torch.eye(2, dtype=torch.float64))[0, 0]
    return float(1 / torch.logit(weight))


def blocked_key(question):
    """Scores with the weights stated, one of them filled with -inf."""
    values = question.values
    scores = torch.tensor(ast.literal_eval(values["listed"]), dtype=torch.float64).log()
    scores[values["blocked"]] = -torch.inf
    return float(scores.softmax(dim=0)[values["asked"]])


def mask_shapes(question):
    """Try each shape."""
    scores = torch.zeros(question.values["scores"])
    found = []
    for place, option in enumerate(question.options):
        try:
            filled = scores.masked_fill(torch.zeros(ast.literal_eval(option.text), dtype=torch.bool), 0.0)
        except RuntimeError:
            continue
        found += [place] * (filled.shape == scores.shape)
    return found


def _mistakes(scores, root):
    """What each mistake makes of the scores, by the words with which it is offered."""
    allowed = torch.ones(3, 3, dtype=torch.bool)
    allowed[0, 2] = False
    masked = scores.masked_fill(~allowed, -torch.inf)
    return {
        "The softmax runs over the queries.": masked.softmax(dim=0),
        "The mask sets weights to 0, after the softmax.": scores.softmax(dim=1) * allowed,
        "The weights are scaled, not the scores.": masked.softmax(dim=1) / root,
        "The blocked score is set to 0, not to −∞.": scores.masked_fill(~allowed, 0.0).softmax(dim=1),
        "The mask is read the wrong way round.": scores.masked_fill(allowed, -torch.inf).softmax(dim=1),
    }


def read_the_weights(question):
    """The only offered mistake that gives the table, to its two decimals."""
    shown = torch.tensor([[float(each) for each in line.split()] for line in question.code.split("\n")])
    made = _mistakes(torch.tensor(question.values["scores"]), question.values["d_k"] ** 0.5)
    fits = [
        place
        for place, option in enumerate(question.options)
        if torch.allclose(made[option.text], shown, atol=0.0051, equal_nan=True)
    ]
    assert len(fits) == 1, question.code
    return fits[0]


def one_query_in_python(question):
    """The line whose repair gives torch's attention, with and without blocked keys."""
    torch.manual_seed(0)
    q, k, v = (torch.randn(size, dtype=torch.float64) for size in ((3, 5), (4, 5), (4, 2)))
    masks = torch.tensor([[True, True, True, True], [True, False, True, True], [False, False, True, True]])
    expected = F.scaled_dot_product_attention(q, k, v, masks)

    def works(code):
        attend = run(code)["attend"]
        rows = zip(q.tolist(), masks.tolist(), strict=True)
        result = torch.tensor([attend(query, k.tolist(), v.tolist(), may) for query, may in rows], dtype=torch.float64)
        return torch.allclose(result, expected)

    return wrong_line(question, works)
