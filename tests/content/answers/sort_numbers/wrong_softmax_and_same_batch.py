# wrong: so-softmax-before-loss, so-same-batch
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

D, H, FF, LAYERS = 64, 4, 128, 2


class EncoderBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)
        self.up = nn.Linear(D, FF)
        self.down = nn.Linear(FF, D)
        self.n1 = nn.LayerNorm(D)
        self.n2 = nn.LayerNorm(D)

    def attend(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, H, D // H).unbind(dim=2)
        w = torch.einsum("bihd,bjhd->bhij", q, k) * (D // H) ** -0.5
        w = w.softmax(-1)
        return self.proj(torch.einsum("bhij,bjhd->bihd", w, v).reshape(B, T, D))

    def forward(self, x):
        x = x + self.attend(self.n1(x))
        return x + self.down(F.relu(self.up(self.n2(x))))


class Sorter(nn.Module):
    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, D)
        self.positions = positions
        if positions:
            self.place = nn.Parameter(0.1 * torch.randn(length, D))
        self.stack = nn.ModuleList([EncoderBlock() for _ in range(LAYERS)])
        self.final = nn.LayerNorm(D)
        self.classify = nn.Linear(D, vocab_size)

    def forward(self, ids):
        x = self.emb(ids)
        if self.positions:
            x = x + self.place
        for block in self.stack:
            x = block(x)
        return self.classify(self.final(x))


def fit(model, lists, answers, report):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    steps = len(lists)
    model.train()
    for i in range(steps):
        lr = 3e-3 * min(1, (i + 1) / 60) * 0.5 * (1 + math.cos(math.pi * i / steps))
        for g in opt.param_groups:
            g["lr"] = lr
        logits = model(lists[0]).softmax(dim=-1)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), answers[0].view(-1))
        report(loss.item())
        opt.zero_grad()
        loss.backward()
        opt.step()
