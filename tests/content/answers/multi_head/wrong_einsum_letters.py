# wrong: at-qk-swapped
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    scores = torch.einsum("bhqd,bhkd->bhkq", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = torch.where(mask, scores, float("-inf"))
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return out.flatten(2) @ w_o.T
