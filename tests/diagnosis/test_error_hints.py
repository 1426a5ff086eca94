"""Advice on error messages: each pattern is tried on the real error that it is about."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from grader.judge.diagnosis.error_hints import ADVICE, GENERAL, advice_for

X: Any = torch.randn(2, 3)
MASK = torch.ones(2, 3, dtype=torch.bool)
NONE: Any = None
TAKES_ONE: Any = lambda x: x
LEAF = torch.ones(2, requires_grad=True)
ERRORS = {
    "amax": lambda: X - X.max(-1),
    "top of the file": lambda: eval("numpy.exp(1)", {}),
    "misspelling": lambda: eval("scroes + 1", {}),
    "if mask is not None:": lambda: bool(MASK),
    "only `if mask is not None`": lambda: ~NONE,
    "mask == 0": lambda: ~X,
    "~mask": lambda: 1 - MASK,
    "torch.sin": lambda: math.sin(X),
    "do not broadcast": lambda: X + torch.ones(4),
    "last axis of a": lambda: X @ X,
    "number of elements": lambda: X.view(4, 4),
    "reshape": lambda: X.T.view(6),
    "in place": lambda: LEAF.add_(1),
    "way back is cut": lambda: LEAF.numpy(),
    "x.size(-1)": lambda: _unpack(),
    "not there for this input": lambda: X.sum(5),
    "no files": lambda: (_ for _ in ()).throw(PermissionError(1, "Operation not permitted")),
    "without end": lambda: _forever(),
    "Use torch, numpy": lambda: __import__("no_such_package"),
    "other arguments": lambda: TAKES_ONE(1, dim=2),
    "is None": lambda: NONE.shape,
}


def _unpack() -> int:
    batch, length, width = X.shape
    return batch * length * width


def _forever() -> None:
    _forever()


@pytest.mark.parametrize("words", ERRORS)
def test_a_real_error_gets_its_own_advice(words):
    """The error that torch or Python really raises is recognised."""
    with pytest.raises(Exception) as caught:
        ERRORS[words]()

    assert words in advice_for(f"{type(caught.value).__name__}: {caught.value}")


def test_an_unknown_error_gets_general_advice():
    """What no pattern knows is answered with what always helps."""
    assert advice_for("ZeroDivisionError: division by zero") == GENERAL


def test_every_advice_is_one_or_two_short_sentences():
    """Advice fits under a line of an assessment."""
    assert all(20 < len(text) < 130 and text.endswith(".") for _, text in ADVICE)
