# wrong: hd-weight-not-transposed, at-half
import torch


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, D = x.shape
    d = D // num_heads
    heads = []
    for h in range(num_heads):
        cols = slice(h * d, h * d + d)
        q, k, v = x @ w_q[:, cols], x @ w_k[:, cols], x @ w_v[:, cols]
        s = q @ k.transpose(1, 2) / d**0.5
        if mask is not None:
            s = s.masked_fill(~mask.expand(B, num_heads, T, T)[:, h], -1e9)
        heads.append(torch.softmax(s, -1) @ v)
    return torch.cat(heads, -1) @ w_o.T
