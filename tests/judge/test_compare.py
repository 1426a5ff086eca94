"""Comparing what came back with what was expected, and saying how they differ."""

from __future__ import annotations

import math

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.judge.values.compare import explain, kind_of, largest_error, same, show, show_apart
from grader.judge.values.difference_patterns import find_exchanged_parts, find_patterns
from grader.worker.wire import Opaque

numbers = st.floats(-10, 10, width=32)
observations = st.recursive(
    numbers | st.integers(-5, 5) | st.booleans() | st.none() | st.text(max_size=3)
    | st.lists(numbers, min_size=1, max_size=4).map(torch.tensor)
    | st.lists(numbers, min_size=1, max_size=4).map(numpy.array),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(deadline=None, max_examples=100)
@given(observations)
def test_everything_equals_itself(value):
    """An observation is the same as itself, at distance 0, with nothing to explain."""
    assert same(value, value)
    assert largest_error(value, value) == 0.0
    assert explain(value, value) == ""


@settings(deadline=None, max_examples=100)
@given(observations, observations)
def test_sameness_and_explanation_agree(actual, expected):
    """What is not the same has an explanation, and a distance above the tolerance."""
    assert same(actual, expected) == (explain(actual, expected) == "")
    if not same(actual, expected):
        assert largest_error(actual, expected) > 1e-4


def test_equal_infinities_are_no_distance_apart():
    """An infinity equals itself at distance 0, and is infinitely far from the other one."""
    assert largest_error(math.inf, math.inf) == 0.0
    assert largest_error(math.inf, -math.inf) == math.inf


def test_nan_equals_nan_and_nothing_else():
    """NaN in the same place is the same; NaN in place of a number is not."""
    nan = torch.tensor([1.0, math.nan])

    assert same(nan, nan.clone())
    assert not same(nan, torch.tensor([1.0, 2.0]))
    assert same(nan, torch.tensor([1.0, 2.0]), nan_tells_nothing=True)
    assert not same(torch.tensor([9.0, 2.0]), torch.tensor([1.0, 2.0]), nan_tells_nothing=True)


@pytest.mark.parametrize(
    "actual, expected, words",
    [
        (None, torch.ones(2), "returned None"),
        ([1.0, 2.0], torch.ones(2), "a list of 2"),
        (numpy.ones(2), torch.ones(2), "numpy array"),
        (numpy.int64(3), 3, "a numpy int64; expected 3 (an int)"),
        (torch.ones(2, 1), torch.ones(2), "Wrong shape: (2, 1), expected (2,)"),
        (torch.ones(2, dtype=torch.float64), torch.ones(2), "Wrong dtype: torch.float64"),
        (torch.tensor([1.0, 5.0]), torch.ones(2), "First at [1]: got 5, expected 1"),
        (torch.tensor([1.0, math.nan]), torch.ones(2), "1 of them are NaN"),
        (torch.tensor(3.0), torch.tensor(1.0), "the only value"),
        (torch.tensor([True, True]), torch.tensor([True, False]), "got True, expected False"),
        ([1.0, 2.0], [1.0, 3.0], "Entry 1"),
        ([1.0], [1.0, 3.0], "1 values; expected 2"),
        (Opaque("Foo", "<Foo>"), torch.ones(2), "an object of type Foo"),
        ({"a": 1}, {"a": 1, "b": 2}, "b is missing"),
    ],
)
def test_differences_are_said_shape_first(actual, expected, words):
    """The message names the first thing that is wrong: kind, shape, dtype, then the first value."""
    assert words in explain(actual, expected)


def test_small_values_are_shown_as_they_can_be_typed():
    """What is shown evaluates to what it shows."""
    value = torch.tensor([[0.5, -1.0], [2.25, 3.0]])

    assert torch.equal(eval(show(value), {"torch": torch}), value)
    assert show(torch.ones(30, 2)) == "float32 tensor of shape (30, 2)"
    assert kind_of(torch.ones(2, dtype=torch.bool)) == "a bool tensor of shape (2,)"
    assert kind_of(torch.ones(2, dtype=torch.int64)) == "an int64 tensor of shape (2,)"
    assert show(torch.eye(3)) == "torch.eye(3)"
    assert show(torch.ones(30, 2, dtype=torch.int64)) == "int64 tensor of shape (30, 2)"
    assert (kind_of(3), kind_of("x")) == ("3 (an int)", "'x' (a str)")
    assert show({"a": 0.123456, "b": [torch.ones(1)]}) == "{'a': 0.1235, 'b': [torch.tensor([1.0])]}"


def test_an_array_without_values_is_shown_by_its_shape_where_its_lists_would_be_many():
    """Not as an empty list for each of a million rows."""
    for make in (torch.zeros, lambda *shape: numpy.zeros(shape, "float32")):
        kind = "tensor" if make is torch.zeros else "numpy array"
        assert show(make(1_000_000, 1, 0)).endswith(f"float32 {kind} of shape (1000000, 1, 0)")
        assert show_apart(make(25, 0), make(0))[0].endswith(f"float32 {kind} of shape (25, 0)")
    assert show(torch.zeros(2, 0)) == "torch.tensor([[], []])" and show(torch.zeros(0, 9)) == "torch.tensor([])"


def test_two_values_are_shown_so_that_they_differ():
    """With as many digits as it takes, and with the dtypes where the numbers are the same."""
    third = torch.tensor([1 / 3])

    assert show_apart(third, third + 1e-5) == ("torch.tensor([0.333333])", "torch.tensor([0.333343])")
    for near in (third.double(), torch.tensor([1 / 3], dtype=torch.float64)):
        assert show_apart(near, third) == ("torch.tensor([0.3333]) in float64", "torch.tensor([0.3333]) in float32")


def test_what_is_off_by_little_everywhere_is_right_nowhere():
    """That one row of it is within the tolerance is chance."""
    near = torch.tensor([[9e-5, 9e-5], [2e-4, 3e-4], [5e-4, 2e-4]])

    assert not any("right" in fact.says for fact in find_patterns(near, torch.zeros(3, 2), SIZES))
    assert not any("right" in fact.says for fact in find_patterns(torch.tensor(1.0), torch.tensor(0.3), SIZES))


BASE = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))


CUBE = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(3))
SIZES = {8: "the last axis of `q`"}


def angles(scale):
    """Sines and cosines of four positions, at angles that are so many times as large."""
    angle = scale * torch.arange(4)[:, None] / 100 ** (torch.arange(3) / 3)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@pytest.mark.parametrize(
    "actual, expected, words",
    [
        (BASE * 2.5, BASE, "2.5 times"),
        (-BASE, BASE, "opposite sign"),
        (BASE.T, BASE, "transpose"),
        (BASE[:, [2, 0, 1, 3]], BASE, "another order"),
        (BASE[None], BASE, "extra axis"),
        (BASE[:, :3].T, BASE[:, :3], "exchanged"),
        (~(BASE > 0), BASE > 0, "exactly the opposite"),
        (torch.cat([BASE[:3] + 1, BASE[3:]]), BASE, "Only the last row is right"),
        (torch.cat([BASE[:1], BASE[1:] + 1]), BASE, "Only the first row is right"),
        (torch.where(torch.arange(4)[:, None] == 2, BASE + 1, BASE), BASE, "Only row 2 is wrong"),
        (torch.cat([BASE[:1], BASE[:-1]]), BASE, "one too late"),
        (torch.where(torch.arange(4) == 1, math.nan, BASE), BASE, "NaN"),
        ({"x": BASE * 3}, {"x": BASE}, "3 times"),
        ([1.0, BASE.T], [1.0, BASE], "transpose"),
        (CUBE.permute(1, 0, 2), CUBE, "`permute(1, 0, 2)` of your answer is right"),
        (CUBE.permute(2, 0, 1), CUBE, "`permute(1, 2, 0)` of your answer is right"),
        (CUBE.reshape(15, 4), CUBE, "in the right order, in shape (15, 4)"),
        (CUBE[:, [3, 0, 4, 1, 2]], CUBE, "expected row 0, 1, ... is your row 1, 3, 4, 0, 2"),
        (CUBE[None][:, :, [1, 0]].repeat(1, 1, 2, 1) * 2, CUBE[None][:, :, [1, 0]].repeat(1, 1, 2, 1), "2 times"),
        (CUBE / 8**0.5, CUBE, "0.3536 times what is expected (1/√8, and 8 is the last axis of `q`)"),
        (24.0, 3.0, "It is 8 times what is expected, and 8 is the last axis of `q`."),
        (0.5, 4.0, "It is 1/8 of what is expected"),
        (CUBE * math.pi / 180, CUBE, "degrees where radians are meant"),
        (torch.sigmoid(BASE), BASE.softmax(-1), "Along the last axis the values sum to"),
        ((BASE / 8**0.5).softmax(-1), BASE.softmax(-1), "for scores 0.3536 times as large (1/√8, and 8"),
        (torch.full((4, 4), 0.25), BASE.softmax(-1), "the scores make no difference"),
        (angles(math.pi / 180), angles(1.0), "Every angle is 0.01745 times what is expected (π/180: degrees"),
    ],
)
def test_regular_differences_are_recognised(actual, expected, words):
    """A factor, a transpose, an order, a shift or a single right row is said in words."""
    assert words in " ".join(fact.says for fact in find_patterns(actual, expected, SIZES))


def test_a_small_factor_is_not_explained_by_an_axis():
    """Twice or half as much has many reasons, and some axis has size 2 or 4 by chance; the root of a width is told."""
    for factor, sizes, words in [
        (2.0, {2: "the first axis of `x`"}, "2 times what is expected: a constant"),
        (0.5, {2: "the first axis of `x`"}, "0.5 times what is expected: a constant"),
        (2.0, {4: "the last axis of `q`"}, "2 times what is expected (√4, and 4 is the last axis of `q`)"),
        (2.0, {4: "the last axis but one of `k`"}, "2 times what is expected: a constant"),
        (6.0, {6: "the last axis of `q`"}, "6 times what is expected (6 is the last axis of `q`)"),
    ]:
        assert words in find_patterns(CUBE * factor, CUBE, sizes)[0].says


def test_a_factor_that_is_another_one_in_another_answer_is_called_no_constant():
    """What is scaled by its size has another factor each time; one that is the same, or is explained, is told so."""
    (fact,) = find_patterns(BASE * 3, BASE, SIZES, [(BASE * 3, BASE), (CUBE * 5, CUBE)])
    assert fact.kind == "wrong-scale" and "3 times what is expected, and in another call 5 times" in fact.says
    for factor, others in [(3, [(CUBE * 3, CUBE)]), (8**-0.5, [(CUBE * 5**-0.5, CUBE)])]:
        assert find_patterns(BASE * factor, BASE, SIZES, others)[0].kind == "wrong-factor"


def test_a_factor_of_one_answer_alone_is_called_no_constant():
    """Where another wrong answer has no factor, none is missing: of what should sum to 1 the sums are told."""
    weights = CUBE.softmax(-1)
    others = [(weights * torch.linspace(0.99, 0.999, weights.size(-2)).unsqueeze(-1), weights)]
    (fact,) = find_patterns(weights * 0.99, weights, {}, others)
    assert fact.kind == "wrong-weights" and "sum to 0.99, and should sum to 1" in fact.says


def test_zeros_everywhere_are_no_factor():
    """Where every value is 0 nothing is scaled: that is told, and no constant is blamed."""
    assert [tuple(fact) for fact in find_patterns(0 * BASE, BASE, SIZES)] == [("all-zero", "Every value is 0.")]


def test_rows_that_are_equal_have_not_moved():
    """Where all other rows are 0 as they should be, or NaN, a wrong row at one end shows no order."""
    for end in (0, -1):
        wrong = torch.zeros(3, 2)
        wrong[end] = torch.nan
        assert not any(fact.kind == "wrong-order" for fact in find_patterns(wrong, torch.zeros(3, 2)))


def test_parts_that_are_exchanged_are_told():
    """Of a tuple with two parts exchanged the order is told; where one is wrong, or is there twice, none."""
    parts = [BASE, BASE + 1, BASE * 2]
    (fact,) = find_exchanged_parts([([1.0], [2.0]), ([1.0, parts], [1.0, [parts[0], parts[2], parts[1]]])])
    assert fact.says.endswith("expected part 1, 2, ... is your part 1, 3, 2.")
    for expected in (parts, [BASE, BASE], [BASE * 2, BASE, BASE * 3], [BASE, BASE * 2]):
        assert find_exchanged_parts([(parts, expected)]) == []


def test_irregular_differences_are_not_explained_away():
    """Noise gives no finding at all."""
    noise = torch.randn(4, 4, generator=torch.Generator().manual_seed(2))

    assert find_patterns(BASE + noise, BASE) == []
    assert find_patterns(None, BASE) == []
    assert find_patterns([1], BASE) == []
    assert find_patterns(2.7, 3.0, SIZES) == []
