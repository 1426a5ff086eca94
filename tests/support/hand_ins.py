"""Makes what learners hand in: folders, archives and notebooks for the tiny course."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from grader.intake.learner import Entry, Learner
from support.course_files import ROOT

TINY = ROOT / "tests" / "courses" / "tiny"
ANSWERS = {name: (TINY / f"solutions/basics/{name}.py").read_text() for name in ("moving_average", "argmax_2d")}
# Options for honest code where nothing isolates it; hostile code needs `support.outer_sandbox` round it.
ON_TRUST = ("--isolation", "process", *(() if os.name != "posix" or os.geteuid() else ("--as-root",)))
SUMS = """\
import numpy as np


def moving_average(x, window):
    return np.array([x[i : i + window].sum() for i in range(len(x) - window + 1)], dtype=x.dtype)
"""


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def make_zip(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Make an archive with these members, whatever their names."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def make_tar(path: Path, files: Mapping[str, str | bytes], form: int = tarfile.PAX_FORMAT) -> Path:
    """Make a .tar, packed if its name says so, with these members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz", format=form) as archive:
        for name, content in files.items():
            add_member(archive, name, content.encode() if isinstance(content, str) else content)
    return path


def add_member(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Put a file into an open .tar, whatever its name."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def make_notebook(*cells: str, **metadata: object) -> str:
    """Make a notebook of a text cell and these code cells."""
    listed = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps(
        {"nbformat": 4, "metadata": metadata, "cells": [{"cell_type": "markdown", "source": "#"}, *listed]}
    )


def learner_of(path: Path, kind: str) -> Learner:
    """Make the learner who handed in the file or folder at *path*."""
    return Learner(path.stem, (Entry(path.name, path, kind),), path.stem)
