"""The questions on tokens, answered by a tokenizer that looks merges up by rank, by encode and by torch."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import torch
from support.run_question_code import printed


def bpe(word, merges):
    """The pieces of a word as GPT-2's encoder finds them: of all pairs there are, always the one learned first."""
    ranks = {tuple(pair): rank for rank, pair in enumerate(merges)}
    pieces = tuple(word)
    while True:
        pairs = {pieces[place : place + 2] for place in range(len(pieces) - 1)} & ranks.keys()
        if not pairs:
            return list(pieces)
        first, second = min(pairs, key=ranks.get)
        made, place = [], 0
        while place < len(pieces):
            size = 2 if pieces[place : place + 2] == (first, second) else 1
            made.append("".join(pieces[place : place + size]))
            place += size
        pieces = tuple(made)


def applied(question):
    """Merges by rank, which must be what the code prints."""
    pieces = "|".join(bpe(question.values["word"], question.values["merges"]))
    assert printed(question.code) == pieces
    return pieces


def counted(question):
    """Each word by itself, and an id for each space."""
    parts = re.findall(r" |\w+", question.values["text"])
    return torch.tensor([len(bpe(part, question.values["pairs"])) for part in parts]).sum().item()


def next_merge(question):
    """The pair whose merge makes the whole training text shorter by most: written out, word by word."""
    values = question.values
    words = [word for word, count in values["counts"].items() for _ in range(count)]
    first = tuple(values["first"])
    cut = [bpe(word, [first]) for word in words]
    lengths = {}
    for pair in {pair for pieces in cut for pair in pairwise(pieces)}:
        lengths[pair] = sum(len(bpe(word, [first, pair])) for word in words)
    least = min(lengths.values())
    (best,) = (pair for pair, length in lengths.items() if length == least)
    (place,) = (place for place, option in enumerate(question.options) if option.text == " + ".join(best))
    return place


def utf8(question):
    """The ids themselves: a tensor of bytes."""
    return torch.frombuffer(bytearray(question.values["text"].encode("utf-8")), dtype=torch.uint8).numel()


def price(question):
    """Two tables and the vectors of one text in both."""
    values = question.values
    tables = [torch.nn.Embedding(values[size], values["width"], device="meta") for size in ("small", "large")]
    few, many = (sum(each.numel() for each in table.parameters()) for table in tables)
    text = torch.arange(values["letters"])
    long, short = (len(text.split(values[piece])) for piece in ("short", "long"))
    return (many - few) / (long - short)


def digits(question):
    """The number, less what it is with zeros in place of the first piece."""
    number = question.values["number"]
    cut = re.findall(r"\d{1,3}", number)
    return int(number) - int("0" * len(cut[0]) + "".join(cut[1:]))


def learn(text, count):
    """So many merges, each of the commonest pair inside of words."""
    merges = []
    for _ in range(count):
        pairs = Counter(pair for word in text.split() for pair in pairwise(bpe(word, merges)))
        merges.append(max(pairs, key=pairs.get))
    return merges


def never_learns(question):
    """A tokenizer made by counting, a model trained on what it gives, and both renumbered."""
    torch.manual_seed(0)
    text = "the thin cat then sat near the bank the other theme the Cat"
    merges = learn(text, 3)
    vocabulary = sorted({*text, *map("".join, merges)})
    model = torch.nn.Sequential(torch.nn.Embedding(len(vocabulary), 64), torch.nn.Linear(64, 1))
    begun = model[0].weight.detach().clone()

    def encode(string):
        return [vocabulary.index(piece) for word in string.split() for piece in bpe(word, merges)]

    before, ids = (list(merges), encode(text)), torch.tensor(encode(text))
    order = torch.randperm(len(vocabulary))
    moved = torch.empty_like(begun)
    moved[order] = begun
    same_output = torch.equal(model[1](moved[order[ids]]), model(ids))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        optimiser.zero_grad()
        model(ids).square().mean().backward()
        optimiser.step()
    with_gradient = [name for name, each in model.named_parameters() if each.grad is not None]
    assert not torch.equal(begun, model[0].weight)
    fixed = with_gradient == ["0.weight", "1.weight", "1.bias"] and before == (merges, encode(text))
    near = (begun[1:] - begun[:-1]).norm(dim=1).mean() < 0.9 * torch.pdist(begun).mean()
    sizes = torch.stack([torch.arange(len(begun)).float(), begun.norm(dim=1)])
    truth = {
        "counts of pairs": fixed,
        "no gradient": fixed,
        "rows moved along": same_output,
        "a river": encode("near the bank") == encode("near the") + encode("bank"),
        "are one word": encode("Cat") != encode("cat"),
        "neighbouring ids": bool(near),
        "large id": bool(torch.corrcoef(sizes)[0, 1] > 0.9),
        "unit of meaning": "the" not in bpe("other", merges),  # it is no part of that word's meaning
        "close together": bool(near),
        "is undone": not fixed,
        "medical": not fixed,
    }
    found = []
    for place, option in enumerate(question.options):
        (key,) = (key for key in truth if key in option.text)
        if truth[key]:
            found.append(place)
    return found
