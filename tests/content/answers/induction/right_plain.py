# right: plain
import math

import torch
from torch import nn


def repeat_runs(tokens, periods):
    rows = []
    for row, period in zip(tokens, periods.tolist(), strict=True):
        places = torch.arange(row.size(0), device=row.device) % period
        rows.append(row[places])
    return torch.stack(rows)


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        d_head = D // self.num_heads
        q = self.wq(x).view(B, T, self.num_heads, d_head).transpose(1, 2)
        k = self.wk(x).view(B, T, self.num_heads, d_head).transpose(1, 2)
        v = self.wv(x).view(B, T, self.num_heads, d_head).transpose(1, 2)
        scores = q @ k.transpose(2, 3) / math.sqrt(d_head)
        mask = torch.tril(torch.ones(T, T, device=x.device)).bool()
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(B, T, D)
        return self.wo(out), weights


class AttentionOnly(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList([Attention(d_model, num_heads) for _ in range(num_layers)])
        self.out = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        T = ids.shape[1]
        x = self.tok(ids) + self.pos(torch.arange(T, device=ids.device))
        all_weights = []
        for layer in self.layers:
            out, weights = layer(x)
            x = x + out
            all_weights.append(weights)
        return self.out(x), torch.stack(all_weights, dim=0)


def fit(model, texts, rate, report):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    loss_function = nn.CrossEntropyLoss()
    model.train()
    for batch in texts:
        optimizer.zero_grad()
        logits, _ = model(batch)
        predictions = logits[:, :-1, :]
        targets = batch[:, 1:]
        loss = loss_function(predictions.reshape(-1, predictions.size(-1)), targets.reshape(-1))
        loss.backward()
        optimizer.step()
        report(loss.item())


def previous_token_score(weights):
    T = weights.shape[-1]
    return sum(weights[..., i, i - 1] for i in range(1, T)) / (T - 1)


def induction_score(weights, period):
    T = weights.shape[-1]
    total = 0
    for i in range(period, T):
        total = total + weights[..., i, i - period + 1]
    return total / (T - period)


def find_period(row):
    T = len(row)
    for p in range(2, T):
        if all(row[t] == row[t - p] for t in range(p, T)):
            return p
    return T


def head_report(model, ids):
    with torch.no_grad():
        _, weights = model(ids)
    L, B, H = weights.shape[:3]
    previous = torch.zeros(L, H, dtype=weights.dtype, device=weights.device)
    induction = torch.zeros(L, H, dtype=weights.dtype, device=weights.device)
    for b in range(B):
        p = find_period(ids[b].tolist())
        previous += previous_token_score(weights[:, b]) / B
        induction += induction_score(weights[:, b], p) / B

    def best(table):
        pairs = [(layer, head) for layer in range(L) for head in range(H)]
        return max(pairs, key=lambda pair: table[pair].item())

    return {
        "previous": previous,
        "induction": induction,
        "previous_head": best(previous),
        "induction_head": best(induction),
    }
