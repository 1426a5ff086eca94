# right: everything into three axes, bmm, and back
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    *lead, T, d_k = q.shape
    S, d_v = k.shape[-2], v.shape[-1]
    q3, k3, v3 = q.reshape(-1, T, d_k), k.reshape(-1, S, d_k), v.reshape(-1, S, d_v)
    bias = torch.zeros(q3.shape[0], T, S, dtype=q.dtype, device=q.device)
    if mask is not None:
        bias = bias.masked_fill(~mask.expand(*lead, T, S).reshape(-1, T, S), float("-inf"))
    weights = torch.baddbmm(bias, q3, k3.transpose(1, 2), alpha=d_k**-0.5).softmax(dim=2)
    return torch.bmm(weights, v3).reshape(*lead, T, d_v)
