# right: the model is asked text by text
import torch
from torch import nn
from torch.nn import functional as F


def repeat_runs(tokens, periods):
    ids = tokens.clone()
    for b in range(tokens.size(0)):
        p = int(periods[b])
        for t in range(p, tokens.size(1)):
            ids[b, t] = ids[b, t - p]
    return ids


class Head(nn.Module):
    pass


class AttentionOnly(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            layer = Head()
            for name in "qkvo":
                setattr(layer, f"w{name}", nn.Linear(d_model, d_model, bias=False))
            self.layers.append(layer)
        self.out = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        steps = ids.size(1)
        x = self.tok(ids) + self.pos.weight[:steps].unsqueeze(0)
        places = torch.arange(steps, device=ids.device)
        visible = places[None, :] <= places[:, None]
        every = []
        for layer in self.layers:
            read, maps = [], []
            for q, k, v in zip(*(lin(x).split(self.d_head, -1) for lin in (layer.wq, layer.wk, layer.wv)), strict=True):
                scores = torch.bmm(q, k.transpose(1, 2)) / self.d_head**0.5
                scores = torch.where(visible, scores, torch.full_like(scores, -1e30))
                maps.append(F.softmax(scores, dim=-1))
                read.append(maps[-1] @ v)
            x = x + layer.wo(torch.cat(read, dim=-1))
            every.append(torch.stack(maps, dim=1))
        return self.out(x), torch.stack(every)


def fit(model, texts, rate, report):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    model.train()
    for batch in texts:
        logits = model(batch)[0]
        each = [F.cross_entropy(scores[:-1], row[1:]) for scores, row in zip(logits, batch)]
        loss = sum(each) / len(each)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        report(loss.item())


def previous_token_score(weights):
    return weights[..., 1:, :-1].diagonal(dim1=-2, dim2=-1).mean(dim=-1)


def induction_score(weights, period):
    return weights[..., period:, 1:].diagonal(dim1=-2, dim2=-1).mean(dim=-1)


def head_report(model, ids):
    before, after = [], []
    for row in ids:
        _, weights = model(row.unsqueeze(0))
        weights = weights[:, 0].detach()
        period = 2
        while (row[period:] != row[: len(row) - period]).any():
            period += 1
        before.append(previous_token_score(weights))
        after.append(induction_score(weights, period))
    report = {"previous": torch.stack(before).mean(0), "induction": torch.stack(after).mean(0)}
    for name in ("previous", "induction"):
        place = int(torch.argmax(report[name]))
        width = report[name].shape[1]
        report[name + "_head"] = (place // width, place % width)
    return report
