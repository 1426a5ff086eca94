# wrong: tb-target-is-input
import torch
import torch.nn as nn
from torch.nn import functional as F

n_embd = 32
n_head = 2
n_layer = 2
torch.manual_seed(1337)


class Head(nn.Module):
    """one head of self-attention"""

    def __init__(self, head_size, block_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        k = self.key(x)
        q = self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ self.value(x)


class MultiHead(nn.Module):
    def __init__(self, block_size):
        super().__init__()
        self.heads = nn.ModuleList([Head(n_embd // n_head, block_size) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class Block(nn.Module):
    def __init__(self, block_size):
        super().__init__()
        self.sa = MultiHead(block_size)
        self.ffwd = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.ReLU(), nn.Linear(4 * n_embd, n_embd))
        self.ln1 = nn.LayerNorm(n_embd)
        self.ln2 = nn.LayerNorm(n_embd)

    def forward(self, x):
        x = x + self.sa(self.ln1(x))
        x = x + self.ffwd(self.ln2(x))
        return x


class TwoBits(nn.Module):
    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.token_embedding_table = nn.Embedding(vocab_size, n_embd)
        self.position_embedding_table = nn.Embedding(max_len, n_embd)
        self.blocks = nn.Sequential(*[Block(max_len) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size)

    def forward(self, idx):
        B, T = idx.shape
        tok_emb = self.token_embedding_table(idx)
        pos_emb = self.position_embedding_table(torch.arange(T, device=idx.device))
        x = self.blocks(tok_emb + pos_emb)
        return self.lm_head(self.ln_f(x))


def fit(model, data, starts, block_size, report):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for ix in starts:
        xb = torch.stack([data[i : i + block_size] for i in ix])
        yb = torch.stack([data[i : i + block_size] for i in ix])
        logits = model(xb)
        B, T, C = logits.shape
        loss = F.cross_entropy(logits.view(B * T, C), yb.view(B * T))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        report(loss.item())


# try it
text = torch.arange(500) % 7
m = TwoBits(7, 16)
print(sum(p.numel() for p in m.parameters()), "parameters")
losses = []
fit(m, text, torch.randint(0, 400, (30, 4)), 16, losses.append)
print("first", losses[0], "last", losses[-1])
