# right: modern Python: from __future__ import annotations, a dataclass, Optional
from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import torch


@dataclass(frozen=True)
class Scores:
    raw: torch.Tensor
    d_k: int

    def scaled(self) -> torch.Tensor:
        return self.raw / self.d_k**0.5


def scaled_dot_product_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: Optional[torch.Tensor] = None
) -> torch.Tensor:
    scores = Scores(torch.einsum("...qd, ...kd -> ...qk", q, k), q.size(-1)).scaled()
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    return torch.softmax(scores, dim=-1) @ v


if __name__ == "__main__":
    print(scaled_dot_product_attention(torch.eye(2), torch.eye(2), torch.eye(2)))
