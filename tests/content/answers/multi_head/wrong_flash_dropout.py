# wrong: at-dropout-on
import torch
import torch.nn.functional as F


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(F.linear(x, w), num_heads) for w in (w_q, w_k, w_v))
    return F.linear(merge_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1)), w_o)
