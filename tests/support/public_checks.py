"""The tiny course with public checks, so that it can be released."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from support.hand_ins import TINY


def with_public_checks(root: Path) -> Path:
    """Copy the tiny course to `root`, and mark two checks of each lesson public."""
    shutil.copytree(TINY, root, ignore=shutil.ignore_patterns("__pycache__"))
    for lesson, names in {"moving_average": ("shape", "values"), "argmax_2d": ("two_numbers", "random_grid")}.items():
        for name in names:
            mark(root / f"solutions/basics/test_{lesson}.py", name)
    return root


def mark(path: Path, name: str) -> None:
    """Mark a check public."""
    text = re.sub(
        rf"(@pytest\.mark\.check\(.*)\)\n((?:@.*\n)*def test_{name}\()", r"\1, public=True)\n\2", path.read_text()
    )
    assert text != path.read_text()
    path.write_text(text)
