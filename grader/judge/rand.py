"""Random inputs for checks and probes: of the course's array library, from a seed that can be replayed."""

from __future__ import annotations

import hashlib
from typing import Any


def derive(*parts: object) -> int:
    """A 63-bit seed that depends on all parts, the same on every machine and in every process."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


class Rand:
    """Draws inputs. `rand(2, 3, 5)` is standard normal, float32, of that shape."""

    def __init__(self, seed: int, arrays: str = "torch") -> None:
        self.seed = seed
        self.arrays = arrays
        if arrays == "torch":
            import torch

            self._generator = torch.Generator().manual_seed(seed)
        else:
            import numpy

            self._numpy = numpy.random.default_rng(seed)

    def __call__(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        """Standard normal entries times `scale`."""
        if self.arrays == "torch":
            import torch

            return torch.randn(shape, generator=self._generator).to(dtype or torch.float32) * scale
        return (self._numpy.standard_normal(shape) * scale).astype(dtype or "float32")

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """Whole numbers from low to high - 1, int64."""
        if self.arrays == "torch":
            import torch

            return torch.randint(low, high, shape, generator=self._generator)
        return self._numpy.integers(low, high, shape)

    def mask(self, *shape: int, keep: float = 0.6) -> Any:
        """A Boolean mask in which every row (last axis) keeps at least one entry and loses at least one, unless the
        row has a single entry; each entry is True with probability `keep`."""
        draws = abs(self(*shape))
        last = shape[-1]
        ordered = draws.argsort(-1) if self.arrays == "torch" else draws.argsort(axis=-1)
        ranks = ordered.argsort(-1) if self.arrays == "torch" else ordered.argsort(axis=-1)
        kept = self.integers(max(1, round(last * keep) - 1), max(2, min(last, round(last * keep) + 1)), *shape[:-1], 1)
        return ranks < kept
