"""The instructor's guide is true: a class of four goes the whole way from Canvas's zip to a file for Canvas."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from pathlib import Path

import pytest
from support.course_files import ROOT
from support.documents import BLOCK, first_missing, sessions, shell

GUIDE = (ROOT / "docs" / "instructors.md").read_text()
OVERFLOWS = "import torch\n\n\ndef softmax(x, dim=-1):\n    e = torch.exp(x)\n    return e / e.sum(dim, keepdim=True)\n"
GRADES = """\
Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (777),Final Score
    Points Possible,,,,,20,(read only)
"Lovelace, Ada",1001,s1,ada,DL1,,80
"Turing, Alan",1002,s2,alan,DL1,,70
"Noether, Emmy",1003,s3,emmy,DL1,,90
"Hopper, Grace",1004,s4,grace,DL1,,85
"Johnson, Katherine",1005,s5,kj,DL1,,88
"""


def hand_in(folder: Path) -> None:
    """What Canvas gives: the zip of all submissions, and the gradebook."""
    softmax = (ROOT / "solutions/core/softmax.py").read_text()
    attention = (ROOT / "solutions/core/attention.py").read_text()
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        archive.writestr("lovelaceada_1001_50001_softmax.py", softmax)
        archive.writestr("lovelaceada_1001_50002_attention.py", attention)
        archive.writestr("turingalan_1002_50003_softmax.py", softmax)
        archive.writestr("turingalan_LATE_1002_50004_attention-1.py", attention.replace(" ** 0.5", ""))
        archive.writestr("noetheremmy_1003_50005_softmax.py", OVERFLOWS)
        archive.writestr("johnsonkatherine_1005_50006_softmax.py", softmax)
        archive.writestr("johnsonkatherine_1005_50007_attention.py", attention)
    (folder / "Grades-DL1.csv").write_text(GRADES)
    (listed,) = (text for kind, text in BLOCK.findall(GUIDE) if kind == "csv")
    (folder / "class.csv").write_text(listed)


@pytest.mark.slow
def test_the_whole_way(tmp_path):
    """Every command of the guide works as it stands there, and prints what the guide shows."""
    hand_in(tmp_path)
    (toml,) = (text for kind, text in BLOCK.findall(GUIDE) if kind == "toml")
    (tmp_path / "homework1.toml").write_text(toml)
    for text in (text for kind, text in BLOCK.findall(GUIDE) if kind == "console"):
        for command, shown in sessions(text):
            done = shell(command, tmp_path, one_core=True)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            missing = first_missing(shown, done.stderr + done.stdout)
            assert not missing, f"{command} does not print\n{missing}\nbut\n{done.stderr}{done.stdout}"
    with (tmp_path / "upload.csv").open(newline="") as file:
        filled = {row["ID"]: row["Homework 1 (777)"] for row in csv.DictReader(file)}
    assert filled["1001"] == filled["1005"] == "20.00" and filled["1003"] == filled["1004"] == ""
    results = json.loads((tmp_path / "results" / "results.json").read_text())
    for key in {*results, *results["submissions"][0]} - {"schema"}:
        assert f"`{key}`" in GUIDE, key
    for name in re.findall(r"^\| `([\w.]+)` \|", GUIDE, re.MULTILINE):
        assert (tmp_path / "results" / name).is_file(), name


def test_options_in_the_guide_exist(tmp_path):
    """Every option that the guide names is one of its command's."""
    for command, rest in re.findall(
        r"grader (run|export|merge|report|override|return|release|bundle gradescope|bundle github)\b([^`\n]*)", GUIDE
    ):
        helped = shell(f"grader {command} --help", tmp_path).stdout
        for option in re.findall(r"--[a-z-]+", rest):
            assert option in helped, f"grader {command} {option}"
