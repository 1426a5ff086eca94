"""What is asked of a model tells names that are lacking from names that are not asked for."""

from __future__ import annotations

import pytest
import torch

from grader.api.checks import Rand, as_buffers, draw_state, is_alike_in_training, of_model, read_names
from grader.judge.errors import LearnerError


class Made:
    """A model as a worker tells of it."""

    def __init__(self, missing=(), unexpected=()):
        self.missing, self.unexpected, self.noise = missing, unexpected, 0.0

    def train(self):
        self.noise = 1.0
        return self

    def eval(self):
        self.noise = 0.0
        return self

    def __call__(self, x):
        return x + self.noise


@pytest.mark.parametrize(
    "missing, unexpected, said",
    [
        ([], [], ([], [])),
        (["blocks.0.attn.wq.bias", "blocks.1.attn.wk.bias", "head.bias"], [], (["attn", "head"], [])),
        (["mask"], [], "more names"),
        (["blocks.0.attn.bias"], [], "more names"),
        (["a.weight"], ["b.weight"], "other names"),
        ([], ["norm.weight", "norm.bias"], ([], ["norm.bias", "norm.weight"])),
    ],
)
def test_names_are_told_in_words(missing, unexpected, said):
    """Biases that are not asked for are told by the part that has them; without a weight beside it, it is none."""
    weights = dict.fromkeys(("blocks.0.attn.wq.weight", "blocks.1.attn.wk.weight", "head.weight"))
    assert read_names(lambda *_, state: Made(missing, unexpected), 3, state=weights) == said


def test_a_class_without_a_state_dict_is_no_module():
    """An error of another kind stays one."""

    def make(*_, state):
        raise LearnerError("raised", "AttributeError", state["text"])

    assert read_names(make, state={"text": "no attribute 'load_state_dict'"}) == "no module"
    with pytest.raises(LearnerError):
        read_names(make, state={"text": "no attribute 'norm'"})


def test_numbers_are_drawn_once_for_a_seed():
    """γ is near 1, other factors are the author's."""
    draw_numbers = draw_state({"norm.weight": (500,), "w1.bias": (500,)}, {"w1.": 0.0})
    found = draw_numbers(Rand(3, "torch"))

    assert draw_numbers(Rand(3, "torch")) is found
    assert draw_numbers(Rand(4, "torch")) is not found
    assert abs(found["norm.weight"].mean() - 1.0) < 0.1
    assert not found["w1.bias"].any()


def test_a_model_is_asked_in_evaluation_mode():
    """Training mode is asked for by name."""
    ask = of_model(2, deep=True)
    asked_alike = of_model(2, by=is_alike_in_training, deep=True)

    def make(size, *, deep, state):
        assert (size, deep, state) == (2, True, "held")
        return Made().train()

    assert ask(make, torch.zeros(1), state="held").item() == 0.0
    assert not asked_alike(make, torch.zeros(1), state="held")


def test_what_are_buffers_is_saved_and_not_trained():
    """A module keeps its numbers and their names, and has no parameter left."""
    made = as_buffers(torch.nn.Linear(2, 3))

    assert list(made.state_dict()) == ["weight", "bias"]
    assert list(made.parameters()) == []
    assert made(torch.zeros(1, 2)).equal(made.bias[None])


def test_what_is_drawn_after_a_state_is_the_same_each_time():
    """A learner's model and a known mistake are asked the same, though the first one's state is kept for it."""
    draw_numbers = draw_state({"weight": (3, 4)})
    first, second = Rand(1), Rand(1)
    draw_numbers(first)
    draw_numbers(second)
    assert torch.equal(first(5), second(5))
