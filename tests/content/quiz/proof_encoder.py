"""The questions on the encoder, answered by running the lesson's reference."""

from __future__ import annotations

from itertools import permutations

import torch
from support.course_files import load
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def model(*sizes):
    """The reference, with numbers that are all random and none large."""
    made = load("solutions/models/encoder.py").Encoder(*sizes)
    generator = torch.Generator().manual_seed(0)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5, generator=generator)
    return made.double()


def real_places(values):
    """Which places of the batch hold a token: (B, T)."""
    return torch.arange(values["T"]) < torch.tensor(values["lengths"])[:, None]


def moved_vectors(question):
    """Both batches, read by the reference."""
    values = question.values
    ids = torch.arange(3 * values["T"]).remainder(7).view(3, -1)
    changed = ids.clone()
    changed[values["text"], values["place"]] = 7
    encoder, lengths = model(8, values["T"], 8, 2, 2, 16), torch.tensor(values["lengths"])
    with torch.no_grad():
        moved = (encoder(ids, lengths) - encoder(changed, lengths)).abs().amax(-1) > 1e-9
    return int((moved & real_places(values)).sum())


def pairs(question):
    """The weights that the reference's attention has for such a batch."""
    masks, real = load("solutions/inside/padding_mask.py"), real_places(question.values)
    mask = masks.padding_mask(torch.tensor(question.values["lengths"]), question.values["T"])
    scores = torch.zeros(3, 1, real.size(1), real.size(1)).masked_fill(~mask, float("-inf"))
    return int((scores.softmax(-1)[:, 0][real] > 0).sum())


def orders(question):
    """All orders, read by the reference; without positions its table is 0."""
    values = question.values
    texts = torch.tensor(list(permutations(values["ids"])))
    encoder = model(30, texts.size(1), 8, 2, 2, 16)
    if values["with"] == "without":
        torch.nn.init.zeros_(encoder.pos.weight)
    with torch.no_grad():
        means = encoder(texts).mean(1)
    return len(means.mul(1e6).round().unique(dim=0))


def nans(question):
    """The reference with a mask that hides queries, too."""
    values = question.values
    encoder, real = model(8, values["T"], 8, 2, values["L"], 16), real_places(values)
    x, mask = encoder.pos.weight.expand(3, -1, -1), (real[:, :, None] & real[:, None, :])[:, None]
    with torch.no_grad():
        for block in encoder.blocks:
            x = block(x, mask)
    return int(x.isnan().any(-1).sum())


def wrong_line(question):
    """The line whose repair makes it the reference: in values at the real places, and in what learns."""
    right = model(7, 8, 8, 2, 2, 10)
    ids, lengths = torch.tensor([[1, 5, 0, 5, 6], [2, 2, 3, 4, 1], [6, 0, 1, 3, 2]]), torch.tensor([5, 2, 3])
    real = torch.arange(5) < lengths[:, None]

    def works(code):
        blocks = load("solutions/core/block.py").TransformerBlock
        made = run(code, TransformerBlock=blocks)["Encoder"](7, 8, 8, 2, 2, 10).double()
        made.load_state_dict(right.state_dict())
        found = made(ids, lengths)
        same = found.shape == (3, 5, 8) and torch.allclose(found[real], right(ids, lengths)[real])
        return same and made.blocks[0] is not made.blocks[1]

    return wrong_line_of(question, works)
