"""Fingerprints of observations: two that differ are told apart without comparing all their values.

Diagnosis compares each submission with hundreds of wrong versions. Nearly all of them differ from it; a fingerprint
shows that in a fraction of the time, and can be kept where the values would take too much memory. Equal fingerprints
prove nothing: then the values themselves are compared.
"""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any, NamedTuple

from grader.judge.values.compare import Raised, is_array, to_numpy
from grader.worker.wire import Opaque

FACTORS = 4096  # values beyond so many are multiplied by the same factors again
ROUNDING = 1e-9  # of all values' sum: far more than rounding can add up to


class Fingerprint(NamedTuple):
    """Sums over all values of an observation.

    Attributes:
        total: The sum of the values, each times the factor of its place. NaN, where a value is NaN, excludes nothing.
        size: The sum of their magnitudes.
        values: How many there are.
    """

    total: float
    size: float
    values: int

    def rules_out(self, other: Fingerprint, atol: float) -> bool:
        """Return True if two observations with these fingerprints cannot be the same within `atol`."""
        if self.values != other.values:
            return True
        return abs(self.total - other.total) > self.values * atol + ROUNDING * (self.size + other.size)


def fingerprint(value: Any) -> Fingerprint:
    """Return the fingerprint of plain data.

    What is the same within `atol` has the same count, and totals within count times `atol`.
    """
    total, size, count = 0.0, 0.0, 0
    factors, _ = _factors()
    for part in _parts(value, []):
        if is_array(part):
            part_total, magnitude, length = _fingerprint_array(part, count)
            form = float(_number_of(f"{tuple(part.shape)} {part.dtype}") % 97)  # only one of that form is the same
            total, size, count = total + part_total + form, size + magnitude + form, count + length
        else:
            number = 0.0
            if isinstance(part, float):
                number = part
            elif part is None or isinstance(
                part, bool | int | str | Raised | Opaque
            ):  # only an equal value is the same
                number = float(_number_of(part) % 9973)
            total, size, count = total + number * factors[count % FACTORS], size + abs(number), count + 1
    return Fingerprint(total, size, count)


def _number_of(part: Any) -> int:
    """Return a number, the same for equal values, and in each process: `hash` of a text is not."""
    if isinstance(part, int):
        return int(part)
    known = f"{part.kind} {part.type_name}" if isinstance(part, Raised) else str(part)
    return zlib.crc32(known.encode("utf-8", "replace"))


def _parts(value: Any, found: list[Any]) -> list[Any]:
    """Collect the arrays and single values in plain data, in an order that is the same for equal structures."""
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            _parts(value[key], found)
    elif isinstance(value, list | tuple):
        for item in value:
            _parts(item, found)
    else:
        found.append(value)
    return found


def _fingerprint_array(array: Any, place: int) -> tuple[float, float, int]:
    import numpy

    values = to_numpy(array).ravel()
    if values.dtype.kind == "c":
        values = values.view(values.real.dtype)
    start, size = place % FACTORS, values.size
    _, factors = _factors()
    used = factors[start : start + size] if size <= FACTORS else numpy.resize(factors, size)
    with numpy.errstate(all="ignore"):
        return float(used @ values), float(numpy.abs(values).sum(dtype="float64")), size


@cache
def _factors() -> tuple[list[float], Any]:
    """Return factors between 0.5 and 1: as a list, and as an array that holds them twice."""
    import numpy

    factors = numpy.random.default_rng(0).uniform(0.5, 1.0, FACTORS)
    return factors.tolist(), numpy.tile(factors, 2)
