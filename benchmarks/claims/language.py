"""A small model on an invented language of known entropy: what bugs of masks and training leave in the loss."""

import math

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, WIDTH, LENGTH, BATCH = 23, 32, 16, 12
ENTROPY = 2 * math.log(2)  # a word, in nats: of 8 tokens, 2 + 12 + 2 bits; a full stop costs nothing


def _speak(tokens):
    """Sentences of a determiner, adjectives, a noun that agrees, a verb that agrees, another such group, a stop."""

    def draw(size):
        return int(torch.randint(size, ()))

    said = []
    while len(said) < tokens:
        for group in range(2):
            plural = draw(2)
            said.append(plural)
            while draw(2):
                said.append(2 + draw(4))
            said.append(6 + 4 * plural + draw(4))
            if group == 0:
                said.append(14 + 4 * plural + draw(4))
        said.append(22)
    return torch.tensor(said[:tokens])


class _Model(nn.Module):
    """One pre-LN block with one head and learned positions."""

    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.qkv, self.o = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.ffn = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, VOCABULARY)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, ids, causal):
        h = self.token(ids) + self.place.weight
        h = h + self.o(functional.scaled_dot_product_attention(*self.qkv(self.norm1(h)).chunk(3, -1), is_causal=causal))
        return self.out(self.norm3(h + self.ffn(self.norm2(h))))


def _train(steps, causal=True, ahead=1, twice=False, clear=True):
    """The loss of each step of AdamW, with the bug that was asked for; always from the same seed."""
    torch.manual_seed(0)
    text, model = _speak(2000), _Model()
    optimizer, losses = torch.optim.AdamW(model.parameters(), 0.01, fused=True), []
    for _ in range(steps):
        windows = text[torch.randint(len(text) - LENGTH - 2, (BATCH, 1)) + torch.arange(LENGTH + 2)]
        logits = model(windows[:, :LENGTH], causal)
        logits = logits.softmax(-1) if twice else logits
        loss = functional.cross_entropy(logits.flatten(0, 1), windows[:, ahead : ahead + LENGTH].flatten())
        if clear:
            optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _mean(losses, end):
    return sum(losses[end - 10 : end]) / 10


def a_leak_is_not_seen_at_first():
    """causal_mask.md: next word can be foretold to a loss of 1.39 and no better.
    causal_mask.md: For fifty steps the honest one and the one that leaks could not be told apart.
    causal_mask.md: After 120 the leak had brought it down to less than 0.3
    training.md: It falls as it should, then far below what the text allows
    """
    honest, leaking = _train(50), _train(120, causal=False)
    assert f"{ENTROPY:.2f}" == "1.39" < f"{_mean(honest, 50):.2f}"
    assert abs(_mean(leaking, 50) - _mean(honest, 50)) < 0.1 and _mean(leaking, 120) < 0.3, (honest[-1], leaking[-1])
    return f"at 50 steps {_mean(honest, 50):.2f}, leaking {_mean(leaking, 50):.2f}; at 120 {_mean(leaking, 120):.2f}"


def each_bug_leaves_its_mark():
    """training.md: It goes to 0 quickly
    training.md: It falls a little, crawls, and stays above
    training.md: It falls, then rises or swings wildly
    """
    copied, twice, uncleared = _train(25, ahead=0), _train(25, twice=True), _train(40, clear=False)
    floor = math.log(1 + (VOCABULARY - 1) / math.e)
    assert copied[-1] < 0.2, copied[-1]
    assert floor + 0.3 < min(twice) and twice[0] - twice[-1] < 0.5, (twice[0], twice[-1])
    assert min(uncleared) + 0.5 < max(uncleared[25:]), (min(uncleared), max(uncleared[25:]))
    marks = f"copies {copied[-1]:.2f}, softmax twice {twice[-1]:.2f} over a floor of {floor:.2f}"
    return f"{marks}, gradients never cleared {min(uncleared):.2f} and up to {max(uncleared[25:]):.2f}"
