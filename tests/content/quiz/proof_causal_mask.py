"""The questions on writing the causal mask, answered by torch."""

from __future__ import annotations

from functools import cache

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from support.run_question_code import printed, run, wrong_line


def who_notices(question):
    """Replace the token and compare the outputs of torch's attention."""
    n, changed = question.values["n"], question.values["changed"]
    mask = run(question.code)["mask"]
    x = torch.randn(n, 8, generator=torch.Generator().manual_seed(question.attempt))
    other = x.clone()
    other[changed] = -other[changed].flip(0)
    before, after = (F.scaled_dot_product_attention(each, each, each, mask) for each in (x, other))
    notice = [not torch.allclose(*pair, atol=1e-6) for pair in zip(before, after, strict=True)]
    texts = {f"output {i}" for i in range(n) if notice[i]}
    return [place for place, option in enumerate(question.options) if option.text in texts]


def with_padding(question):
    """Run it with a causal mask made by hand."""
    n = question.values["n"]
    mask = torch.tensor([[key <= query for key in range(n)] for query in range(n)])
    return printed(question.code, mask=mask)


def combined_shapes(question):
    """Run it."""
    B, H, T = (question.values[name] for name in "BHT")  # noqa: N806 - the lesson's letters
    mask, real = torch.ones(T, T, dtype=torch.bool), torch.ones(B, T, dtype=torch.bool)
    space = run(question.code, mask=mask, real=real, scores=torch.zeros(B, H, T, T))
    return [tuple(space[name].shape) for name in question.details["blanks"]]


# --- forms of a mask --------------------------------------------------------------------------------------------------

SIZE = 3


@cache
def _attention():
    torch.manual_seed(0)
    return torch.nn.MultiheadAttention(4, 1, batch_first=True).eval(), torch.randn(1, SIZE, 4)


def _weights(use, m):
    """The weights that come of a mask in one of its uses; None where it cannot be used so."""
    if ("Boolean" in use or "m in torch.where" in use or "masked_fill" in use) and m.dtype != torch.bool:
        return None
    layer, x = _attention()
    scores = torch.tensor([[0.3, -1.0, 0.7], [0.1, 0.9, -0.4], [-0.8, 0.2, 0.5]])
    if "scaled_dot_product_attention" in use:
        return F.scaled_dot_product_attention(x[0], x[0], torch.eye(SIZE), m)
    if "MultiheadAttention" in use:
        return layer(x, x, x, attn_mask=m)[1][0]
    filled = eval(use.removeprefix("m in "), {"torch": torch, "scores": scores, "m": m, "inf": torch.inf})
    return filled.softmax(dim=-1)


def _hides(weights):
    """Whether every query attends to itself and its past, and to nothing else."""
    causal = [[key <= query for key in range(SIZE)] for query in range(SIZE)]
    return weights is not None and ((weights > 0) == torch.tensor(causal)).all().item()


def forms(question):
    """Try every answer in every use: just one of them hides the future."""
    name, T = question.values["name"], SIZE  # noqa: N806 - the lesson's letter
    query, key = torch.arange(T)[:, None], torch.arange(T)
    space = {"torch": torch, "T": T, "inf": torch.inf}
    space[name] = key <= query if question.values["meaning"] == "may attend to" else key > query
    made = [eval(option.text, dict(space)) for option in question.options]
    answer = []
    for use in question.details["lefts"]:
        fits = [place for place, m in enumerate(made) if _hides(_weights(use, m))]
        assert len(fits) == 1, (use, fits)
        answer += fits
    return answer


# --- one wrong line ---------------------------------------------------------------------------------------------------


def _model(diagonal):
    """Each output is a mean over the tokens that `tril(diagonal)` allows."""

    def model(x):
        T = x.size(1)  # noqa: N806 - the lesson's letter
        table = torch.ones(T, T).tril(diagonal)
        return (table / table.sum(dim=1, keepdim=True)) @ x

    return model


def leak_test(question):
    """The line whose repair tells honest models from leaky ones and leaves the caller's tensor alone."""

    def works(code):
        leaks = run(code)["leaks"]
        torch.manual_seed(0)
        x = torch.randn(4, 5, 3)
        mine = x.clone()
        found = [leaks(_model(diagonal), x, t) for diagonal in (-0, 1, 4) for t in (1, 2, 3)]
        return found == [False] * 3 + [True] * 6 and x.equal(mine)

    return wrong_line(question, works)
