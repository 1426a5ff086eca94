# right: an object per head, and one object that owns them
import torch
import torch.nn.functional as F


class Head:
    def __init__(self, w_q, w_k, w_v):
        self.w_q, self.w_k, self.w_v = w_q, w_k, w_v

    def __call__(self, x, mask):
        q, k, v = F.linear(x, self.w_q), F.linear(x, self.w_k), F.linear(x, self.w_v)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        if mask is not None:
            wei = wei.masked_fill(~mask, float("-inf"))
        return F.softmax(wei, dim=-1) @ v


class MultiHeadAttention:
    def __init__(self, w_q, w_k, w_v, w_o, num_heads):
        d = w_q.shape[0] // num_heads
        self.heads = [Head(*(w[i * d : (i + 1) * d] for w in (w_q, w_k, w_v))) for i in range(num_heads)]
        self.proj = w_o

    def __call__(self, x, mask=None):
        masks = [None] * len(self.heads)
        if mask is not None:
            masks = mask.expand(x.shape[0], len(self.heads), x.shape[1], x.shape[1]).unbind(dim=1)
        out = torch.cat([head(x, m) for head, m in zip(self.heads, masks)], dim=-1)
        return F.linear(out, self.proj)


def split_heads(x, num_heads):
    return torch.stack(x.split(x.shape[-1] // num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return MultiHeadAttention(w_q, w_k, w_v, w_o, num_heads)(x, mask)
