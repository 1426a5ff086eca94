# right: a helper with an lru_cache
from functools import lru_cache

import torch


@lru_cache(maxsize=None)
def _triangle(n, dtype=torch.bool):
    return torch.ones((n, n), dtype=dtype).tril(diagonal=0)


def causal_mask(seq_len, device=None):
    m = _triangle(int(seq_len))
    return m.to(device) if device is not None else m
