# right: CS336 students: type hints, jaxtyping-like comments, einsum with ellipsis
import torch
from torch import Tensor


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    *batch, seq, d_model = x.shape
    d_head = d_model // num_heads
    return torch.einsum("...shd->...hsd", x.reshape(*batch, seq, num_heads, d_head))


def merge_heads(x: Tensor) -> Tensor:
    *batch, heads, seq, d_head = x.shape
    return torch.einsum("...hsd->...shd", x).reshape(*batch, seq, heads * d_head)


def scaled_dot_product_attention(Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
    d_k = Q.shape[-1]
    pre_softmax = torch.einsum("...qd,...kd->...qk", Q, K) * d_k**-0.5
    if mask is not None:
        pre_softmax = torch.where(mask, pre_softmax, float("-inf"))
    weights = torch.softmax(pre_softmax, dim=-1)
    return torch.einsum("...qk,...kd->...qd", weights, V)


def multi_head_attention(
    x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, w_o: Tensor, num_heads: int, mask: Tensor | None = None
) -> Tensor:
    Q, K, V = (
        split_heads(torch.einsum("...i,oi->...o", x, w), num_heads) for w in (w_q, w_k, w_v)
    )
    return torch.einsum("...i,oi->...o", merge_heads(scaled_dot_product_attention(Q, K, V, mask)), w_o)
