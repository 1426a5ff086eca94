"""The lab `induction`: its run is one of steps of descent."""

from __future__ import annotations

import pytest
from safetensors.torch import load_file
from support.course_files import ROOT, load
from support.factories import judge_source

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


@pytest.mark.slow
def test_a_period_read_off_the_last_token_has_a_name(launcher):
    """The last token may stand twice in a run: where it stood before tells no period."""
    source = (ROOT / "solutions/analysis/induction.py").read_text()
    for line, instead in (
        ("period = 2  # step: begin", "period = len(row) - 1 - (row[:-2] == row[-1]).nonzero()[-1].item()"),
        ("while not torch.equal(row[period:], row[:-period]):  # step: until", "while False:"),
    ):
        assert line in source
        source = source.replace(line, instead)
    result = judge_source(launcher, "induction", source)
    assert not result.passed and [mistake.id for mistake in result.mistakes] == ["in-period-by-token"]
