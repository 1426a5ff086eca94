"""The line that cuts a gradient off, and what is taken out of a source to prove it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.factories import judge_source

from grader.judge.processes.launcher import Launcher
from grader.judge.tracing.gradient_line import find_cuts, without

ATTENTION = """import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q{q} @ k{k}.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    scores = scores - scores.detach().amax(-1, keepdim=True).nan_to_num()
    weights = torch.softmax(scores, -1)
    return weights{weights} @ v
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts, says",
    [
        ({"weights": ".detach()"}, "Line 10 cuts the gradient off: without `.detach()` all is right."),
        ({"k": ".data"}, "Line 5 cuts the gradient off: without `.data` all is right."),
        ({"k": ".data", "weights": ".detach()"}, "Lines 5 and 10 cut the gradient off: without `.data` all is right."),
    ],
)
def test_the_line_without_which_all_is_right_is_told(launcher: Launcher, parts: dict[str, str], says: str) -> None:
    """A maximum that is detached does no harm, and is not blamed; nor is a line beside another that cuts as well."""
    source = ATTENTION.format(**{"q": "", "k": "", "weights": ""} | parts)
    (line,) = judge_source(launcher, "attention", source).lines
    assert line.says.endswith(says)


@pytest.mark.parametrize("weights", [".round(decimals=3)", ".detach().half().float()", ".detach() * 1.1"])
def test_no_line_is_told_where_more_than_a_cut_is_wrong(launcher: Launcher, weights: str) -> None:
    """What rounds has no gradient either, and where values are wrong another line may be to blame."""
    lines = judge_source(launcher, "attention", ATTENTION.format(q="", k="", weights=weights)).lines
    assert all("cuts" not in line.says for line in lines)


PIECES = [
    "x.detach()",
    "x.data",
    "torch.utils.data",
    "x.sum().item()",
    "torch.no_grad()",
    "d['ä'].data",
    "f(x)\\\n.data",
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6))
def test_nothing_is_left_and_no_line_moves(pieces: list[str]) -> None:
    """What is written without the cuts is Python of as many lines, in which there is no cut to be found."""
    source = "\n".join(f"y{number} = [{piece}, 'ö', {piece}]" for number, piece in enumerate(pieces))
    left = without(source, find_cuts(source))

    assert left.count("\n") == source.count("\n") and len(ast.parse(left).body) == len(pieces)
    assert [cut for cut in find_cuts(left)] == []
