# wrong: hd-weight-not-transposed
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(torch.einsum("btd,de->bte", x, w), num_heads) for w in (w_q, w_k, w_v))
    att = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.size(-1) ** -0.5
    if mask is not None:
        att = torch.where(mask, att, float("-inf"))
    out = merge_heads(torch.einsum("bhqk,bhkd->bhqd", att.softmax(-1), v))
    return torch.einsum("btd,ed->bte", out, w_o)
