"""Two faults of different kinds in one answer are both told: of gradients and of value."""

from __future__ import annotations

import numpy as np
from support.factories import judge_source

from grader.judge.values.difference_patterns import find_patterns


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
