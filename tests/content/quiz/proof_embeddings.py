"""The questions on embeddings, answered by torch."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

DOUBLE = torch.float64


def one_hot_work(question):
    """What torch counts for the product; a multiply-add is two operations."""
    values = question.values
    ids = torch.randint(values["V"], (values["T"],))
    hot, table = functional.one_hot(ids, values["V"]).float(), torch.randn(values["V"], values["D"])
    with FlopCounterMode(display=False) as counter:
        product = hot @ table
    assert torch.equal(product, table[ids])
    return counter.get_total_flops() / 2


class Block(nn.Module):
    """A block of one head that keeps its queries."""

    def __init__(self, width):
        super().__init__()
        self.qkv, self.network = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, causal):
        self.query, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        x = x + functional.scaled_dot_product_attention(self.query, k, v, is_causal=causal)
        return x + self.network(x).relu()


def same_word(question):
    """Both texts through a small model, and what is the same of the word."""
    values, word = question.values, question.values["word"]
    texts = values["first"].split(), values["second"].split()
    names = sorted({*texts[0], *texts[1]})
    torch.manual_seed(question.attempt)
    table, places, blocks = torch.randn(len(names), 8), torch.randn(10, 8), [Block(8), Block(8), Block(8)]
    seen = []
    for text in texts:
        row = table[torch.tensor([names.index(each) for each in text])]
        stream = [row + places[: len(text)]]
        for block in blocks:
            stream.append(block(stream[-1][None], values["causal"])[0])
        at, query = text.index(word), blocks[0].query[0]
        seen.append([each[at] for each in (row, stream[0], query, stream[1], stream[-1])])
    same = [torch.allclose(one, other, atol=1e-4) for one, other in zip(*seen, strict=True)]
    starts = "the row", "the vector that enters", "its query", "its vector after the first", "its vector after the last"
    right = [start for start, each in zip(starts, same, strict=True) if each]
    return [place for place, option in enumerate(question.options) if option.text.startswith(tuple(right))]


OPTIMIZERS = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW}


def unused(question):
    """A small model trained on texts without the last id, and what has become of its row."""
    values = question.values
    torch.manual_seed(question.attempt)
    table, middle = nn.Embedding(12, 6), nn.Linear(6, 6)
    output = nn.Linear(6, 12, bias=False)
    if values["tied"]:
        output.weight = table.weight
    numbers = {id(each): each for each in (*table.parameters(), *middle.parameters(), *output.parameters())}.values()
    decay = 0.1 if values["decay"] else 0.0
    optimizer = OPTIMIZERS[values["name"]](numbers, lr=0.05, weight_decay=decay)
    before = table.weight[11].detach().clone()
    for step in range(40):
        ids = torch.randint(11, (64,))
        h = middle(table(ids))
        functional.cross_entropy(output(h), (3 * ids + 1) % 11).backward()
        gradient = table.weight.grad[11].clone()
        if values["tied"] and step == 0:
            share = output(h).softmax(dim=-1)[:, 11:]
            assert torch.allclose(gradient, (share * h).mean(dim=0), atol=1e-6)
            assert (h.detach() @ gradient * share[:, 0]).sum() > 0  # against it, the logits fall where they are large
        assert values["tied"] or not gradient.any()
        optimizer.step()
        optimizer.zero_grad()
    after = table.weight[11].detach()
    factor = (after @ before / before.square().sum()).item()
    along = torch.allclose(after, factor * before, atol=1e-5)
    starts = "It stays" if along and abs(factor - 1) < 1e-6 else "It shrinks" if along and factor < 1 else "The softmax"
    return next(place for place, option in enumerate(question.options) if option.text.startswith(starts))


def cosine(question):
    """The product of both vectors after each was made of length 1."""
    a, b = (functional.normalize(torch.tensor(question.values[name], dtype=DOUBLE), dim=0) for name in "ab")
    return (a @ b).item()


def likeliest(question):
    """The largest of the logits of a linear layer that holds the rows shown."""
    h, *rows = ([int(each) for each in line.split()[1:]] for line in question.code.split("\n"))
    words = [line.split()[0] for line in question.code.split("\n")[1:]]
    output = nn.Linear(2, 4, bias=False)
    output.weight.data = torch.tensor(rows).float()
    best = words[output(torch.tensor(h).float()).argmax()]
    return [option.text for option in question.options].index(best)


def append(question):
    """The weights of the two layers; and the appended one is a sum of two products."""
    values = question.values
    x, p = torch.randn(5, values["D"]), torch.randn(5, values["P"])
    joined = torch.cat([x, p], dim=-1)
    added, appended = (nn.Linear(each.size(-1), values["M"], bias=False) for each in (x, joined))
    left, right = appended.weight.split([values["D"], values["P"]], dim=1)
    assert torch.allclose(appended(joined), x @ left.T + p @ right.T, atol=1e-5)
    return appended.weight.numel() - added.weight.numel()


def read_back(question):
    """Over a random basis and its opposites, which have the mean and variance of a random direction."""
    n, width = question.values["n"], question.values["D"]
    torch.manual_seed(question.attempt)
    basis, _ = torch.linalg.qr(torch.randn(width, width, dtype=DOUBLE))
    other = torch.cat([basis, -basis])
    parts, _ = torch.linalg.qr(torch.randn(width, n, dtype=DOUBLE))
    signs = torch.cartesian_prod(*[torch.tensor([1.0, -1.0], dtype=DOUBLE)] * n)
    return (other @ (parts @ signs.T)).std(correction=0).item()


def scale(question):
    """The sizes of an encoding and of rows with entries ±1/√D."""
    width = question.values["D"]
    exponents = torch.arange(0, width, 2, dtype=DOUBLE) / width
    angles = torch.arange(200, dtype=DOUBLE)[:, None] / 10_000**exponents
    places = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    rows = torch.linalg.qr(torch.randn(width, width, dtype=DOUBLE))[0]  # D rows of length 1: entries of 1/√D
    return (places.square().mean().sqrt() / rows.square().mean().sqrt()).item()
