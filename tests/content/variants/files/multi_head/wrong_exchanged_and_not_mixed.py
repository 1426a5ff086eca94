# wrong: bl-no-output-projection, hd-projections-exchanged
import torch


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, -1), 1)


def merge_heads(x):
    return torch.cat(x.unbind(1), -1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    lin = torch.nn.functional.linear
    q, k, v = (split_heads(lin(x, w), num_heads) for w in (w_q, w_v, w_k))
    s = q @ k.mT / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return merge_heads(s.softmax(-1) @ v)
