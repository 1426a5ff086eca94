"""What is computed of known mistakes is kept between commands: as plain numbers, which cannot name a mistake."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from support.learn_command import TINY, answer, environment, learn, start_workspace

from grader.course import load
from grader.judge.kept_fingerprints import KeptFingerprints
from grader.judge.values.fingerprint import fingerprint

WRONG = "import numpy as np\n\n\ndef argmax_2d(x):\n    return tuple(np.unravel_index(x.argmin(), x.shape))\n"
MARK = """
from grader.judge.values.compare import Raised
from grader.judge.values.fingerprint import fingerprint
print(fingerprint([None, True, "a word", 7, -1, Raised("raised", "ValueError", "of any kind")]))
"""


@pytest.fixture
def workspace(tmp_path):
    """A learner's folder with a wrong answer."""
    made = start_workspace(tmp_path / "work")
    answer(made, "argmax_2d", WRONG)
    return made


def check(workspace: Path, cache: Path) -> str:
    """What `learn check` says, of which the time it took is no part."""
    done = learn("check", "argmax_2d", "--seed", "1", "--json", cwd=workspace, XDG_CACHE_HOME=str(cache))
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    return json.dumps({**found, "duration_s": 0, "attempt": 0})


def kept_in(cache: Path) -> list[Path]:
    """The files that are kept."""
    return sorted(cache.glob("selfattend/fingerprints/*"))


def test_the_second_command_takes_what_the_first_has_kept(workspace, tmp_path):
    """It says the same, and finds nothing to add."""
    said = check(workspace, tmp_path / "cache")
    (kept,) = kept_in(tmp_path / "cache")
    data = json.loads(kept.read_text())
    before = kept.stat().st_mtime_ns

    assert data["marks"] and data["probes"]
    assert check(workspace, tmp_path / "cache") == said
    assert kept.stat().st_mtime_ns == before


@pytest.mark.slow
def test_what_is_kept_cannot_end_a_check_or_name_another_mistake(workspace, tmp_path):
    """Damaged files count as none; numbers that lie can keep a mistake from being named, and no more."""
    said = check(workspace, tmp_path / "cache")
    (kept,) = kept_in(tmp_path / "cache")
    data = json.loads(kept.read_text())
    named = {each["id"] for each in json.loads(said)["mistakes"]}
    other = {**data, "probes": data["probes"][::-1]}
    few = {**data, "reached": data["reached"][1:]}
    for damaged in ("", "{}", "[" * 100_000, "null", '{"marks": 1}', json.dumps(other), json.dumps(few), "\0"):
        kept.write_text(damaged)
        assert check(workspace, tmp_path / "cache") == said, damaged[:20]
    for value in (0.0, 1e300, float("nan")):
        marks = [[probe, mistakes, value, 0.0, values] for probe, mistakes, _, _, values in data["marks"]]
        kept.write_text(json.dumps({**data, "marks": marks}))
        found = json.loads(check(workspace, tmp_path / "cache"))["mistakes"]
        assert {each["id"] for each in found} <= named


def test_a_cache_folder_that_cannot_be_used_changes_nothing(workspace, tmp_path):
    """A file stands where the folder would be, or the file is a link to one of somebody else's."""
    said = check(workspace, tmp_path / "cache")
    (kept,) = kept_in(tmp_path / "cache")
    (tmp_path / "file").write_text("")
    (tmp_path / "own").write_text("mine")
    kept.unlink()
    kept.symlink_to(tmp_path / "own")

    assert check(workspace, tmp_path / "file") == said
    assert check(workspace, tmp_path / "cache") == said
    assert (tmp_path / "own").read_text() == "mine"


def test_a_changed_course_has_other_fingerprints(tmp_path, monkeypatch):
    """The name of what is kept depends on each of the course's files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    course = shutil.copytree(TINY, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))
    before = KeptFingerprints(load(course))._digest
    file = course / "solutions/basics/argmax_2d.py"
    file.write_text(f"{file.read_text()}\n# changed\n")

    assert KeptFingerprints(load(course))._digest != before


def test_fingerprints_are_the_same_in_each_process():
    """Python draws what `hash` gives of a text anew in each."""
    found = {
        subprocess.run(
            [sys.executable, "-c", MARK], env=environment(PYTHONHASHSEED=seed), capture_output=True, text=True,
            timeout=60, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip

    assert len(found) == 1 and "Fingerprint" in found.pop()
    assert fingerprint("a") != fingerprint("b")


def test_a_fingerprint_tells_shapes_and_dtypes_apart():
    """The same values in another form are another answer: what a mistake does to the form alone is seen at once."""
    column = torch.ones(3, 1)
    marks = {fingerprint(each) for each in (column, column.squeeze(1), column.double(), column.unsqueeze(0))}

    assert len(marks) == 4
