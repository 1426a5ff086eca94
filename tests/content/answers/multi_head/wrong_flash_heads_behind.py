# wrong: hd-split-no-transpose
import torch
import torch.nn.functional as F


def split_heads(x, num_heads):
    batch, seq_len, d_model = x.size()
    d_k = d_model // num_heads
    x = x.reshape(batch, seq_len, num_heads, d_k)
    return x.permute(0, 2, 1, 3)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, D = x.shape
    q, k, v = (F.linear(x, w).view(B, T, num_heads, D // num_heads) for w in (w_q, w_k, w_v))
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(y.reshape(B, T, D), w_o)
