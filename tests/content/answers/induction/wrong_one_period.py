# wrong: in-fixed-period-data, in-period-fixed
import torch
from torch import nn


def repeat_runs(tokens, periods):
    B, T = tokens.shape
    t = torch.arange(T, device=tokens.device).repeat(B, 1)
    source = t - torch.div(t, periods[0], rounding_mode="floor") * periods[0]
    rows = torch.arange(B, device=tokens.device).view(B, 1)
    return tokens[rows, source]


class AttentionOnly(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers):
        super().__init__()
        self.H = num_heads
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList(
            [nn.ModuleDict({n: nn.Linear(d_model, d_model, bias=False) for n in ["wq", "wk", "wv", "wo"]})
             for _ in range(num_layers)]
        )  # fmt: skip
        self.out = nn.Linear(d_model, vocab_size, bias=False)

    def _split(self, x):
        B, T, D = x.shape
        return x.reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)

    def forward(self, ids):
        T = ids.size(1)
        x = self.tok(ids) + self.pos.weight[:T]
        maps = []
        for layer in self.layers:
            q, k, v = self._split(layer["wq"](x)), self._split(layer["wk"](x)), self._split(layer["wv"](x))
            s = torch.matmul(q * q.size(-1) ** -0.5, k.mT)
            s = s.masked_fill(torch.ones_like(s[0, 0]).triu(diagonal=1) == 1, float("-inf"))
            s = s - s.amax(-1, keepdim=True)
            w = s.exp() / s.exp().sum(-1, keepdim=True)
            x = x + layer["wo"](torch.matmul(w, v).permute(0, 2, 1, 3).flatten(-2))
            maps.append(w)
        return self.out(x), torch.stack(maps)


def _on(weights, distance, first):
    i = torch.arange(weights.size(-1), device=weights.device)
    picked = (i[:, None] - i[None, :] == distance) & (i[:, None] >= first)
    return (weights * picked).sum((-2, -1)) / picked.sum()


def fit(model, texts, rate, report):
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for step in range(texts.size(0)):
        ids = texts[step]
        logs = model(ids)[0].log_softmax(dim=-1)
        rows, places = torch.arange(ids.size(0))[:, None], torch.arange(ids.size(1) - 1)
        loss = -logs[rows, places, ids[:, 1:]].mean()
        model.zero_grad()
        loss.backward()
        optimizer.step()
        report(float(loss))


def previous_token_score(weights):
    return _on(weights, 1, 1).to(weights.dtype)


def induction_score(weights, period):
    return _on(weights, period - 1, period).to(weights.dtype)


def head_report(model, ids):
    logits, weights = model(ids)
    T = ids.size(1)
    scores = []
    for b in range(ids.size(0)):
        fitting = [p for p in range(2, T) if (ids[0, p:] == ids[0, : T - p]).all()]
        scores.append(induction_score(weights[:, b], min(fitting)))
    previous, induction = previous_token_score(weights).mean(1), torch.stack(scores, -1).mean(-1)
    L, H = previous.shape
    place = lambda t: tuple(int(n) for n in torch.unravel_index(t.argmax(), (L, H)))  # noqa: E731
    return dict(previous=previous, induction=induction, previous_head=place(previous), induction_head=place(induction))
