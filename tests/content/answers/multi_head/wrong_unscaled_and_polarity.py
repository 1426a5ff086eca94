# wrong: at-no-scale, at-mask-inverted
import torch


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    scores = torch.matmul(q, k.transpose(-1, -2))
    if mask is not None:
        scores.masked_fill_(mask, -1e9)
    return torch.matmul(merge_heads(torch.matmul(scores.softmax(-1), v)), w_o.T)
