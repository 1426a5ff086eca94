# right: columns for queries, as a mathematician writes it: V · softmax(KᵀQ)
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    d = torch.tensor(q.shape[-1], dtype=q.dtype, device=q.device)
    S = k @ q.transpose(-2, -1) / torch.sqrt(d)
    if mask is not None:
        S = S.masked_fill(~torch.atleast_2d(mask).transpose(-2, -1), float("-inf"))
    A = torch.softmax(S, dim=-2)
    return (v.transpose(-2, -1) @ A).transpose(-2, -1)
