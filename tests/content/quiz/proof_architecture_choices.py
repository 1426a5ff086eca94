"""The questions on architectural choices, answered by torch."""

from __future__ import annotations

from functools import cache

import torch
from torch import nn
from torch.nn import functional


def norm_place(question):
    values = question.values
    x, norm = torch.tensor([values["low"], values["high"]], dtype=torch.float64), nn.LayerNorm(2, eps=0.0).double()
    out = x + values["c"] * norm(x) if values["pre"] else norm(x + values["c"] * x)
    return out[values["place"]].item()


def gated_width(question):
    """The width at which both networks have as many parameters, found by halving an interval."""
    d, d_ff = question.values["d"], question.values["d_ff"]
    plain = _parameters((d, d_ff), (d_ff, d))
    low, high = 1, 4 * d_ff
    while low < high:
        w = (low + high) // 2
        low, high = (w + 1, high) if _parameters((d, w), (d, w), (w, d)) < plain else (low, w)
    assert _parameters((d, low), (d, low), (low, d)) == plain
    return low


def _parameters(*shapes):
    return sum(nn.Linear(*shape, bias=False, device="meta").weight.numel() for shape in shapes)


def tied_rows(question):
    values = question.values
    torch.manual_seed(question.attempt)
    table = nn.Parameter(torch.randn(values["size"], 6))
    output = table if values["tied"] else nn.Parameter(torch.randn(values["size"], 6))
    stream = table[torch.tensor(values["inputs"])].cumsum(dim=0).tanh()
    functional.cross_entropy(stream @ output.T, torch.tensor(values["targets"])).backward()
    return int((table.grad != 0).any(dim=1).sum())


def more_heads(question):
    values = question.values
    before, after = (_with_heads(values[name], values["d"], values["n"]) for name in ("heads", "more"))
    return [place for place, option in enumerate(question.options) if before[option.text] != after[option.text]]


@cache
def _with_heads(heads, d, n):
    torch.manual_seed(0)
    layer, x = nn.MultiheadAttention(d, heads, batch_first=True), torch.randn(1, n, d)
    out, weights = layer(x, x, x, average_attn_weights=False)
    q, k = (each.view(n, heads, d // heads).transpose(0, 1) for each in torch.randn(2, n, d, dtype=torch.float64))
    scores = q @ k.mT
    return {
        "the width d_head of a head": layer.head_dim,
        "the number of attention weights for a text": weights.numel(),
        "the largest possible rank of one head's QKᵀ": int(torch.linalg.matrix_rank(scores[0])),
        "the number of parameters": sum(each.numel() for each in layer.parameters()),
        "the shape of the attention's output": tuple(out.shape),
        "the multiply-adds in QKᵀ, over all heads": scores.numel() * q.shape[-1],
    }


def relu_by_hand(question):
    values = question.values
    network = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1, bias=False))
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([[values["w1"]], [values["w2"]]]))
        network[0].bias.copy_(torch.tensor([values["b1"], values["b2"]]))
        network[2].weight.copy_(torch.tensor([[values["v1"], values["v2"]]]))
    return network(torch.tensor([float(values["x"])])).item()


def pooling(question):
    h, mask = torch.tensor(question.values["h"]), torch.tensor(question.values["mask"], dtype=torch.bool)
    return h[mask].mean().item()


def sub_layer_order(question):
    """The parts of torch's own layer, in the order in which they are called; the sums by what they must come after."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=question.values["pre"], batch_first=True)
    log = []
    parts = {"norm1": layer.norm1, "norm2": layer.norm2, "attention": layer.self_attn, "FFN": layer.linear2}
    for name, part in parts.items():
        part.register_forward_hook(lambda module, inputs, output, name=name: log.append(name))
    x = torch.randn(1, 5, 8, requires_grad=True)
    layer(x)
    order = []
    for name in log:
        order.append(name)
        if name in ("attention", "FFN"):  # the sum follows each branch at once, as the formulas below show
            order.append(f"add what came into {_input_of(name, question.values['pre'])}")
    assert torch.allclose(layer.train(False)(x), _by_formula(layer, x, question.values["pre"]), atol=1e-5)
    texts = [option.text for option in question.options]
    return [texts.index(text) for text in order]


def _input_of(branch, pre):
    names = {"attention": ("norm1", "the attention"), "FFN": ("norm2", "the FFN")}
    return names[branch][0 if pre else 1]


def _by_formula(layer, x, pre):
    def attention(y):
        return layer.self_attn(y, y, y, need_weights=False)[0]

    def ffn(y):
        return layer.linear2(functional.relu(layer.linear1(y)))

    if pre:
        h = x + attention(layer.norm1(x))
        return h + ffn(layer.norm2(h))
    h = layer.norm1(x + attention(x))
    return layer.norm2(h + ffn(h))


def same_norm(question):
    x = torch.tensor(question.values["features"], dtype=torch.float64)
    first_doubled = x * torch.tensor([2.0, 1.0, 1.0, 1.0])
    changed = {
        "all features times 3": 3 * x, "all features divided by 2": x / 2, "all features plus 5": x + 5,
        "all features minus their mean": x - x.mean(), "all features times −1": -x,
        "the first feature doubled": first_doubled,
    }  # fmt: skip
    norm = functional.layer_norm if question.values["layer"] else functional.rms_norm
    before = norm(x, (4,), eps=1e-12)
    same = [torch.allclose(norm(changed[option.text], (4,), eps=1e-12), before) for option in question.options]
    return [place for place, each in enumerate(same) if each]
