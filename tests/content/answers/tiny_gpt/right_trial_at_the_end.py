# right: a short file, rope by stacking, with a training trial at its end under no main guard
import torch
from torch import nn
import torch.nn.functional as F


def rope(x, base=10000.0):
    *_, T, d = x.shape
    i = torch.arange(d // 2, device=x.device)
    theta = base ** (-2 * i / d)
    m = torch.arange(T, device=x.device)
    ang = (m[:, None] * theta[None, :]).to(x.dtype)
    x1, x2 = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([x1 * ang.cos() - x2 * ang.sin(), x1 * ang.sin() + x2 * ang.cos()], -1).flatten(-2)


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        B, T, C = x.size()
        hd = C // self.heads
        q = self.wq(x).view(B, T, self.heads, hd).transpose(1, 2)
        k = self.wk(x).view(B, T, self.heads, hd).transpose(1, 2)
        v = self.wv(x).view(B, T, self.heads, hd).transpose(1, 2)
        q, k = rope(q), rope(k)
        att = (q @ k.transpose(-2, -1)) * hd**-0.5
        causal = torch.tril(torch.ones(T, T, device=x.device))
        att = att.masked_fill(causal == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.wo(y)


class Mlp(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden)
        self.act = nn.GELU()
        self.w2 = nn.Linear(hidden, dim)

    def forward(self, x):
        return self.w2(self.act(self.w1(x)))


class Layer(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn, self.ffn = SelfAttention(dim, heads), Mlp(dim, hidden)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(Layer(d_model, num_heads, d_ff))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids):
        x = self.tok(ids)
        for b in self.blocks:
            x = b(x)
        return self.norm(x) @ self.tok.weight.t()


text = "hello world, this is a small text. " * 20
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])
model = TinyGPT(len(chars), 16, 2, 1, 32)
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(20):
    ix = torch.randint(0, len(data) - 17, (4,))
    x = torch.stack([data[i : i + 16] for i in ix])
    y = torch.stack([data[i + 1 : i + 17] for i in ix])
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss after 20 steps:", loss.item())
