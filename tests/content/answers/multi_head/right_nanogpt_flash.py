# right: nanoGPT with torch's flash attention
import torch
from torch.nn import functional as F


def split_heads(x, num_heads):
    b, t, c = x.shape
    assert c % num_heads == 0
    return x.reshape(b, t, num_heads, c // num_heads).permute(0, 2, 1, 3)


def merge_heads(x):
    b, h, t, d = x.shape
    return x.permute(0, 2, 1, 3).reshape(b, t, h * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(F.linear(x, w), num_heads) for w in (w_q, w_k, w_v))
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.0, is_causal=False)
    return F.linear(merge_heads(y), w_o)
