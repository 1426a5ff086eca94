# right: wants nn.Linear at any price, and calls it functionally with the given weight
import torch
from torch import nn
from torch.func import functional_call


def _linear(x, w):
    layer = nn.Linear(w.shape[1], w.shape[0], bias=False, dtype=w.dtype, device=w.device)
    return functional_call(layer, {"weight": w}, (x,))


def split_heads(x, num_heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).swapaxes(1, 2)


def merge_heads(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = map(lambda w: split_heads(_linear(x, w), num_heads), (w_q, w_k, w_v))
    s = q @ k.mT
    s = s / torch.sqrt(torch.tensor(float(q.shape[-1]), dtype=s.dtype))
    if mask is not None:
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
    return _linear(merge_heads(torch.softmax(s, -1) @ v), w_o)
