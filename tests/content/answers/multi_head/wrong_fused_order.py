# wrong: hd-projections-exchanged
import torch
import torch.nn.functional as F


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    qkv = F.linear(x, torch.cat([w_q, w_k, w_v]))
    q, v, k = (split_heads(part, num_heads) for part in qkv.chunk(3, dim=-1))
    return F.linear(merge_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)), w_o)
