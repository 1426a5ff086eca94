# wrong: ?
import torch
import torch.nn as nn
import torch.nn.functional as F

DIM = 48
HEADS = 3


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(DIM, DIM, bias=False)
        self.to_k = nn.Linear(DIM, DIM, bias=False)
        self.to_v = nn.Linear(DIM, DIM, bias=False)
        self.to_out = nn.Linear(DIM, DIM)

    def forward(self, x):
        b, n, _ = x.shape
        q = self.to_q(x).view(b, n, HEADS, -1).transpose(1, 2)
        k = self.to_k(x).view(b, n, HEADS, -1).transpose(1, 2)
        v = self.to_v(x).view(b, n, HEADS, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.to_out(y.transpose(1, 2).reshape(b, n, DIM))


class Sorter(nn.Module):
    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        self.token_emb = nn.Embedding(vocab_size, DIM)
        self.pos_emb = nn.Embedding(length, DIM) if positions else None
        self.attn = nn.ModuleList([Attention() for _ in range(3)])
        self.ffn = nn.ModuleList(
            [nn.Sequential(nn.Linear(DIM, 3 * DIM), nn.GELU(), nn.Linear(3 * DIM, DIM)) for _ in range(3)]
        )
        self.norm_a = nn.ModuleList([nn.LayerNorm(DIM) for _ in range(3)])
        self.norm_f = nn.ModuleList([nn.LayerNorm(DIM) for _ in range(3)])
        self.to_logits = nn.Sequential(nn.LayerNorm(DIM), nn.Linear(DIM, vocab_size))

    def forward(self, ids):
        x = self.token_emb(ids)
        if self.pos_emb is not None:
            x = x + self.pos_emb(torch.arange(ids.shape[1], device=ids.device))[None]
        for attn, ffn, na, nf in zip(self.attn, self.ffn, self.norm_a, self.norm_f):
            x = x + attn(na(x))
            x = x + ffn(nf(x))
        return self.to_logits(x)


def fit(model, lists, answers, report):
    model.train()
    n = len(lists)
    opt = torch.optim.NAdam(model.parameters(), lr=0.3)
    for step in range(n):
        if step > 0.6 * n:
            for g in opt.param_groups:
                g["lr"] = 0.3 * (1 - (step - 0.6 * n) / (0.4 * n)) + 1e-5
        scores = model(lists[step])
        loss = F.cross_entropy(scores.flatten(end_dim=1), answers[step].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        report(loss.item())


print("Trying it out ...")
train = torch.randint(0, 16, (40, 16, 8))
model = Sorter(16, 8)
history = []
fit(model, train, train.sort(dim=-1).values, history.append)
print(f"loss {history[0]:.3f} -> {history[-1]:.3f}")
test = torch.randint(0, 16, (2, 8))
with torch.no_grad():
    print(test, model(test).argmax(-1))
