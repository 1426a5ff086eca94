"""Settings of an autograder, which `autograde` reads in its container."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.files import read_whole

FILE = "settings.json"


@dataclass(frozen=True)
class BundleSettings:
    """The `lessons` to grade, the `seed` of all inputs, the `engine`'s version, and the points for a 10.0.

    With `missing_as_zero` a lesson that was not handed in counts as 0, otherwise not at all. `visibility` says when
    learners see the tests, `reveal` whether they see the inputs of hidden checks.
    """

    lessons: tuple[str, ...]
    seed: int
    engine: str
    out_of: float = 100.0
    missing_as_zero: bool = True
    visibility: str = "visible"
    reveal: bool = False

    def to_json(self) -> str:
        """Return the text of the file."""
        return json.dumps(asdict(self), indent=2) + "\n"

    @classmethod
    def read(cls, folder: Path) -> BundleSettings:
        """Read the settings of the autograder in *folder*."""
        values = json.loads(read_whole(folder / FILE))
        return cls(**{**values, "lessons": tuple(values["lessons"])})
