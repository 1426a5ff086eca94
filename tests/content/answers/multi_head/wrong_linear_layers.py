# wrong: hd-detached, at-half
import torch
from torch import nn


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    layers = []
    for w in (w_q, w_k, w_v, w_o):
        layer = nn.Linear(*w.shape, bias=False).to(w.dtype)
        layer.weight.data.copy_(w)
        layers.append(layer)
    q, k, v = (split_heads(layer(x), num_heads) for layer in layers[:3])
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return layers[3](merge_heads(scores.softmax(-1) @ v))
