# right: a beginner: one loop over heads, prints, asserts
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super(Attention, self).__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_size = int(d_model / num_heads)
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        assert width == self.d_model
        Q, K, V = self.wq(x), self.wk(x), self.wv(x)
        results = []
        for h in range(self.num_heads):
            a, b = h * self.head_size, (h + 1) * self.head_size
            scores = torch.matmul(Q[:, :, a:b], K[:, :, a:b].permute(0, 2, 1)) / self.head_size**0.5
            if mask is not None:
                m = mask
                while m.dim() < 4:
                    m = m.unsqueeze(0)
                m = m.expand(batch, self.num_heads, length, length)[:, h]
                scores = scores.masked_fill(m == False, float("-inf"))
            weights = torch.softmax(scores, dim=2)
            results.append(torch.matmul(weights, V[:, :, a:b]))
        joined = torch.cat(results, dim=2)
        print("joined", joined.shape)
        return self.wo(joined)


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super(FFN, self).__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.activation = nn.GELU()
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        hidden = self.w1(x)
        hidden = self.activation(hidden)
        return self.w2(hidden)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super(TransformerBlock, self).__init__()
        self.norm_first = norm_first
        self.attn = Attention(d_model, num_heads)
        self.ffn = FFN(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        print("block", tuple(x.shape), "pre" if self.norm_first else "post")
        if self.norm_first == True:
            a = self.attn(self.norm1(x), mask)
            x1 = torch.add(x, a)
            f = self.ffn(self.norm2(x1))
            x2 = torch.add(x1, f)
        else:
            a = self.attn(x, mask)
            x1 = self.norm1(torch.add(x, a))
            f = self.ffn(x1)
            x2 = self.norm2(torch.add(x1, f))
        assert x2.shape == x.shape
        return x2
