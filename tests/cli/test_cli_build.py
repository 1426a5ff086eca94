"""`learn build` of a model whose weights are kept: a whole short run, in a worker, and what becomes of the file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

from support.command_server import run_command
from support.learn_command import ROOT, environment, learn, start_workspace

from grader.cli.check.keep import source_digest
from grader.course.load_course import load
from grader.model import LessonResult
from grader.store import Store

SHORT = """
import sys
import grader.judge.examination as examination
from grader.cli.learn.group import main

whole = examination.load_file

def shortened(path):
    checks = whole(path)
    checks.__dict__.update({sizes})
    {also}
    return checks

examination.load_file = shortened
sys.argv = ["learn", "build", "{lesson}"]
main()
"""
FEW = {"STEPS": 4, "PART": 2, "SHOWN": 2, "SAMPLE": 5}
INTERRUPTED = """
    def build(submission, rand, real=checks.build):
        yield next(real(submission, rand))
        raise KeyboardInterrupt
    checks.build = build
"""


def build(
    workspace: Path, also: str = "", lesson: str = "tiny_gpt", sizes: dict[str, int] = FEW
) -> CompletedProcess[str]:
    """`learn build`, of a few steps."""
    code = SHORT.format(also=also.strip(), lesson=lesson, sizes=sizes)
    return run_command("code", code, cwd=workspace, env=environment(ROOT))


def test_weights_are_written_when_all_is_done_and_then_checked(tmp_path):
    """The class of the learner's file is trained; Ctrl-C leaves the last weights as they were; check measures them."""
    work = start_workspace(tmp_path / "work", ROOT)
    source = (ROOT / "solutions/models/tiny_gpt.py").read_text()
    (work / "models/tiny_gpt.py").write_text(source)
    weights = work / "models/tiny_gpt.safetensors"

    done = build(work)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert any(line.split() == ["tiny_gpt", "yours"] for line in said)
    assert any(line.split() == ["adamw", "the", "reference"] for line in said)
    assert sum(line.startswith("step ") for line in said) == 2
    assert "Written to models/tiny_gpt.safetensors." in said and said[-1].strip() == "learn check tiny_gpt"
    raw = weights.read_bytes()

    stopped = build(work, INTERRUPTED)
    assert stopped.returncode == 130 and "Traceback" not in stopped.stderr
    assert weights.read_bytes() == raw
    assert sorted(each.name for each in weights.parent.glob("*tiny_gpt*")) == ["tiny_gpt.py", "tiny_gpt.safetensors"]

    checked = learn("check", "tiny_gpt", cwd=work, course=ROOT)
    assert checked.returncode == 1 and "nats a character" in " ".join(checked.stdout.split())
    assert "not been trained" in checked.stdout or "learned too little" in checked.stdout, checked.stdout


def test_weights_of_the_reference_are_not_left_as_the_learners(tmp_path):
    """Before the exercise is begun the reference shows what is to come, and writes nothing that a check would count."""
    work = start_workspace(tmp_path / "work", ROOT)
    done = build(work)

    assert done.returncode == 0, done.stderr
    assert "Nothing is kept: that was the reference. Write models/tiny_gpt.py, then build yours." in done.stdout
    assert done.stdout.splitlines()[-1].strip() == "learn read softmax"
    assert not (work / "models/tiny_gpt.safetensors").exists()


def test_it_says_that_the_file_of_its_own_lesson_is_no_piece(tmp_path):
    """What two_bits builds is made of the lessons before it: whoever has written models/two_bits.py is told so."""
    work = start_workspace(tmp_path / "work", ROOT)
    (work / "models/two_bits.py").write_text((ROOT / "solutions/models/two_bits.py").read_text())
    done = build(work, lesson="two_bits", sizes={"STEPS": 40})

    assert done.returncode == 0, done.stderr
    said = "This is made of the lessons before it, without models/two_bits.py: `learn check two_bits` tries that."
    assert said in " ".join(done.stdout.split())
    assert any(line.split() == ["gpt", "the", "reference"] for line in done.stdout.splitlines())  # unsolved as it is


def test_after_the_last_lesson_of_the_way_comes_its_model(tmp_path):
    """`learn check` names the command that lets it write, and then the lesson that comes next."""
    work = start_workspace(tmp_path / "work", ROOT)
    with Store.open(work / ".selfattend/progress.db") as store:
        for name in load(ROOT).ways["shortest"].lessons[:-1]:
            store.record_attempt(LessonResult(name, "graded", 10.0, True, "cpu", 1, 0.1), "", datetime.now(UTC))
    (work / "models/generate.py").write_text((ROOT / "solutions/models/generate.py").read_text())
    said = learn("check", "generate", cwd=work, course=ROOT).stdout

    assert re.search(r"Next\s+learn build two_bits\s.*learn read layer_norm", said, re.DOTALL), said


def test_a_solved_file_is_a_piece_whatever_a_notebook_holds(tmp_path):
    """Another attempt that fails, of a notebook's cells, takes nothing from the lesson's own file, which passed."""
    work = start_workspace(tmp_path / "work", ROOT)
    (work / "core/causal_mask.py").write_text((ROOT / "solutions/core/causal_mask.py").read_text())
    assert learn("check", "causal_mask", cwd=work, course=ROOT).returncode == 0
    cell = "import torch\n\n\ndef causal_mask(n):\n    return torch.ones(n, n, dtype=torch.bool)\n"
    book = {"cells": [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": 1}],
            "metadata": {}, "nbformat": 4, "nbformat_minor": 5}  # fmt: skip
    (work / "core/causal_mask.ipynb").write_text(json.dumps(book))
    assert learn("check", "core/causal_mask.ipynb", cwd=work, course=ROOT).returncode == 1

    assert "  yours: causal_mask\n" in learn("build", cwd=work, course=ROOT).stdout


def test_a_solved_file_is_a_piece_however_often_another_was_tried_since(tmp_path):
    """Hundreds of tries in a notebook count for nothing, but the file's own last one does."""
    work = start_workspace(tmp_path / "work", ROOT)
    source = (ROOT / "solutions/core/causal_mask.py").read_text()
    (work / "core/causal_mask.py").write_text(source)
    failed = LessonResult("causal_mask", "graded", 1.0, False, "cpu", 1, 0.1)
    with Store.open(work / ".selfattend/progress.db") as store:
        store.record_attempt(replace(failed, passed=True), source_digest(source), datetime.now(UTC))
        for _ in range(250):
            store.record_attempt(failed, source_digest("another"), datetime.now(UTC))
    assert "  yours: causal_mask\n" in learn("build", cwd=work, course=ROOT).stdout

    with Store.open(work / ".selfattend/progress.db") as store:
        store.record_attempt(failed, source_digest(source), datetime.now(UTC))
    assert "yours: causal_mask\n" not in learn("build", cwd=work, course=ROOT).stdout


def test_without_a_name_it_lists_what_can_be_built_and_what_is_missing(tmp_path):
    """Each model stands there with the pieces that are solved and those that are not; a course without one says so."""
    work = start_workspace(tmp_path / "work", ROOT)
    (work / "text/embedding.py").write_text((ROOT / "solutions/text/embedding.py").read_text())
    assert learn("check", "embedding", cwd=work, course=ROOT).returncode == 0
    done = learn("build", cwd=work, course=ROOT)

    models = [text.split("\n") for text in done.stdout.split("\n\n") if "not solved yet:" in text]
    assert [model[0].split()[0] for model in models] == ["two_bits", "tiny_gpt", "sort_numbers"]
    assert models[0][1] == "  yours: embedding" and "gpt" in "".join(models[0][2:])
    assert "embedding" not in "".join(models[0][2:])
    assert done.stdout.endswith("  learn build two_bits\n") and done.returncode == 0

    none = learn("build", cwd=start_workspace(tmp_path / "tiny"))
    assert none.returncode == 2 and none.stderr.startswith("Error: no model of this course can be built here")
