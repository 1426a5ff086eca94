"""The lab `induction`: its run is one of steps of descent."""

from __future__ import annotations

import pytest
from safetensors.torch import load_file
from support.course_files import load

from grader.judge.errors import CheckFailed
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.random_inputs import Rand

KINDS = {"AttentionOnly": "class", "fit": "function", "head_report": "function"}


def write_down(model, texts, _rate, report):
    """Put heads that were found elsewhere into the model, and report a course of losses."""
    checks = load("solutions/analysis/test_induction.py")
    model.load_state_dict(load_file(checks.FROZEN))
    for step in range(len(texts)):
        report(3.7 - 3 * step / len(texts))


def test_heads_that_are_written_down_are_worth_nothing():
    """Losses of the first steps are known: a run that reports others trained nothing."""
    checks, reference = (load(f"solutions/analysis/{name}.py") for name in ("test_induction", "induction"))
    found = {name: getattr(reference, name) for name in KINDS}
    subject, judge = LocalModule(found | {"fit": write_down}, KINDS), LocalModule(found, KINDS)
    with pytest.raises(CheckFailed, match="losses of its first 10 steps"):
        checks.test_run(subject, judge, Rand(1))
