# wrong: in-period-by-token
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  the field's name


def repeat_runs(tokens, periods):
    """Let each row begin again and again: row b after periods[b] tokens."""
    steps = torch.arange(tokens.size(1), device=tokens.device)  # (T,)  # step: steps
    # (T,) % (B, 1) -> (B, T)
    sources = steps % periods.unsqueeze(1)  # step: sources
    return tokens.gather(1, sources)  # (B, T)  # step: repeated


class AttentionOnly(nn.Module):
    """A causal model of attention alone, which shows where it looks."""

    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers):
        super().__init__()
        self.num_heads = num_heads
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)  # step: pos
        names = ("wq", "wk", "wv", "wo")
        self.layers = nn.ModuleList()
        for _ in range(num_layers):
            layer = nn.ModuleDict()
            for name in names:
                layer[name] = nn.Linear(d_model, d_model, bias=False)
            self.layers.append(layer)
        self.out = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, ids):
        """Give the logits of the next token, and all weights."""
        # (B, T) -> (B, T, D)
        x = self.tok(ids) + self.pos.weight[: ids.size(1)]  # step: embed
        maps = []
        for layer in self.layers:
            heads, weights = self.attend(layer, x)  # step: attend
            x = x + layer["wo"](heads)  # (B, T, D)  # step: add
            maps.append(weights)  # step: keep
        logits = self.out(x)  # (B, T, V)  # step: logits
        return logits, torch.stack(maps)  # (L, B, H, T, T)  # step: both

    def attend(self, layer, x):
        """Give what the heads of a layer read, side by side, and where."""
        # (B, T, D) -> (B, H, T, d_head)
        names = ("wq", "wk", "wv")
        q, k, v = (self.split_heads(layer[name](x)) for name in names)  # step: project
        # (B, H, T, T)
        scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5  # step: score
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)  # step: later
        hidden = scores.masked_fill(later, float("-inf"))  # step: hide
        weights = hidden.softmax(dim=-1)  # step: weigh
        heads = weights @ v  # (B, H, T, d_head)  # step: read
        return heads.transpose(1, 2).flatten(2), weights  # step: merge

    def split_heads(self, x):
        """Cut the last axis into heads and bring their axis forward."""
        # (B, T, H, d_head)
        parts = x.unflatten(-1, (self.num_heads, -1))  # step: split
        return parts.transpose(1, 2)  # step: forward


def fit(model, texts, rate, report):
    """Train a model to say which token comes next: one step a batch."""
    model.train()  # step: enter
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)  # step: optimizer
    for ids in texts:  # step: batches
        logits, _ = model(ids)  # (B, T, V)  # step: guess
        # each place but the last, and the token that comes next
        flat, right = logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()  # step: shift
        loss = F.cross_entropy(flat, right)  # ()  # step: loss
        optimizer.zero_grad()  # step: clear
        loss.backward()  # step: pull
        optimizer.step()  # step: move
        report(loss.item())  # step: tell


def previous_token_score(weights):
    """Measure how much a head looks at the token just before."""
    before = weights.diagonal(-1, -2, -1)  # (..., T - 1)  # step: before
    return before.mean(dim=-1)  # (...)  # step: previous_mean


def induction_score(weights, period):
    """Measure how much a head looks at what followed the last time."""
    # each query with the key period - 1 before it: (..., T - period)
    after = weights.diagonal(1 - period, -2, -1)[..., 1:]  # step: after
    return after.mean(dim=-1)  # (...)  # step: induction_mean


def head_report(model, ids):
    """Measure all heads of a model, and name the best two."""
    _, weights = model(ids)  # (L, B, H, T, T)  # step: look
    previous = previous_token_score(weights).mean(dim=1)  # (L, H)  # step: previous
    rows = []
    for number, row in enumerate(ids):  # step: rows
        # how long ago the last token was read the time before
        before = (row[:-2] == row[-1]).nonzero()[-1].item()
        period = len(row) - 1 - before
        rows.append(induction_score(weights[:, number], period))  # step: measure
    induction = torch.stack(rows).mean(dim=0)  # (L, H)  # step: induction
    heads = induction.size(1)  # step: heads
    # the place of the largest in the flattened table is layer * H + head
    before = divmod(previous.argmax().item(), heads)  # step: first_head
    after = divmod(induction.argmax().item(), heads)  # step: second_head
    found = {"previous": previous, "induction": induction}  # step: found
    return found | {"previous_head": before, "induction_head": after}  # step: report
