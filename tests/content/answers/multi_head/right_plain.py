# right: the annotated transformer's way: view, transpose, contiguous, view
import math

import torch


def attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -torch.inf)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value)


def split_heads(x, num_heads):
    nbatches = x.size(0)
    return x.view(nbatches, -1, num_heads, x.size(-1) // num_heads).transpose(1, 2)


def merge_heads(x):
    nbatches, h, _, d_k = x.shape
    return x.transpose(1, 2).contiguous().view(nbatches, -1, h * d_k)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    query, key, value = [split_heads(torch.matmul(x, w.t()), num_heads) for w in (w_q, w_k, w_v)]
    return torch.matmul(merge_heads(attention(query, key, value, mask)), w_o.t())
