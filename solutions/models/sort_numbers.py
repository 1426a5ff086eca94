"""`sort_numbers`, the reference: an encoder of torch's that sorts."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  the field's name

RATE = 3e-3
WARM_UP = 50  # steps


class Sorter(nn.Module):
    """Embedding, places, two blocks that see everything, a norm, a head."""

    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, 64)
        self.pos = nn.Embedding(length, 64) if positions else None  # step: pos
        sizes = 64, 4, 128, 0.0, F.gelu  # D, H, d_ff, dropout
        how = {"norm_first": True, "batch_first": True}  # step: how
        layer = nn.TransformerEncoderLayer(*sizes, **how)
        norm = nn.LayerNorm(64)
        self.blocks = nn.TransformerEncoder(layer, 2, norm, False)  # step: blocks
        self.head = nn.Linear(64, vocab_size)  # step: head

    def forward(self, ids):
        """Give the logits of the answer at each place."""
        x = self.tok(ids)  # (B, T) -> (B, T, D)  # step: look
        if self.pos is not None:
            x = x + self.pos.weight  # (B, T, D) + (T, D)  # step: place
        x = self.blocks(x)  # (B, T, D)  # step: through
        return self.head(x)  # (B, T, D) -> (B, T, V)  # step: give


def fit(model, lists, answers, report):
    """Take one step of AdamW on each batch; the rate goes up, then down."""
    model.train()  # step: enter
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)  # step: optimizer
    end = len(lists) + 1
    pairs = zip(lists, answers, strict=True)  # step: pairs
    for step, (ids, goal) in enumerate(pairs, 1):
        # up in 50 steps, flat, and from the middle on down to nothing
        shape = min(1.0, step / WARM_UP, 2 - 2 * step / end)  # step: shape
        optimizer.param_groups[0]["lr"] = RATE * shape  # step: rate
        logits = model(ids)  # (B, T, V)  # step: forward
        # (B·T, V), (B·T,)
        flat, right = logits.flatten(0, 1), goal.flatten()  # step: flatten
        loss = F.cross_entropy(flat, right)  # ()  # step: score
        optimizer.zero_grad()  # step: clear
        loss.backward()  # step: pull
        optimizer.step()  # step: move
        report(loss.item())  # step: tell
