# wrong: gp-not-causal
import torch
import torch.nn as nn


def repeat_runs(tokens, periods):
    t = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
    return torch.take_along_dim(tokens, t.remainder(periods[:, None]), dim=1)


class AttentionOnly(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers):
        super().__init__()
        self.h = num_heads
        self.tok, self.pos = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        lin = lambda: nn.Linear(d_model, d_model, bias=False)  # noqa: E731
        self.layers = nn.ModuleList(
            nn.ModuleDict(dict(wq=lin(), wk=lin(), wv=lin(), wo=lin())) for _ in range(num_layers)
        )
        self.out = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        b, t = ids.shape
        x, seen = self.tok(ids) + self.pos.weight[:t], []
        for m in self.layers:
            q, k, v = (m[n](x).reshape(b, t, self.h, -1) for n in ("wq", "wk", "wv"))
            a = torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5
            a = a.softmax(-1)
            x = x + m["wo"](torch.einsum("bhij,bjhd->bihd", a, v).reshape(b, t, -1))
            seen += [a]
        return self.out(x), torch.stack(seen)


def fit(model, texts, rate, report):
    opt = torch.optim.AdamW(model.train().parameters(), lr=rate)
    for ids in texts:
        loss = nn.functional.cross_entropy(model(ids)[0][:, :-1].mT, ids[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        report(loss.detach())


def previous_token_score(weights):
    return torch.diagonal(weights, offset=-1, dim1=-2, dim2=-1).mean(-1)


def induction_score(weights, period):
    i = torch.arange(period, weights.shape[-1], device=weights.device)
    return weights[..., i, i - period + 1].mean(-1)


@torch.no_grad()
def head_report(model, ids):
    w = model(ids)[1]
    periods = [next(p for p in range(2, len(r)) if torch.equal(r[p:], r[:-p])) for r in ids]
    tables = {
        "previous": previous_token_score(w).mean(1),
        "induction": torch.stack([induction_score(w[:, b], p) for b, p in enumerate(periods)], 1).mean(1),
    }
    best = {f"{k}_head": tuple((v == v.max()).nonzero()[0].tolist()) for k, v in tables.items()}
    return {**tables, **best}
