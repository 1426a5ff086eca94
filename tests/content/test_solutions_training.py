"""The training reference against gradient descent written out in numpy, and against a plain loop with AdamW."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

training = load("solutions/core/training.py")

Batch = tuple[torch.Tensor, torch.Tensor]


class TinyModel(torch.nn.Module):
    """Embedding, a running mean over the past, one hidden layer, logits: small, nonlinear and causal."""

    def __init__(self, vocabulary: int, width: int = 6, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, width)
        self.hidden = torch.nn.Linear(width, width)
        self.dropout = torch.nn.Dropout(dropout)
        self.head = torch.nn.Linear(width, vocabulary)
        self.modes: list[bool] = []

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        self.modes.append(self.training)
        x = self.embedding(ids)  # (B, T, width)
        count = torch.arange(1, ids.size(1) + 1).unsqueeze(-1)
        x = x.cumsum(dim=1) / count
        return self.head(self.dropout(torch.tanh(self.hidden(x))))


def make_model(vocabulary: int, seed: int, dropout: float = 0.0) -> TinyModel:
    """Give a model with random parameters, in float64."""
    model = TinyModel(vocabulary, dropout=dropout).double()
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return model


def make_batches(vocabulary: int, shapes: list[tuple[int, int]], seed: int) -> list[Batch]:
    """Give one batch of random tokens for each shape; targets are the inputs one step later."""
    generator = torch.Generator().manual_seed(seed)
    tokens = [torch.randint(vocabulary, (rows, length + 1), generator=generator) for rows, length in shapes]
    return [(each[:, :-1], each[:, 1:]) for each in tokens]


def plain_loop(model: torch.nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> list[float]:
    """Train with the loss of the statement, token by token."""
    losses = []
    for inputs, targets in batches:
        logits = model(inputs)
        rows, length = inputs.shape
        terms = [
            torch.logsumexp(logits[b, t], 0) - logits[b, t, targets[b, t]] for b in range(rows) for t in range(length)
        ]
        loss = torch.stack(terms).sum() / (rows * length)
        for parameter in model.parameters():
            parameter.grad = None
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def numpy_bigram(table: np.ndarray, batches: list[Batch], rate: float) -> tuple[list[float], np.ndarray]:
    """Train a table of logits by hand: the gradient of the loss by a position's logits is (p − y) / (B·T)."""
    table = table.copy()
    losses = []
    for inputs, targets in batches:
        x, y = inputs.numpy().ravel(), targets.numpy().ravel()
        powers = np.exp(table[x])
        p = powers / powers.sum(-1, keepdims=True)
        losses.append(float(-np.log(p[np.arange(x.size), y]).mean()))
        p[np.arange(x.size), y] -= 1.0
        np.add.at(table, x, -rate * p / x.size)  # a token that occurs twice moves twice
    return losses, table


shapes = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 6)), min_size=1, max_size=4)
seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=40)
@given(vocabulary=st.integers(2, 9), shapes=shapes, seed=seeds, rate=st.floats(0.01, 2.0))
def test_matches_gradient_descent_by_hand(
    vocabulary: int, shapes: list[tuple[int, int]], seed: int, rate: float
) -> None:
    """Losses and final parameters of a bigram table equal those of the closed formula in numpy."""
    table = np.random.default_rng(seed).normal(size=(vocabulary, vocabulary))
    batches = make_batches(vocabulary, shapes, seed)
    model = torch.nn.Embedding.from_pretrained(torch.from_numpy(table.copy()), freeze=False)
    losses = training.train(model, torch.optim.SGD(model.parameters(), lr=rate), batches)
    expected, expected_table = numpy_bigram(table, batches, rate)
    np.testing.assert_allclose(losses, expected, rtol=1e-10)
    np.testing.assert_allclose(model.weight.detach().numpy(), expected_table, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.AdamW], ids=["SGD", "AdamW"])
@settings(deadline=None, max_examples=30)
@given(vocabulary=st.integers(2, 9), shapes=shapes, seed=seeds)
def test_matches_a_plain_loop(
    make: Callable[..., torch.optim.Optimizer], vocabulary: int, shapes: list[tuple[int, int]], seed: int
) -> None:
    """Losses and all parameters of a nonlinear model equal those of a loop over single tokens."""
    model = make_model(vocabulary, seed)
    twin = copy.deepcopy(model)
    batches = make_batches(vocabulary, shapes, seed)
    losses = training.train(model, make(model.parameters(), lr=0.05), batches)
    expected = plain_loop(twin, make(twin.parameters(), lr=0.05), batches)
    np.testing.assert_allclose(losses, expected, rtol=1e-9)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)


def test_float32_matches_torch() -> None:
    """In float32 the loss is F.cross_entropy of the logits with classes on axis 1, before the step."""
    model = make_model(7, seed=1).float()
    inputs, targets = make_batches(7, [(3, 5)], seed=2)[0]
    expected = torch.nn.functional.cross_entropy(model(inputs).transpose(1, 2), targets).item()
    loss = training.train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), inputs, targets)
    assert loss == pytest.approx(expected, rel=1e-6)


def test_a_model_that_knows_nothing_loses_ln_v() -> None:
    """Equal logits for V tokens give a loss of ln V."""
    model = torch.nn.Embedding.from_pretrained(torch.zeros(11, 11), freeze=False)
    inputs, targets = make_batches(11, [(2, 5)], seed=3)[0]
    loss = training.train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), inputs, targets)
    assert loss == pytest.approx(math.log(11), rel=1e-6)


def test_old_gradients_do_not_count() -> None:
    """Gradients left over from before the call change nothing."""
    inputs, targets = make_batches(5, [(2, 4)], seed=4)[0]
    model = make_model(5, seed=5)
    twin = copy.deepcopy(model)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    for each in (model, twin):
        training.train_step(each, torch.optim.SGD(each.parameters(), lr=0.1), inputs, targets)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), twin.parameters(), strict=True))


def test_runs_and_stays_in_train_mode() -> None:
    """A model in eval mode is trained with its dropout on, and is in train mode afterwards."""
    model = make_model(5, seed=6, dropout=0.5).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, targets = make_batches(5, [(2, 4)], seed=7)[0]
    training.train_step(model, optimizer, inputs, targets)
    assert model.modes == [True] and model.training
    model.eval()
    training.train(model, optimizer, [(inputs, targets)] * 2)
    assert model.modes == [True] * 3 and model.training


def test_takes_a_generator_once_and_returns_floats() -> None:
    """Batches may come from a generator, in order; the answer is a list of plain floats."""
    batches = make_batches(5, [(2, 4), (1, 3), (3, 2)], seed=8)
    taken = []

    def stream() -> Iterator[Batch]:
        for number, batch in enumerate(batches):
            taken.append(number)
            yield batch

    model = make_model(5, seed=9)
    losses = training.train(model, torch.optim.SGD(model.parameters(), lr=0.1), stream())
    assert taken == [0, 1, 2]
    assert type(losses) is list and [type(loss) for loss in losses] == [float] * 3


def test_no_batch_no_step() -> None:
    """Without a batch the list is empty and the parameters stay as they are."""
    model = make_model(5, seed=10).eval()
    before = copy.deepcopy(model.state_dict())
    assert training.train(model, torch.optim.SGD(model.parameters(), lr=0.1), []) == []
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert model.training


def test_changes_no_tokens() -> None:
    """Inputs and targets are the same afterwards."""
    inputs, targets = make_batches(5, [(2, 4)], seed=11)[0]
    before = inputs.clone(), targets.clone()
    model = make_model(5, seed=12)
    training.train_step(model, torch.optim.SGD(model.parameters(), lr=0.1), inputs, targets)
    assert torch.equal(inputs, before[0]) and torch.equal(targets, before[1])


def test_learns_a_pattern() -> None:
    """On the text "abcabcabc..." the loss of the next letter falls from about ln 3 to almost nothing."""
    tokens = torch.arange(13).remainder(3).unsqueeze(0)
    model = torch.nn.Embedding.from_pretrained(torch.zeros(3, 3), freeze=False)
    batches = [(tokens[:, :-1], tokens[:, 1:])] * 200
    losses = training.train(model, torch.optim.SGD(model.parameters(), lr=3.0), batches)
    assert losses[0] == pytest.approx(math.log(3), rel=1e-6)
    assert losses == sorted(losses, reverse=True) and losses[-1] < 0.02
