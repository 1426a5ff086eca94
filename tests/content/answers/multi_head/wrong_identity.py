# wrong: ?
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return x
