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


X, Y = torch.arange(6.0).view(3, 2), torch.ones(3, 2)
ANSWERS = {  # to X - 2 Y
    "exchanged": Y - 2 * X,
    "transposed": (X - 2 * Y).T,
    "reversed": (X - 2 * Y)[[2, 1, 0]],
    "shifted": (X - 2 * Y)[[2, 0, 1]],
    "first_only": (X - 2 * Y)[[0, 0, 0]],
    "integer": (X - 2 * Y).long(),
    "detached": X - 2 * Y,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_each_does_what_its_sentence_says(tmp_path, name):
    """Values are those that the sentence describes, and nothing else is changed."""
    (tmp_path / "less.py").write_text("def less(x, y, times=2):\n    return x - times * y\n")
    known = MistakeSet("less", {"__file__": str(tmp_path / "less_mistakes.py")})
    known.common("le", name)

    value = known.build(known.mistakes[0].changes)(X.clone().requires_grad_(), Y)

    assert torch.equal(value.detach(), ANSWERS[name])
    assert value.requires_grad == (name not in ("integer", "detached"))


def test_half_precision_gives_the_dtype_back_and_not_the_digits(tmp_path):
    """The answer is rounded to three digits."""
    (tmp_path / "half.py").write_text("def half(x):\n    return x / 3\n")
    known = MistakeSet("half", {"__file__": str(tmp_path / "half_mistakes.py")})
    known.common("ha", "float16")
    value = known.build(known.mistakes[0].changes)(torch.ones(1))

    assert (known.mistakes[0].id, value.dtype) == ("ha-half", torch.float32)
    assert 1e-5 < abs(value.item() - 1 / 3) < 1e-3


def test_exchanged_arguments_need_two(tmp_path):
    """A function of one argument has nothing to exchange."""
    (tmp_path / "one.py").write_text("def one(x):\n    return x\n")
    known = MistakeSet("one", {"__file__": str(tmp_path / "one_mistakes.py")})

    with pytest.raises(ValueError, match="`exchanged` needs two arguments"):
        known.common("on", "exchanged")
