"""Makes what learners hand in: folders, archives and notebooks for the tiny course."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from content import ROOT

from grader.batch.discover import Learner

TINY = ROOT / "tests" / "courses" / "tiny"
ANSWERS = {name: (TINY / f"solutions/basics/{name}.py").read_text() for name in ("moving_average", "argmax_2d")}
SUMS = """\
import numpy as np


def moving_average(x, window):
    return np.array([x[i : i + window].sum() for i in range(len(x) - window + 1)], dtype=x.dtype)
"""


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def make_zip(path: Path, files: dict[str, str | bytes]) -> Path:
    """An archive with these members, whatever their names."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def make_notebook(*cells: str, **metadata: object) -> str:
    """A notebook of a text cell and these code cells."""
    listed = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps(
        {"nbformat": 4, "metadata": metadata, "cells": [{"cell_type": "markdown", "source": "#"}, *listed]}
    )


def learner_of(path: Path, kind: str) -> Learner:
    """The learner who handed in what lies at `path`."""
    return Learner(path.stem, path, kind, path.stem)
