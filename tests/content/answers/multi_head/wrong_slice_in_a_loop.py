# wrong: hd-embedding-sliced
import torch
from torch.nn import functional as F


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(x.unbind(1), dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    heads = []
    for piece in x.chunk(num_heads, dim=-1):
        q, k, v = F.linear(piece, w_q), F.linear(piece, w_k), F.linear(piece, w_v)
        heads.append(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    return F.linear(torch.cat(heads, dim=-1), w_o)
