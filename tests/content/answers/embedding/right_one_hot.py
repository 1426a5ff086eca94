# right: in the manner of a lecture on linear algebra
import torch
import torch.nn as nn
import torch.nn.functional as F


class Embedding(nn.Module):
    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        one_hot = F.one_hot(ids.long(), num_classes=self.vocab_size).type_as(self.weight)
        return torch.einsum("...v,vd->...d", one_hot, self.weight)
