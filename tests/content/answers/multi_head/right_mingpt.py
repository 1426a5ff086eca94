# right: minGPT: B, T, C, a fused projection that is split by C
import math

import torch
import torch.nn.functional as F


def split_heads(x, num_heads):
    B, T, C = x.size()
    return x.view(B, T, num_heads, C // num_heads).transpose(1, 2)  # (B, nh, T, hs)


def merge_heads(y):
    B, nh, T, hs = y.size()
    return y.transpose(1, 2).contiguous().view(B, T, nh * hs)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, C = x.size()
    c_attn = torch.cat((w_q, w_k, w_v), dim=0)
    q, k, v = F.linear(x, c_attn).split(C, dim=2)
    q, k, v = split_heads(q, num_heads), split_heads(k, num_heads), split_heads(v, num_heads)
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    if mask is not None:
        att = att.masked_fill(mask == 0, float("-inf"))
    att = F.softmax(att, dim=-1)
    y = att @ v
    return F.linear(merge_heads(y), w_o)
