# right: a matrix for each position
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    i = torch.arange(d // 2, device=x.device)
    a = torch.outer(positions.double(), torch.exp(-2 * i.double() / d * torch.log(torch.tensor(base).double())))
    R = torch.zeros(len(positions), d, d, dtype=torch.float64, device=x.device)
    R[:, 2 * i, 2 * i] = a.cos()
    R[:, 2 * i + 1, 2 * i + 1] = a.cos()
    R[:, 2 * i, 2 * i + 1] = -a.sin()
    R[:, 2 * i + 1, 2 * i] = a.sin()
    return torch.einsum("tij,...tj->...ti", R.to(x.dtype), x)
