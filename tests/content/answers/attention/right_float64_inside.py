# right: computes in float64 and casts back
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    dtype = q.dtype
    q, k, v = q.double(), k.double(), v.double()
    scores = torch.einsum("...td,...sd->...ts", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    return (torch.softmax(scores, dim=-1) @ v).to(dtype)
