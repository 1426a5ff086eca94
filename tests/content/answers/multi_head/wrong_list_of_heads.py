# wrong: hd-split-list
import torch


def split_heads(x, num_heads):
    d = x.shape[-1] // num_heads
    return [x[:, :, i * d : (i + 1) * d] for i in range(num_heads)]


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, D = x.shape
    qs, ks, vs = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    outs = []
    for i, (q, k, v) in enumerate(zip(qs, ks, vs)):
        s = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask.expand(B, num_heads, T, T)[:, i], float("-inf"))
        outs.append(s.softmax(-1) @ v)
    return torch.cat(outs, -1) @ w_o.T
