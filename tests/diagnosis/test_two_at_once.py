"""Two faults of different kinds in one answer are both told: of form and of value, of gradients and of value."""

from __future__ import annotations

import numpy as np
import pytest
from support.factories import judge_source

from grader.judge.diagnosis.output_format import describe_form
from grader.judge.values.difference_patterns import find_patterns

ATTENTION = """
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    {before}
    scores = q @ k.mT{scale}
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    out = weights @ v
    return {give}
"""
UPCAST = "q, k, v = (x.float() if x.dtype in (torch.float16, torch.bfloat16) else x for x in (q, k, v))"


@pytest.mark.parametrize(
    ("before", "give", "told"),
    [
        (UPCAST, "out", "In float16 it returns float32; cast the result back."),
        ("pass", "out[None]", "of shape (1, 3, 6); return a float32 tensor of shape (3, 6)."),
        ("pass", "(out, weights)", "return only the output, a float32 tensor."),
        ("pass", "dict(out=out, weights=weights)", "It returns a dict; return only the output, a float32 tensor."),
    ],
    ids=["float32 for float16", "an axis too many", "a tuple", "a dict"],
)
def test_a_wrong_form_is_told_beside_wrong_values(launcher, before, give, told):
    """The scale is left out, and what is returned has another form than was asked for."""
    result = judge_source(launcher, "attention", ATTENTION.format(before=before, scale="", give=give))

    named = {each.id: each.says for each in result.mistakes}
    assert set(named) == {"at-no-scale", "wrong-format"}
    assert named["wrong-format"].endswith(told)


def test_a_form_that_the_named_mistake_makes_is_told_once(launcher):
    """All is computed in float32: that has its name, and half precision says no more."""
    source = ATTENTION.format(before="q, k, v = q.float(), k.float(), v.float()", scale="", give="out")

    assert {each.id for each in judge_source(launcher, "attention", source).mistakes} == {"at-no-scale", "at-dtype"}


def test_who_cuts_off_autograd_is_told_what_is_wrong_with_the_values_too(launcher):
    """Weights three times too large, and detached: no known mistake is both."""
    source = """
import torch

def softmax(x, dim=-1):
    x = x.detach()
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return 3 * e / e.sum(dim, keepdim=True)
"""
    first, second = judge_source(launcher, "softmax", source).mistakes

    assert first.id == "no-gradient"
    assert "3 times" in second.says


def test_where_values_are_right_the_lost_gradient_is_all(launcher):
    """What it is cut off from shows in the gradients alone, and nothing is said of their numbers."""
    source = """
import torch

def attend(q, k, v, mask):
    scores = q @ k.detach().mT / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ v

def scaled_dot_product_attention(q, k, v, mask=None):
    return attend(q, k, v, mask)
"""
    assert [each.id for each in judge_source(launcher, "attention", source).mistakes] == ["no-gradient"]


def test_values_that_are_all_one_too_large_are_told():
    """Of every wrong answer; a number that only some are off by is not told."""
    right = np.array([3.0, 0.0, 2.0, 5.0])
    told = [fact.says for fact in find_patterns(right + 1, right, others=[(right[:2] + 1, right[:2])])]

    assert told == ["Every value is 1 too large."]
    assert not find_patterns(right + 1, right, others=[(right[:2] - 1, right[:2])])
    assert not [fact for fact in find_patterns(right + 0.37, right) if "too" in fact.says]


@pytest.mark.parametrize(
    ("value", "expected", "told"),
    [
        ("torch.float32", "torch.float16", "In float16 it returns float32; cast the result back."),
        ("torch.float16", "torch.float16", ""),
        ("an error", "torch.float16", ""),
        (np.ones(3), np.ones(3), ""),
        (np.ones(4), np.ones(3), ""),
        (np.ones((1, 3)), np.ones(3), "It returns a float64 numpy array of shape (1, 3); return a float64 numpy array"
         " of shape (3,)."),
    ],
)  # fmt: skip
def test_a_form_is_described(value, expected, told):
    """By the name of a dtype, or by the value itself; other values are no form."""
    assert describe_form(value, expected) == told
