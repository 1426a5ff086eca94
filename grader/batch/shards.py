"""One part of a class, for arrays of independent jobs: `--shard 2/8` grades the second of eight parts.

A learner's part follows from their id alone, so jobs need no communication, and a new learner moves no other. The parts
are joined with `grader merge`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.intake.learner import Learner

FOLDER = "shards"


@dataclass(frozen=True)
class Shard:
    """The part `number` of `of`, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse "2/8". Raises UsageError."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())
        if found and 1 <= int(found[1]) <= int(found[2]):
            return cls(int(found[1]), int(found[2]))
        what = f'"{text}" is no part of a class: parts are counted from 1, as in 1/8 to 8/8'
        raise UsageError(what, next_step="where jobs are numbered from 0, add one: --shard $((INDEX + 1))/8")

    @property
    def file(self) -> Path:
        """The path of its store below the results folder."""
        return Path(FOLDER, f"{self.number}-of-{self.of}.sqlite")

    def holds(self, learner: Learner) -> bool:
        """Return True if a hand-in belongs to this part; all attempts of a learner are in the same."""
        digest = hashlib.sha256(learner.learner.encode("utf-8", "surrogateescape")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
