# wrong: at-mask-after-softmax
import torch


def split_heads(x, num_heads):
    batch, seq_len, d_model = x.size()
    d_k = d_model // num_heads
    x = x.reshape(batch, seq_len, num_heads, d_k)
    return x.permute(0, 2, 1, 3)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    weights = torch.softmax(q @ k.transpose(-1, -2) / q.size(-1) ** 0.5, dim=-1)
    if mask is not None:
        weights = weights * mask.float()
    return merge_heads(weights @ v) @ w_o.T
