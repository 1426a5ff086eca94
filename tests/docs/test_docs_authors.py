"""The author's guide is true: its files make a course, and its commands print what it shows."""

from __future__ import annotations

import json
import re

from support.course_files import ROOT
from support.documents import first_missing, sessions, shell

from grader.api import checks, pictures
from grader.course.syllabus import read_syllabus
from grader.judge.mistakes.common_mistakes import COMMON_MISTAKES
from grader.model import SKILLS, Limits
from grader.quiz.kinds import KINDS

GUIDE = (ROOT / "docs" / "authors.md").read_text()
PART = re.compile(r"(?:^`([\w./-]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_a_lesson_from_nothing(tmp_path):
    """Its files pass the audit in the order of the page, the solution is solved, and two mistakes at once are named."""
    by_hand = 0
    for path, kind, text in PART.findall(GUIDE):
        if path:
            (tmp_path / path).write_text(text)
            by_hand += len([line for line in text.splitlines() if line.strip()])
        elif kind == "console":
            for command, shown in sessions(text):
                done = shell(command, tmp_path)
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                missing = first_missing(shown, done.stdout)
                assert not missing, f"{command} does not print\n{missing}\nbut\n{done.stdout}"
    assert "10.0" in done.stdout
    assert by_hand < 150  # with the statement and the text
    two = "import torch\n\n\ndef softmax(x, dim=-1):\n    powers = x.exp()\n    return powers / powers.sum()\n"
    (tmp_path / "work" / "core" / "softmax.py").write_text(two)
    done = shell("cd work && learn check softmax --json", tmp_path)
    assert {mistake["id"] for mistake in json.loads(done.stdout)["mistakes"]} == {"sm-overflow", "sm-sum-all"}


def test_the_guide_names_what_there_is():
    """Assertions, skills, common mistakes, limits, kinds of questions and keys of the syllabus are all in the guide."""
    for name in checks.__all__:
        if name.startswith("assert_") or name == "fail":
            assert f"`{name}(" in GUIDE, name
    for name in pictures.__all__:
        assert re.search(rf"\b{name.lower()}\b", GUIDE.lower()), name
    course, _ = read_syllabus(ROOT / "course.toml")
    for word in (*SKILLS, *Limits.__dataclass_fields__, *{row.name for row in COMMON_MISTAKES}):
        assert re.search(rf"\b{word}\b", GUIDE), word
    assert course.arrays in GUIDE
    for name, kind in KINDS.items():
        (row,) = re.findall(rf"^\| `{name}` \| .*$", GUIDE, re.MULTILINE)
        assert all(re.search(rf"\b{key}\b", row) for key in kind.required | kind.optional - {"code", "wrong"}), name
