# wrong: ?
import torch


def split_heads(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    out = torch.zeros(x.shape)
    d = q.shape[-1]
    for h in range(num_heads):
        s = q[:, h] @ k[:, h].mT / d**0.5
        if mask is not None:
            s = s.masked_fill(~mask.expand(len(x), num_heads, *s.shape[1:])[:, h], float("-inf"))
        out[..., h * d : (h + 1) * d] = s.softmax(-1) @ v[:, h]
    return out.to(x.dtype) @ w_o.T
