"""Mistakes that any function can have do what they say to every function."""

from __future__ import annotations

import pytest
import torch

from grader.judge.diagnosis.mistake_set import MistakeSet


@pytest.mark.parametrize("name, dtype", [("float32", torch.float64), ("float64", torch.float32)])
def test_the_dtype_is_lost_whatever_the_other_arguments_are(tmp_path, name, dtype):
    """Every floating-point argument is converted: one of the right dtype would bring the answer's back."""
    (tmp_path / "scale.py").write_text("def scale(x, weight, at, eps=1.0):\n    return x[at] * weight + eps\n")
    known = MistakeSet("scale", {"__file__": str(tmp_path / "scale_mistakes.py")})
    known.common("sc", name)

    wrong = known.build(known.mistakes[0].changes)
    value = wrong(torch.ones(2, 3, dtype=dtype), torch.ones(3, dtype=dtype), torch.tensor([0, 1]))

    assert known.mistakes[0].id == "sc-dtype"
    assert value.dtype == getattr(torch, name)
    assert value.tolist() == [[2.0] * 3] * 2


def test_a_function_of_nothing_but_defaults(tmp_path):
    """Its first parameter is converted."""
    (tmp_path / "same.py").write_text("def same(x=None):\n    return x\n")
    known = MistakeSet("same", {"__file__": str(tmp_path / "same_mistakes.py")})
    known.common("sa", "float32")
    assert known.mistakes[0].changes.keys() == {"take_x"}
