# wrong: at-no-softmax
import torch


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    attn = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    if mask is not None:
        attn = attn.masked_fill(~mask, 0.0)
    return merge_heads(attn @ v) @ w_o.T
