"""Random inputs for checks and probes: of the course's array library, from a seed that can be replayed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from grader.worker.arrays import duplicate

LARGEST_KEPT = 1 << 14  # entries of a draw that is remembered


@lru_cache(maxsize=4096, typed=True)
def derive(*parts: object) -> int:
    """A 63-bit seed that depends on all parts, the same on every machine and in every process."""
    text = "\x1f".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


def worker_seed(seed: int, lesson: str) -> int:
    """What a learner's own random draws begin with. The run's seed, from which the inputs of checks to come could be
    drawn, is not told to their process."""
    return derive(seed, lesson, "worker") % 2**31


class Rand:
    """Draws inputs. `rand(2, 3, 5)` is standard normal, float32, of that shape."""

    def __init__(self, seed: int, arrays: str = "torch") -> None:
        self.seed = seed
        self.arrays = arrays
        self._series = _series(seed, arrays)
        self._place = 0
        self._alone = False  # whether its series is remembered for nobody else

    def __call__(self, *shape: int, scale: float = 1.0, dtype: Any = None) -> Any:
        """Standard normal entries times `scale`."""
        return self._next(("normal", shape, scale, dtype), shape)

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """Whole numbers from low to high - 1, int64."""
        return self._next(("integers", low, high, shape), shape)

    def mask(self, *shape: int, keep: float = 0.6) -> Any:
        """A Boolean mask in which every row (last axis) keeps at least one entry and loses at least one, unless the
        row has a single entry; each entry is True with probability `keep`."""
        return self._next(("mask", shape, keep), shape)

    def _next(self, asked: tuple[Any, ...], shape: Sequence[int]) -> Any:
        place, self._place = self._place, self._place + 1
        too_large = math.prod(shape) > LARGEST_KEPT
        if not self._alone and (too_large or not self._series.goes_on_with(place, asked)):
            self._series, self._alone = self._series.branch(place), True
        return duplicate(self._series.drawn(place, asked))


class _Series:
    """What one seed gives, as it was asked for. In a batch every submission is asked the same on the same inputs: they
    are drawn once, and copied."""

    def __init__(self, seed: int, arrays: str) -> None:
        self.seed, self.arrays = seed, arrays
        self._source: Any = _TorchSource(seed) if arrays == "torch" else _NumpySource(seed)
        self._known: list[tuple[tuple[Any, ...], Any]] = []

    def goes_on_with(self, place: int, asked: tuple[Any, ...]) -> bool:
        """Whether the draw in this place is the one that was asked for here before, or a new one."""
        return place == len(self._known) or self._known[place][0] == asked

    def drawn(self, place: int, asked: tuple[Any, ...]) -> Any:
        """The draw in this place."""
        if place == len(self._known):
            kind, *arguments = asked
            try:
                draw = getattr(self._source, kind)(*arguments)
            except Exception:
                _series.cache_clear()  # half drawn: what follows would not be what the seed gives
                raise
            self._known.append((asked, draw))
        return self._known[place][1]

    def branch(self, place: int) -> _Series:
        """A series of one's own that is the same up to this place."""
        own = _Series(self.seed, self.arrays)
        for earlier, (asked, _) in enumerate(self._known[:place]):
            own.drawn(earlier, asked)
        return own


@lru_cache(maxsize=2048)  # a course has some hundred checks and probes
def _series(seed: int, arrays: str) -> _Series:
    return _Series(seed, arrays)


class _TorchSource:
    def __init__(self, seed: int) -> None:
        import torch

        self._generator = torch.Generator().manual_seed(seed)

    def normal(self, shape: tuple[int, ...], scale: float, dtype: Any) -> Any:
        import torch

        return torch.randn(shape, generator=self._generator).to(dtype or torch.float32) * scale

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Any:
        import torch

        return torch.randint(low, high, shape, generator=self._generator)

    def mask(self, shape: tuple[int, ...], keep: float) -> Any:
        ranks = abs(self.normal(shape, 1.0, None)).argsort(-1).argsort(-1)
        return ranks < self.integers(*_kept(shape[-1], keep), (*shape[:-1], 1))


class _NumpySource:
    def __init__(self, seed: int) -> None:
        import numpy

        self._generator = numpy.random.default_rng(seed)

    def normal(self, shape: tuple[int, ...], scale: float, dtype: Any) -> Any:
        return (self._generator.standard_normal(shape) * scale).astype(dtype or "float32")

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Any:
        return self._generator.integers(low, high, shape)

    def mask(self, shape: tuple[int, ...], keep: float) -> Any:
        ranks = abs(self.normal(shape, 1.0, None)).argsort(axis=-1).argsort(axis=-1)
        return ranks < self.integers(*_kept(shape[-1], keep), (*shape[:-1], 1))


def _kept(length: int, keep: float) -> tuple[int, int]:
    """How many entries of a row are kept: from the first number to one less than the second."""
    return max(1, round(length * keep) - 1), max(2, min(length, round(length * keep) + 1))
