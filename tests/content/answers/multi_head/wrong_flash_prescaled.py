# wrong: at-scale-dk
import torch
import torch.nn.functional as F


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    d_head = x.shape[-1] // num_heads
    q, k, v = (split_heads(F.linear(x, w), num_heads) for w in (w_q, w_k, w_v))
    heads = F.scaled_dot_product_attention(q / d_head**0.5, k, v, attn_mask=mask)
    return F.linear(merge_heads(heads), w_o)
