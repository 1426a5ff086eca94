"""What an autograder was made for: read by `autograde` in its container."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "settings.json"


@dataclass(frozen=True)
class BundleSettings:
    """`lessons` to grade, the `seed` of everybody's inputs, and what a 10.0 is worth. `missing_as_zero`: a lesson that
    was not handed in counts as 0, not at all otherwise. `visibility`: when learners see the tests. `reveal`: whether
    they see the inputs of hidden checks. `engine`: the version that made it."""

    lessons: tuple[str, ...]
    seed: int
    engine: str
    out_of: float = 100.0
    missing_as_zero: bool = True
    visibility: str = "visible"
    reveal: bool = False

    def to_json(self) -> str:
        """The file's text."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def read(cls, folder: Path) -> BundleSettings:
        """The settings of the autograder that lies in `folder`."""
        values = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return cls(**{**values, "lessons": tuple(values["lessons"])})
