# wrong: bl-no-output-projection, at-mask-after-softmax
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    p = torch.softmax(q @ k.transpose(-1, -2) / q.size(-1) ** 0.5, dim=-1)
    if mask is not None:
        p = p.masked_fill(~mask, 0)
    return merge_heads(p @ v)
