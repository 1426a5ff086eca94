# right: checks every shape and prints what it sees
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    T, d_k = q.shape[-2:]
    S, d_v = v.shape[-2:]
    assert k.shape[-2:] == (S, d_k), f"keys are {k.shape}"
    scores = q @ k.transpose(-1, -2) / d_k**0.5
    assert scores.shape[-2:] == (T, S)
    print("scores min/max:", scores.min().item(), scores.max().item())
    if mask is not None:
        assert mask.dtype == torch.bool, "mask must be boolean"
        print("mask", tuple(mask.shape), "allowed:", int(mask.sum()))
        scores = torch.masked_fill(scores, torch.logical_not(mask), value=float("-inf"))
    weights = torch.softmax(scores, -1)
    assert torch.allclose(weights.sum(-1), torch.ones_like(weights[..., 0]), atol=1e-4)
    out = weights @ v
    print("out", out.shape)
    return out
