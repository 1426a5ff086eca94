# right: CS336 students: jaxtyping-like hints, einsum, torch.where
import math

import torch
from torch import Tensor


def softmax(x: Tensor, dim: int) -> Tensor:
    x = x - x.amax(dim=dim, keepdim=True)
    return x.exp() / x.exp().sum(dim=dim, keepdim=True)


def scaled_dot_product_attention(
    Q: Tensor,  # "batch ... queries d_k"
    K: Tensor,  # "batch ... keys d_k"
    V: Tensor,  # "batch ... keys d_v"
    mask: Tensor | None = None,
) -> Tensor:
    d_k = Q.shape[-1]
    scores = torch.einsum("...qd,...kd->...qk", Q, K) / math.sqrt(d_k)
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(float("-inf"), device=scores.device, dtype=scores.dtype))
    attention_weights = softmax(scores, dim=-1)
    return torch.einsum("...qk,...kd->...qd", attention_weights, V)
