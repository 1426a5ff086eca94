"""Mistakes that any function can have do what they say to every function."""

from __future__ import annotations

import pytest
import torch

from grader.api.checks import is_portable
from grader.judge.mistakes.common_mistakes import COMMON_MISTAKES
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.processes.remote_module import LocalModule


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
    "batch_of_one": (X - 2 * Y)[:1],
    "size_2": X - 2 * Y,
    "rank_2": X - 2 * Y,
    "view": X - 2 * Y,
    "no_float16": X - 2 * Y,
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


@pytest.mark.parametrize(
    "name, right, wrong",
    [
        ("square", torch.ones(2, 2), torch.ones(3, 2)),
        ("rank_3", torch.ones(3, 2, 2), torch.ones(3, 2)),
        ("size_5", torch.ones(2, 5), torch.ones(2, 4)),
        ("view", torch.ones(3, 2), torch.ones(2, 3).T),
        ("no_float16", torch.ones(3, 2), torch.ones(3, 2).half()),
    ],
)
def test_what_is_right_somewhere_is_an_error_elsewhere(tmp_path, name, right, wrong):
    """Its sentence says where, with the number that was asked for."""
    (tmp_path / "more.py").write_text("def more(x):\n    return x + 1\n")
    known = MistakeSet("more", {"__file__": str(tmp_path / "more_mistakes.py")})
    for probe in ("a slice of a larger tensor", "float16"):
        known.ask(probe, right)
    known.common("mo", name)
    (mistake,) = known.mistakes
    function = known.build(mistake.changes)

    assert torch.equal(function(right), right + 1)
    with pytest.raises((RuntimeError, IndexError)):
        function(wrong)
    assert name.split("_")[-1] in mistake.says or not name[-1].isdigit()


def test_what_works_on_the_cpu_only_is_not_portable(tmp_path):
    """Its answer is right, and not where the input is."""
    (tmp_path / "more.py").write_text("def more(x):\n    return x + 1\n")
    known = MistakeSet("more", {"__file__": str(tmp_path / "more_mistakes.py")})
    known.common("mo", "device")
    right, wrong = (
        LocalModule({"more": known.build(changes)}, {"more": "function"}).more
        for changes in ({}, known.mistakes[0].changes)
    )

    assert is_portable(right, torch.ones(3)) and not is_portable(wrong, torch.ones(3))
    assert torch.equal(wrong(torch.ones(3)), torch.full((3,), 2.0))


def test_the_callers_tensor_is_changed_and_the_answer_is_right(tmp_path):
    """Only a look at the argument afterwards shows it."""
    (tmp_path / "more.py").write_text("def more(x):\n    return x + 1\n")
    known = MistakeSet("more", {"__file__": str(tmp_path / "more_mistakes.py")})
    known.common("mo", "in_place")
    x = torch.zeros(3)

    assert known.build(known.mistakes[0].changes)(x).tolist() == [1.0] * 3
    assert x.tolist() != [0.0] * 3


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


def test_all_of_them_go_together(tmp_path):
    """Two ways of making one mistake have labels of their own, in whichever lesson they meet."""
    (tmp_path / "less.py").write_text("def less(x, y, times=2):\n    return x - times * y\n")
    known = MistakeSet("less", {"__file__": str(tmp_path / "less_mistakes.py")})

    known.common("le", *dict.fromkeys(row.name.replace("_N", "_3") for row in COMMON_MISTAKES))

    assert len({mistake.label for mistake in known.mistakes}) == len(COMMON_MISTAKES)
