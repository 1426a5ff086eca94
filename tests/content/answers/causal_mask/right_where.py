# right: torch.where over a zero tensor
import torch

NEG_INF = float("-inf")


def causal_mask(seq_len):
    zeros = torch.zeros(seq_len, seq_len)
    additive = torch.where(torch.tril(torch.ones_like(zeros)).bool(), zeros, torch.full_like(zeros, NEG_INF))
    return torch.isfinite(additive)
