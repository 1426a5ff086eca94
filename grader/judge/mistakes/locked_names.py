"""Name a known mistake by its answers alone: a release has neither the wrong version nor its name in clear.

Of each recorded probe (all that a public check asks on one seed) there is a salted hash of what each known mistake
answers, rounded. A mistake's name is locked with its answers to all probes of a function together: whoever does not
give them cannot read it.

Rounding would part numbers that differ by an error of rounding; where one lies at a border, both its sides are tried.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from grader.course.learner_copy import ASK_AGAIN
from grader.errors import CourseError
from grader.files import is_file, read_whole
from grader.judge.values.compare import Raised, is_array, to_numpy
from grader.model import Named

GRID = 2e-4  # to which a rounded number is known
BORDER = 0.05  # of a cell of the grid: right work differs by less, and wrong work by far more
FAR = 3.0  # cells, by which two answers must differ to be told apart
NOISE = 1e-6  # a mean magnitude below it is rounding
MAX_BORDERS = 8  # numbers of one answer that are tried on both sides
TAG_BYTES, SECRET_BYTES, INDEX_BYTES = 6, 16, 2
MAX_FILE_BYTES = 16 << 20
PROJECTIONS = 3  # of the values of an array

Probes = dict[str, str]  # by check: the hashes of the answers to it, one after the other


@dataclass(frozen=True)
class Sketch:
    """What is kept of an observation: what must be equal, and numbers, in cells of the grid."""

    exact: str
    numbers: tuple[float, ...]

    def is_far_from(self, other: Sketch) -> bool:
        """Return True if two observations are surely not the same."""
        if self.exact != other.exact:
            return True
        return any(abs(mine - its) > FAR for mine, its in zip(self.numbers, other.numbers, strict=True))

    def hashes(self, salt: str) -> Iterator[bytes]:
        """Yield the hash of the rounded observation, and those of what it would be on the other side of a border."""
        cells = [math.floor(number) for number in self.numbers]
        sides = [_other_side(number - cell) for number, cell in zip(self.numbers, cells, strict=True)]
        borders = [place for place, side in enumerate(sides) if side]
        start = hashlib.sha256(f"{salt}\0{self.exact}\0".encode())
        for size in range(min(len(borders), MAX_BORDERS) + 1):
            for moved in itertools.combinations(borders[:MAX_BORDERS], size):
                found = start.copy()
                found.update(repr([cell + sides[i] * (i in moved) for i, cell in enumerate(cells)]).encode())
                yield found.digest()


def _other_side(above: float) -> int:
    """Return which neighbour a number may belong to as well, by how far above its cell's lower border it is."""
    return -1 if above < BORDER else int(above > 1 - BORDER)


def sketch(observation: Any) -> Sketch:
    """Return what is kept of an observation, a value that is made of plain data, arrays and errors."""
    exact: list[str] = []
    numbers: list[float] = []
    _add(observation, exact, numbers)
    return Sketch(" ".join(exact), tuple(numbers))


def _add(value: Any, exact: list[str], numbers: list[float]) -> None:
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            exact.append(f"{key}:")
            _add(value[key], exact, numbers)
    elif isinstance(value, list | tuple):
        exact.append(f"{type(value).__name__} {len(value)}")
        for each in value:
            _add(each, exact, numbers)
    elif is_array(value):
        exact.append(f"{type(value).__module__} {value.dtype} {tuple(value.shape)}")
        _add_values(to_numpy(value), exact, numbers)
    elif isinstance(value, float):
        exact.append("float")
        _add_values(_numpy().array([value]), exact, numbers)
    elif isinstance(value, Raised):
        exact.append(f"{value.kind} {value.type_name} {value.about}")
    else:
        exact.append(f"{type(value).__name__} {value}")


def _add_values(array: Any, exact: list[str], numbers: list[float]) -> None:
    """Add an array: integers as they are; of others where they are not finite, their magnitude, and projections."""
    numpy = _numpy()
    values = array.ravel()
    if values.dtype.kind not in "fc":
        exact.append(hashlib.sha256(values.tobytes()).hexdigest())
        return
    values = (values.view(values.real.dtype) if values.dtype.kind == "c" else values).astype("float64")
    finite = numpy.isfinite(values)
    if not finite.all():
        strange = numpy.where(finite, 0.0, numpy.nan_to_num(values, nan=1.0, posinf=2.0, neginf=3.0))
        exact.append(hashlib.sha256(strange.astype("uint8").tobytes()).hexdigest())
        values = numpy.where(finite, values, 0.0)
    size = float(numpy.abs(values).sum())
    if size <= NOISE * values.size:
        exact.append("zero")
        return
    numbers.append(math.log(size) / GRID)
    numbers.extend(float(number) / size / GRID for number in _directions(values.size) @ values)


@cache
def _directions(size: int) -> Any:
    """Return fixed factors between -1 and 1 for arrays of a size, the same on every machine."""
    drawn = hashlib.shake_256(f"directions {size}".encode()).digest(4 * PROJECTIONS * size)
    return _numpy().frombuffer(drawn, "<u4").reshape(PROJECTIONS, size) / 2.0**31 - 1.0


def _numpy() -> Any:
    import numpy  # here: a judge that needs none starts without

    return numpy


# --- the file ---------------------------------------------------------------------------------------------------------


@dataclass
class LockedNames:
    """The names of a lesson's mistakes.

    Attributes:
        probes: By function and seed, the probes.
        locks: By function and seed: what stands for all answers of a mistake, and its locked name.
        texts: The locked names: where each lock leads.
    """

    salt: str
    probes: dict[str, Probes] = field(default_factory=dict)
    locks: dict[str, dict[str, str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def add(self, function: str, seed: int, answers: Mapping[str, Sketch], index: int, secret: bytes) -> None:
        """Lock the text number *index*, of which *secret* is the key, with the answers of a mistake."""
        place = f"{function} {seed}"
        digests = [next(answers[probe].hashes(self._salt(place, probe))) for probe in sorted(answers)]
        for probe, digest in zip(sorted(answers), digests, strict=True):
            tags = self.probes.setdefault(place, {}).setdefault(probe, "")
            tag = digest[:TAG_BYTES].hex()
            self.probes[place][probe] = tags if tag in _split(tags) else tags + tag
        tag, key = _join(digests)
        self.locks.setdefault(place, {})[tag] = _mask(index.to_bytes(INDEX_BYTES, "big") + secret, key).hex()

    def add_text(self, named: Named, secret: bytes) -> None:
        """Add the text of a mistake, locked with a secret."""
        text = zlib.compress(json.dumps([named.id, named.says, named.suggests]).encode(), 9)
        self.texts.append(base64.b85encode(_mask(text, secret)).decode())

    def find(self, function: str, seed: int, observe: Callable[[str], Any]) -> list[Named]:
        """Return the mistake whose answers *observe* gives for each probe; none if there is no such."""
        place = f"{function} {seed}"
        probes = self.probes.get(place, {})
        digests = []
        for probe in sorted(probes):
            known = _split(probes[probe])
            hashes = sketch(observe(probe)).hashes(self._salt(place, probe))
            digest = next((one for one in hashes if one[:TAG_BYTES].hex() in known), None)
            if digest is None:
                return []
            digests.append(digest)
        tag, key = _join(digests)
        if tag not in self.locks.get(place, {}):
            return []
        opened = _mask(bytes.fromhex(self.locks[place][tag]), key)
        text = base64.b85decode(self.texts[int.from_bytes(opened[:INDEX_BYTES], "big")])
        id, says, suggests = json.loads(zlib.decompress(_mask(text, opened[INDEX_BYTES:])))
        return [Named(id, function, says, suggests)]

    def _salt(self, place: str, probe: str) -> str:
        return f"{self.salt} {place} {probe}"

    def write(self, path: Path) -> None:
        """Write the file."""
        path.write_text(json.dumps(vars(self), separators=(",", ":")) + "\n", encoding="utf-8")


def read_locked_names(path: Path) -> LockedNames:
    """Read the file; where there is none, no mistake has a name. Raises CourseError for a damaged one."""
    if not is_file(path):
        return LockedNames("")
    try:
        return LockedNames(**json.loads(read_whole(path, MAX_FILE_BYTES)))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise damaged(path) from error


def damaged(path: Path) -> CourseError:
    """Return the error that says that the file cannot be used."""
    return CourseError("this file of the release is damaged", where=str(path), next_step=ASK_AGAIN)


def _split(tags: str) -> set[str]:
    return {tags[place : place + 2 * TAG_BYTES] for place in range(0, len(tags), 2 * TAG_BYTES)}


def _join(digests: Sequence[bytes]) -> tuple[str, bytes]:
    """Return what stands for these answers together, and the key that they make."""
    key = hashlib.sha256(b"".join(digests)).digest()
    return hashlib.sha256(b"tag" + key).digest()[:TAG_BYTES].hex(), key


def _mask(content: bytes, key: bytes) -> bytes:
    """Lock or open content with a key that is used for nothing else."""
    stream = hashlib.shake_256(b"mask" + key).digest(len(content))
    return bytes(one ^ other for one, other in zip(content, stream, strict=True))
