"""What `learn build sort_numbers` trains: the learner's encoder and token head, with their own training step."""

import torch
from encoder import Encoder
from learning_rate import lr_at
from pooling_heads import TokenClassifier
from torch import nn
from training import train_step

RATE = 3e-3
WARM_UP = 50  # steps


class Sorter(nn.Module):
    """The encoder of the lesson with its head for each place; without positions its table of places stays at 0."""

    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        self.encoder, self.head = Encoder(vocab_size, length, 64, 4, 2, 128), TokenClassifier(64, vocab_size)
        if not positions:
            nn.init.zeros_(self.encoder.pos.weight).requires_grad_(False)

    def forward(self, ids):
        return self.head(self.encoder(ids))


def fit(model, lists, answers, report):
    """Take a step on each batch; the rate of the lesson goes up, then down as a cosine does."""
    optimizer, steps = torch.optim.AdamW(model.parameters(), lr=RATE), len(lists)
    for step, (ids, goal) in enumerate(zip(lists, answers, strict=True), 1):
        optimizer.param_groups[0]["lr"] = lr_at(step, RATE, RATE / 100, min(WARM_UP, steps - 1), steps)
        report(train_step(model, optimizer, ids, goal))
