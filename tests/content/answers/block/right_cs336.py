# right: CS336 students: Linear and LayerNorm of their own, einsum, type hints
import torch
from torch import Tensor, nn


class Linear(nn.Module):
    def __init__(self, d_in: int, d_out: int, bias: bool = False) -> None:
        super().__init__()
        std = (2 / (d_in + d_out)) ** 0.5
        self.weight = nn.Parameter(nn.init.trunc_normal_(torch.empty(d_out, d_in), std=std, a=-3 * std, b=3 * std))
        self.bias = nn.Parameter(torch.zeros(d_out)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        y = torch.einsum("...i,oi->...o", x, self.weight)
        return y if self.bias is None else y + self.bias


class Norm(nn.Module):
    def __init__(self, d: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d))
        self.bias = nn.Parameter(torch.zeros(d))

    def forward(self, x: Tensor) -> Tensor:
        in_dtype = x.dtype
        x = x.to(torch.float64)
        mu = x.mean(dim=-1, keepdim=True)
        variance = ((x - mu) ** 2).mean(dim=-1, keepdim=True)
        normed = (x - mu) * torch.rsqrt(variance + self.eps)
        return normed.to(in_dtype) * self.weight + self.bias


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.h = num_heads
        self.wq, self.wk = Linear(d_model, d_model), Linear(d_model, d_model)
        self.wv, self.wo = Linear(d_model, d_model), Linear(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (w(x).unflatten(-1, (self.h, -1)) for w in (self.wq, self.wk, self.wv))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = torch.where(mask, scores, float("-inf"))
        out = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)
        return self.wo(out.flatten(-2))


class FFN(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1, self.w2 = Linear(d_model, d_ff, bias=True), Linear(d_ff, d_model, bias=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(nn.functional.gelu(self.w1(x)))


class TransformerBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, norm_first: bool = True) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.norm1, self.attn = Norm(d_model), SelfAttention(d_model, num_heads)
        self.norm2, self.ffn = Norm(d_model), FFN(d_model, d_ff)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.norm_first:
            x = x + self.attn(self.norm1(x), mask)
            return x + self.ffn(self.norm2(x))
        x = self.norm1(x + self.attn(x, mask))
        return self.norm2(x + self.ffn(x))
