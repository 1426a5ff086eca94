# right: d2l: heads folded into the batch for bmm, unfolded at the end
import math

import torch
from torch import nn


def transpose_qkv(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    X = X.permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)


def split_heads(x, num_heads):
    folded = transpose_qkv(x, num_heads)
    return folded.reshape(x.shape[0], num_heads, *folded.shape[1:])


def merge_heads(x):
    return transpose_output(x.reshape(-1, x.shape[2], x.shape[3]), x.shape[1])


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    queries, keys, values = (transpose_qkv(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
    if mask is not None:
        full = mask.expand(x.shape[0], num_heads, x.shape[1], x.shape[1])
        scores[~full.reshape(scores.shape)] = -1e6
    weights = nn.functional.softmax(scores, dim=-1)
    return transpose_output(torch.bmm(weights, values), num_heads) @ w_o.T
