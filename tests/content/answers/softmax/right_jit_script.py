# right: scripts its helper, as speed-minded people do
import torch


@torch.jit.script
def _stable(x: torch.Tensor, dim: int) -> torch.Tensor:
    e = torch.exp(x - torch.amax(x, dim=[dim], keepdim=True))
    return e / e.sum(dim=dim, keepdim=True)


def softmax(x, dim=-1):
    return _stable(x, dim)
