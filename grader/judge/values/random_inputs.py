"""Random inputs for checks and probes: of the course's array library, from a seed that can be replayed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

KEY_BITS = 256  # of what is derived from a key: torch's generator takes 32 bits of a seed, of which all can be tried


@lru_cache(maxsize=4096, typed=True)
def derive(*parts: object) -> int:
    """Derive a seed from all parts, the same on every machine and in every process.

    It has 63 bits, unless the first part is a key: what is drawn from a key leads to nothing else that is.
    """
    text = "\x1f".join(map(str, parts)).encode()
    digest = hashlib.sha256(text).digest()
    if is_key(parts[0]):
        return int.from_bytes(digest, "big") | 1 << KEY_BITS
    return int.from_bytes(digest[:8], "big") >> 1


def is_key(seed: object) -> bool:
    """Return True for a seed that is longer than any that somebody types, as a run's own are."""
    return isinstance(seed, int) and seed >> 64 > 0


def draw(*shape: int, scale: float = 1.0, dtype: Any = None) -> Callable[[Rand], Any]:
    """Return an argument that is yet to be drawn, for `MistakeSet.ask`."""
    return lambda rand: rand(*shape, scale=scale, dtype=dtype)


class Rand:
    """Draws inputs. `rand(2, 3, 5)` is standard normal, float32, of that shape."""

    def __init__(self, seed: int, arrays: str = "torch") -> None:
        self.seed = seed
        self.arrays = arrays
        of_torch = _TensorsByNumpy if is_key(seed) else _TorchSource
        self._source: Any = (of_torch if arrays == "torch" else _NumpySource)(seed)

    def __call__(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        """Draw standard normal entries times `scale`."""
        return self._draw("normal", shape, scale, dtype)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """Draw integers from low to high - 1, int64."""
        return self._draw("integers", low, high, shape)

    def sizes(self, count: int, low: int = 2) -> list[int]:
        """Draw `count` different sizes from `low` on, in rising order, that nobody can know by heart."""
        steps = [int(step) for step in self.integers(1, 5, count)]
        return [low - 1 + sum(steps[: index + 1]) for index in range(count)]

    def large(self, most: int = 700) -> int:
        """Draw a size from half of *most* on: code that is right up to some size only has to fail a check."""
        return int(self.integers(most // 2, most + 1, 1)[0])

    def mask(self, *shape: int, keep: float = 0.6) -> Any:
        """Draw a Boolean mask in which each entry is True with probability `keep`.

        Every row (last axis) keeps at least one entry and loses at least one, unless the row has a single entry.
        """
        return self._draw("mask", shape, keep)

    def _draw(self, kind: str, *parts: Any) -> Any:
        return getattr(self._source, kind)(*parts)


class _TorchSource:
    def __init__(self, seed: int) -> None:
        import torch

        self._generator = torch.Generator().manual_seed(seed)

    def normal(self, shape: tuple[int, ...], scale: float, dtype: Any) -> Any:
        import torch

        drawn = torch.randn(shape, generator=self._generator).to(dtype or torch.float32)
        return drawn if scale == 1.0 else drawn * scale

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Any:
        import torch

        return torch.randint(low, high, shape, generator=self._generator)

    def mask(self, shape: tuple[int, ...], keep: float) -> Any:
        return _draw_mask(self.normal(shape, 1.0, None), self.integers, keep)


class _NumpySource:
    def __init__(self, seed: int) -> None:
        import numpy

        self._generator = numpy.random.default_rng(seed)

    def normal(self, shape: tuple[int, ...], scale: float, dtype: Any) -> Any:
        return (self._generator.standard_normal(shape) * scale).astype(dtype or "float32")

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Any:
        return self._generator.integers(low, high, shape)

    def mask(self, shape: tuple[int, ...], keep: float) -> Any:
        return _draw_mask(self.normal(shape, 1.0, None), self.integers, keep)


class _TensorsByNumpy(_NumpySource):
    """Torch's tensors with the numbers of numpy's generator, which takes the whole of a key."""

    def normal(self, shape: tuple[int, ...], scale: float, dtype: Any) -> Any:
        import torch

        drawn = torch.as_tensor(super().normal(shape, 1.0, None)).to(dtype or torch.float32)
        return drawn if scale == 1.0 else drawn * scale

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Any:
        import torch

        return torch.as_tensor(super().integers(low, high, shape))


def _draw_mask(normal: Any, integers: Any, keep: float) -> Any:
    """Return a mask of the places in each row of *normal* with the smallest numbers, so many as are drawn."""
    ranks = abs(normal).argsort(-1).argsort(-1)
    return ranks < integers(*_kept(normal.shape[-1], keep), (*normal.shape[:-1], 1))


def _kept(length: int, keep: float) -> tuple[int, int]:
    """Return the bounds of how many entries of a row are kept; the second is exclusive."""
    return max(1, round(length * keep) - 1), max(2, min(length, round(length * keep) + 1))
