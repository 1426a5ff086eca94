# wrong: at-always-causal
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    T, S = q.shape[-2], k.shape[-2]
    if mask is None:
        mask = torch.ones(T, S, dtype=torch.bool, device=q.device).tril()
    scores = torch.einsum("...ik,...jk->...ij", q, k) * q.shape[-1] ** -0.5
    return torch.where(mask, scores, torch.finfo(q.dtype).min).softmax(-1) @ v
