"""The questions on writing text with a trained model, answered by torch."""

from __future__ import annotations

from functools import cache

import torch
from torch import nn


def temperature(question):
    values = question.values
    logits = torch.tensor([float(values["ratio"]), 1.0], dtype=torch.float64).log()
    return torch.softmax(logits / values["t"], dim=0)[0].item()


def top_k(question):
    values = question.values
    logits = torch.tensor(values["shown"], dtype=torch.float64).log()
    kept = torch.full_like(logits, -torch.inf)
    best = logits.topk(values["k"])
    kept[best.indices] = best.values
    return kept.softmax(dim=0)["ABCDE".index(values["letter"])].item()


def top_p(question):
    p = torch.tensor([float(option.text.split()[1]) for option in question.options], dtype=torch.float64)
    ranked, order = p.sort(descending=True)
    before = ranked.cumsum(dim=0) - ranked
    return sorted(order[before < question.values["limit"]].tolist())


def decode_shapes(question):
    values = question.values
    batch, heads, cached, width, d = (values[name] for name in ("batch", "heads", "cached", "width", "d"))
    space = {name: nn.Linear(d, d) for name in ("w_q", "w_k", "w_v")} | {
        "torch": torch, "x": torch.randn(batch, 1, d),
        "cached_keys": torch.randn(batch, heads, cached, width),
        "cached_values": torch.randn(batch, heads, cached, width),
        "split": lambda x: x.view(batch, -1, heads, width).transpose(1, 2),
        "merge": lambda x: x.transpose(1, 2).reshape(batch, -1, d),
    }  # fmt: skip
    exec(question.code, space)
    return [tuple(space[name].shape) for name in ("q", "keys", "scores", "out")]


def positions_computed(question):
    """Counts what passes through a layer while a small model writes."""
    values, seen = question.values, []
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda module, inputs, output: seen.append(inputs[0].shape[0]))
    text, cached = torch.randn(values["prompt"], 4), torch.zeros(0, 4)
    for _ in range(values["new"]):
        if values["cached"]:
            cached = torch.cat([cached, layer(text[len(cached) :])])
            new = cached.mean(dim=0)
        else:
            new = layer(text).mean(dim=0)
        text = torch.cat([text, new[None]])
    assert len(text) == values["prompt"] + values["new"]
    return sum(seen)


def two_words(question):
    values = question.values
    first = torch.tensor([values["first"], values["rest"]], dtype=torch.float64)
    second = torch.tensor([values["after_a"], values["after_b"]], dtype=torch.float64)
    return (first * second).max().item()


def perplexity(question):
    p = 1 / torch.tensor(question.values["inverses"], dtype=torch.float64)
    logits = torch.stack([p, 1 - p], dim=-1).log()
    return nn.functional.cross_entropy(logits, torch.zeros(2, dtype=torch.long)).exp().item()


class Small(nn.Module):
    """A model whose prediction depends on every token that it is shown, and on where it stands."""

    def __init__(self, window):
        super().__init__()
        torch.manual_seed(0)
        self.window, self.drop = window, nn.Dropout(0.5)
        self.tokens, self.places, self.head = nn.Embedding(9, 16), nn.Embedding(window, 16), nn.Linear(16, 9)

    def forward(self, ids):
        assert ids.shape[1] <= self.window
        x = self.tokens(ids) + self.places.weight[: ids.shape[1]]
        sums = x.cumsum(dim=1) * torch.arange(1, ids.shape[1] + 1)[:, None] ** 0.5
        return 1.5 * self.head(self.drop(torch.tanh(sums)))


def sampling_loop(question):
    values = question.values
    names = ("steps", "window", "k", "t")
    return _repaired(question.code, question.details["fix"], *(values[name] for name in names))


@cache
def _repaired(code, fix, *setting):
    """The line that must be replaced by the fix to draw the same texts as the reference does."""
    lines, wanted = code.split("\n"), _reference(*setting)

    def right(code):
        try:
            return torch.equal(_run(code, setting[1]), wanted)
        except (NameError, SyntaxError, RuntimeError, AssertionError):
            return False

    assert not right(lines)
    repaired = []
    for place, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        if right([*lines[:place], indent + fix, *lines[place + 1 :]]):
            repaired.append(place + 1)
    return repaired[0] if len(repaired) == 1 else repaired


START = torch.tensor([[1, 5, 2], [7, 0, 3], [4, 4, 8], [6, 2, 1]])


def _run(lines, window):
    space = {"torch": torch, "model": Small(window), "ids": START}
    torch.manual_seed(1)
    exec("\n".join(lines), space)
    return space["ids"]


@cache
def _reference(steps, window, k, t):
    model, ids = Small(window).eval(), START
    torch.manual_seed(1)
    for _ in range(steps):
        scaled = model(ids[:, max(0, ids.shape[1] - window) :])[:, -1].div(t).exp()
        ranks = scaled.argsort(dim=-1, descending=True).argsort(dim=-1)
        weights = torch.where(ranks < k, scaled, 0.0)
        ids = torch.cat([ids, torch.multinomial(weights / weights.sum(dim=-1, keepdim=True), 1)], dim=1)
    return ids
