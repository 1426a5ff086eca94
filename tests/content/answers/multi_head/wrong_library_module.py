# wrong: forbidden-call
import torch
from torch import nn


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    mha = nn.MultiheadAttention(x.size(-1), num_heads, bias=False, batch_first=True)
    mha.in_proj_weight.data = torch.cat([w_q, w_k, w_v])
    mha.out_proj.weight.data = w_o
    return mha(x, x, x, attn_mask=None if mask is None else ~mask)[0]
