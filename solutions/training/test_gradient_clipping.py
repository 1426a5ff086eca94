"""The hidden checks of `gradient_clipping`: gradients of different shapes and sizes, one of them None."""

import math

import pytest
import torch

from grader.api.checks import ATOL, assert_matches, assert_portable, assert_unchanged, fail, is_array, kind_of


def gradients(rand, scale=1.0, dtype=torch.float32):
    """Gradients of several shapes, the second far larger than the others, and a None."""
    drawn = rand(3, 4, dtype=dtype), rand(5, dtype=dtype) * 4.0, rand(1, 2, 3, dtype=dtype), rand(dtype=dtype)
    first, second, third, last = (each * scale for each in drawn)
    return [first, second, None, third, last]


def parts(value, length):
    """The list and the norm, as a float."""
    if not isinstance(value, tuple) or len(value) != 2:
        fail(f"It returned {kind_of(value)}; expected a tuple of two: the list of gradients, and the norm.")
    clipped, norm = value
    if not isinstance(clipped, list | tuple) or len(clipped) != length:
        fail(f"The first of the two is {kind_of(clipped)}; expected a list of {length}: an entry for each gradient.")
    if (is_array(norm) and norm.ndim == 0) or isinstance(norm, float | int):
        return list(clipped), float(norm)
    return fail(f"The norm is {kind_of(norm)}; expected a float or a tensor of shape ().")


def compare(submission, reference, grads, max_norm, scale=1.0):
    """Both give the same gradients and the same norm; `scale` is their order of magnitude."""
    atol = ATOL * min(max_norm, 1.0)  # clipped gradients are as small as that
    clipped, norm = parts(submission.clip_gradients(grads, max_norm), len(grads))
    right, expected = parts(reference.clip_gradients(grads, max_norm), len(grads))
    for place, (mine, theirs) in enumerate(zip(clipped, right, strict=True)):
        if (mine is None) != (theirs is None):
            fail(f"Entry {place} of the list is {kind_of(mine)}; expected {kind_of(theirs)}.")
        if theirs is not None:
            assert_matches(mine, theirs, atol, hint=f"This is entry {place} of the list.")
    if not math.isclose(norm / scale, expected / scale, rel_tol=1e-4, abs_tol=1e-4):
        fail(f"The norm is {norm:.6g}; expected {expected:.6g}, the joint norm before clipping.")


@pytest.mark.check(skill="shape", points=1, public=True, stage="in what it returns")
def test_two(submission, rand):
    """Gives a list as long as the one it got, and one norm."""
    grads = gradients(rand)
    clipped, _ = parts(submission.clip_gradients(grads, 1.0), len(grads))
    for mine, given in zip(clipped, grads, strict=True):
        if given is not None and (not is_array(mine) or mine.shape != given.shape):
            fail("Each gradient must keep its shape.")


@pytest.mark.check(skill="values", points=3, needs="test_two", public=True, stage="on gradients that are too long")
@pytest.mark.parametrize("max_norm", [1.0, 0.25, 3.0])
def test_long(submission, reference, rand, max_norm):
    """Scales all gradients by one factor, so that the joint norm is max_norm."""
    compare(submission, reference, gradients(rand), max_norm)


@pytest.mark.check(skill="values", points=2, needs="test_two", stage="on gradients that are short enough")
@pytest.mark.parametrize("scale", [0.02, 0.5])
def test_short(submission, reference, rand, scale):
    """Leaves gradients alone whose joint norm is no more than max_norm."""
    compare(submission, reference, gradients(rand, scale), 60.0 * scale)


@pytest.mark.check(skill="values", points=2, needs="test_two", stage="where each is short, and all together long")
def test_many_short(submission, reference, rand):
    """Takes one joint norm: many short gradients are long together, where max_norm is small too."""
    compare(submission, reference, [rand(4, 4, scale=0.002) for _ in range(30)], 0.02, scale=0.01)


@pytest.mark.check(skill="values", points=1, needs="test_two", stage="with a single gradient")
def test_one(submission, reference, rand):
    """Works for a single gradient."""
    compare(submission, reference, [rand(3, 4, scale=3.0)], 2.0)


@pytest.mark.check(skill="values", points=0.5, needs="test_two", stage="on short gradients with a small max_norm")
def test_small(submission, rand):
    """Brings short gradients to a small max_norm, too: no more than 1e-6 is added to the norm."""
    first, second = rand(3), rand(2, 2)
    share = 0.01 / math.sqrt(first.square().sum() + second.square().sum())
    clipped, _ = parts(submission.clip_gradients([share * first, share * second], 0.004), 2)
    if not all(map(is_array, clipped)):
        fail("An entry of the list is no tensor.")
    norm = math.sqrt(sum(each.square().sum() for each in clipped))
    if not math.isclose(norm, 0.004, rel_tol=3e-4):
        fail(f"A joint norm of 0.01 becomes {norm:.6g}; expected {0.004:g}.")


@pytest.mark.check(skill="generality", points=2, needs="test_two", stage="with None among them")
@pytest.mark.parametrize("place", [0, 2, 3])
def test_none(submission, reference, rand, place):
    """Leaves None where it stands, first, last and between."""
    grads = [rand(3), rand(2, 2), rand(4)]
    compare(submission, reference, [*grads[:place], None, *grads[place:], *([None] if place == 3 else [])], 0.5)


@pytest.mark.check(skill="generality", points=1, needs="test_two", stage="in other sizes")
@pytest.mark.parametrize("count", [2, 5])
def test_other_sizes(submission, reference, rand, count):
    """Takes any number of gradients of any shapes."""
    shapes = [rand.sizes(1 + place % 3) for place in range(count)]
    compare(submission, reference, [rand(*shape) for shape in shapes], 1.5)


@pytest.mark.check(skill="generality", points=1, needs="test_two", stage="with large gradients, or many")
def test_no_largest(submission, reference, rand):
    """Has no largest gradient and no largest number of them."""
    compare(submission, reference, [rand(rand.large(), 2), rand(3, rand.large())], 1.5)
    compare(submission, reference, [rand(2) for _ in range(rand.sizes(1, low=50)[0])], 1.5)


@pytest.mark.check(skill="stability", points=1, needs="test_two", stage="where all gradients are 0")
def test_zeros(submission, reference):
    """Leaves gradients of 0 at 0: 0/0 must not happen."""
    compare(submission, reference, [torch.zeros(3), torch.zeros(2, 2)], 1.0)


@pytest.mark.check(skill="stability", points=1, needs="test_two", stage="where gradients have exploded")
def test_exploded(submission, reference, rand):
    """Brings gradients near 1e15 down to max_norm."""
    compare(submission, reference, gradients(rand, 1e15), 1.0, scale=1e15)


@pytest.mark.check(skill="stability", points=1, needs="test_two", stage="where a gradient holds NaN")
def test_nan(submission, rand):
    """Says NaN where a gradient holds NaN, and does not hide it."""
    grads = [rand(3), torch.tensor([1.0, float("nan")])]
    clipped, norm = parts(submission.clip_gradients(grads, 1.0), 2)
    if not math.isnan(norm):
        fail(f"A gradient holds NaN, and the norm is {norm:.6g}: nobody would notice.")
    if not is_array(clipped[1]) or not bool(clipped[1].isnan()[1]):
        fail("A gradient held NaN, and holds it no more: nobody would notice.")


@pytest.mark.check(skill="hygiene", points=0.5)
def test_unchanged(submission, rand):
    """Changes neither the list nor the gradients it is given."""
    grads = gradients(rand)
    assert_unchanged(submission.clip_gradients.observe(grads, 0.5), grads)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_two", stage="with float64")
def test_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of the gradients."""
    compare(submission, reference, gradients(rand, dtype=torch.float64), 1.0)
    assert_portable(submission.clip_gradients, [each for each in gradients(rand) if each is not None], 1.0)
