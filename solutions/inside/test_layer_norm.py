"""The hidden checks of `layer_norm`: the same for both functions, as far as both have the same faults.

Weights are never 1 and biases never 0, since there a wrong order is right; probes with a tiny spread show eps.
"""

import pytest
import torch

from grader.api.checks import (
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
)

BOTH = pytest.mark.parametrize("batch", [(5, 4), (2, 3, 7)])
FAR = 2e-2  # at an offset of 1000 float32 itself rounds the mean by 6e-5, and the spread is 1


def arguments(rand, *shape, dtype=torch.float32):
    """x, weight and bias."""
    return rand(*shape, dtype=dtype), rand(shape[-1], dtype=dtype) + 2.0, rand(shape[-1], dtype=dtype)


def any_shape(rand, axes):
    """A shape with so many leading axes, in sizes that nobody knows by heart; of three, the outer ones have size 1."""
    sizes = rand.sizes(axes + 1)
    return sizes if axes < 3 else [1, sizes[1], 1, sizes[3]]


# --- layer_norm -------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, function="layer_norm", public=True)
def test_ln_shape(submission, rand):
    """Gives back the shape of its input."""
    assert_shape(submission.layer_norm(*arguments(rand, 2, 3, 7)), (2, 3, 7))


@pytest.mark.check(skill="values", points=3, function="layer_norm", needs="test_ln_shape", public=True,
                   stage="on a few tokens")  # fmt: skip
@BOTH
def test_ln_values(submission, reference, rand, batch):
    """Equals the reference on ordinary tokens, with a weight and a bias."""
    given = arguments(rand, *batch)
    assert_matches(submission.layer_norm(*given), reference.layer_norm(*given))


@pytest.mark.check(skill="values", points=1, function="layer_norm", needs="test_ln_shape",
                   stage="with weight 1 and bias 0")  # fmt: skip
def test_ln_statistics(submission, rand):
    """Leaves every token with the mean 0 and the variance 1, where the weight is 1 and the bias 0."""
    y = submission.layer_norm(rand(4, 6, scale=3.0) + 2.0, torch.ones(6), torch.zeros(6))
    assert_shape(y, (4, 6))
    assert_matches(y.mean(-1), torch.zeros(4), hint="These are the tokens' means.")
    assert_matches(y.square().mean(-1), torch.ones(4), atol=1e-3, hint="These are the tokens' mean squares.")


@pytest.mark.check(skill="generality", points=2, function="layer_norm", needs="test_ln_shape",
                   stage="with {axes} leading axes")  # fmt: skip
@pytest.mark.parametrize("axes", [0, 1, 3])
def test_ln_leading_axes(submission, reference, rand, axes):
    """Equals the reference with any number of leading axes, a batch of one too, and for any width."""
    given = arguments(rand, *any_shape(rand, axes))
    assert_matches(submission.layer_norm(*given), reference.layer_norm(*given))


@pytest.mark.check(skill="generality", points=1, function="layer_norm", needs="test_ln_shape",
                   stage="on wide tokens, or many")  # fmt: skip
def test_ln_no_largest(submission, reference, rand):
    """Has no largest width and no largest number of tokens."""
    for shape in ((2, rand.large()), (rand.large(), 3)):
        given = arguments(rand, *shape)
        assert_matches(submission.layer_norm(*given), reference.layer_norm(*given))


@pytest.mark.check(skill="generality", points=1, function="layer_norm", needs="test_ln_shape",
                   stage="where all sizes are equal")  # fmt: skip
def test_ln_cube(submission, reference, rand):
    """Is right where all sizes are equal too, and a wrong axis goes unnoticed."""
    given = arguments(rand, 4, 4, 4)
    assert_matches(submission.layer_norm(*given), reference.layer_norm(*given))


@pytest.mark.check(skill="generality", points=1, function="layer_norm", needs="test_ln_shape",
                   stage="in company and alone")  # fmt: skip
def test_ln_each_token_by_itself(submission, rand):
    """Normalises a token to the same, whatever stands beside it in the batch."""
    x, weight, bias = arguments(rand, 3, 5, 6)
    assert_matches(submission.layer_norm(x, weight, bias)[1, 2], submission.layer_norm(x[1, 2], weight, bias))


@pytest.mark.check(skill="stability", points=2, function="layer_norm", needs="test_ln_shape",
                   stage="on tokens with a tiny spread")  # fmt: skip
@pytest.mark.parametrize("eps", [None, 1e-5, 0.1])
def test_ln_eps(submission, reference, rand, eps):
    """Has eps inside the root, with the value that is given: it shows on tokens whose spread is tiny."""
    x, weight, bias = arguments(rand, 5, 4)
    more = {} if eps is None else {"eps": eps}
    given = (3e-3 * x, weight, bias)
    assert_matches(submission.layer_norm(*given, **more), reference.layer_norm(*given, **more))


@pytest.mark.check(skill="stability", points=1, function="layer_norm", needs="test_ln_shape",
                   stage="on a token of equal entries")  # fmt: skip
def test_ln_constant(submission, reference, rand):
    """Turns a token whose entries are all equal into the bias: 0/0 must not happen."""
    _, weight, bias = arguments(rand, 5, 4)
    given = (torch.tensor([[3.0, 3.0, 3.0, 3.0], [0.0, 0.0, 0.0, 0.0]]), weight, bias)
    assert_matches(submission.layer_norm(*given), reference.layer_norm(*given), atol=1e-3)


@pytest.mark.check(skill="stability", points=0.5, function="layer_norm", needs="test_ln_shape",
                   stage="on tokens of one number")  # fmt: skip
def test_ln_one_number(submission, reference, rand):
    """Turns a token of a single number into the bias: its variance is 0, and not 0/0."""
    given = arguments(rand, 3, 1)
    assert_matches(submission.layer_norm(*given), reference.layer_norm(*given), atol=1e-3)


@pytest.mark.check(skill="stability", points=2, function="layer_norm", needs="test_ln_shape",
                   stage="on tokens near {offset:+.0f}")  # fmt: skip
@pytest.mark.parametrize("offset", [1000.0, -1000.0])
def test_ln_far_from_zero(submission, reference, rand, offset):
    """Survives tokens near +1000 and -1000, where a difference of squares loses every digit."""
    x, weight, bias = arguments(rand, 5, 4)
    given = (x + offset, weight, bias)
    assert_matches(submission.layer_norm(*given), reference.layer_norm(*given), atol=FAR)


@pytest.mark.check(skill="gradients", points=2, function="layer_norm", needs="test_ln_shape", stage="in its gradient")
def test_ln_gradient(submission, reference, rand):
    """Lets the right gradient through to x, weight and bias, also on tokens of equal entries and of zeros."""
    x, weight, bias = arguments(rand, 3, 5)
    sides = submission.layer_norm, reference.layer_norm
    assert_gradients_match(*sides, x, weight, bias, wrt=[0, 1, 2], weights=rand(3, 5))
    flat = torch.tensor([[2.0] * 5, [0.0] * 5])
    assert_gradients_match(*sides, flat, weight, bias, wrt=[0, 1, 2], weights=rand(2, 5), eps=0.1)


@pytest.mark.check(skill="hygiene", points=0.5, function="layer_norm")
def test_ln_inputs_unchanged(submission, rand):
    """Leaves x, weight and bias alone."""
    given = arguments(rand, 3, 5)
    assert_unchanged(submission.layer_norm.observe(*given), *given)


@pytest.mark.check(skill="hygiene", points=0.5, function="layer_norm", needs="test_ln_shape", stage="with float64")
def test_ln_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input."""
    given = arguments(rand, 3, 5, dtype=torch.float64)
    assert_matches(submission.layer_norm(*given), reference.layer_norm(*given))
    assert_portable(submission.layer_norm, *arguments(rand, 3, 5))


# --- rms_norm ---------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, function="rms_norm", public=True)
def test_rms_shape(submission, rand):
    """Gives back the shape of its input."""
    assert_shape(submission.rms_norm(*arguments(rand, 2, 3, 7)[:2]), (2, 3, 7))


@pytest.mark.check(skill="values", points=3, function="rms_norm", needs="test_rms_shape", public=True,
                   stage="on a few tokens")  # fmt: skip
@BOTH
def test_rms_values(submission, reference, rand, batch):
    """Equals the reference on ordinary tokens, with a weight."""
    given = arguments(rand, *batch)[:2]
    assert_matches(submission.rms_norm(*given), reference.rms_norm(*given))


@pytest.mark.check(skill="generality", points=2, function="rms_norm", needs="test_rms_shape",
                   stage="with {axes} leading axes")  # fmt: skip
@pytest.mark.parametrize("axes", [0, 1, 3])
def test_rms_leading_axes(submission, reference, rand, axes):
    """Equals the reference with any number of leading axes, a batch of one too, and for any width."""
    given = arguments(rand, *any_shape(rand, axes))[:2]
    assert_matches(submission.rms_norm(*given), reference.rms_norm(*given))


@pytest.mark.check(skill="generality", points=1, function="rms_norm", needs="test_rms_shape",
                   stage="on wide tokens, or many")  # fmt: skip
def test_rms_no_largest(submission, reference, rand):
    """Has no largest width and no largest number of tokens."""
    for shape in ((2, rand.large()), (rand.large(), 3)):
        given = arguments(rand, *shape)[:2]
        assert_matches(submission.rms_norm(*given), reference.rms_norm(*given))


@pytest.mark.check(skill="generality", points=1, function="rms_norm", needs="test_rms_shape",
                   stage="where all sizes are equal")  # fmt: skip
def test_rms_cube(submission, reference, rand):
    """Is right where all sizes are equal too, and a wrong axis goes unnoticed."""
    given = arguments(rand, 4, 4, 4)[:2]
    assert_matches(submission.rms_norm(*given), reference.rms_norm(*given))


@pytest.mark.check(skill="values", points=1, function="rms_norm", needs="test_rms_shape",
                   stage="on tokens with a large mean")  # fmt: skip
def test_rms_keeps_the_mean(submission, reference, rand):
    """Leaves the mean of a token where it is, near 1000 too."""
    x, weight, _ = arguments(rand, 5, 4)
    for offset in (3.0, 1000.0):
        assert_matches(submission.rms_norm(x + offset, weight), reference.rms_norm(x + offset, weight))


@pytest.mark.check(skill="stability", points=2, function="rms_norm", needs="test_rms_shape", stage="on tiny tokens")
@pytest.mark.parametrize("eps", [None, 1e-5, 0.1])
def test_rms_eps(submission, reference, rand, eps):
    """Has eps inside the root, with the value that is given: it shows on tiny tokens, and on one of zeros."""
    x, weight, _ = arguments(rand, 5, 4)
    x = torch.cat([3e-3 * x, torch.zeros(1, 4)])
    more = {} if eps is None else {"eps": eps}
    assert_matches(submission.rms_norm(x, weight, **more), reference.rms_norm(x, weight, **more))


@pytest.mark.check(skill="gradients", points=2, function="rms_norm", needs="test_rms_shape", stage="in its gradient")
def test_rms_gradient(submission, reference, rand):
    """Lets the right gradient through to x and weight, also on a token of zeros."""
    x, weight, _ = arguments(rand, 3, 5)
    sides = submission.rms_norm, reference.rms_norm
    assert_gradients_match(*sides, x, weight, wrt=[0, 1], weights=rand(3, 5))
    assert_gradients_match(*sides, 0.0 * x, weight, wrt=[0, 1], weights=rand(3, 5), eps=0.1)


@pytest.mark.check(skill="hygiene", points=0.5, function="rms_norm")
def test_rms_inputs_unchanged(submission, rand):
    """Leaves x and weight alone, and a second call gives the same."""
    given = arguments(rand, 3, 5)[:2]
    assert_unchanged(submission.rms_norm.observe(*given), *given)
    assert_repeatable(submission.rms_norm, *given)


@pytest.mark.check(skill="hygiene", points=0.5, function="rms_norm", needs="test_rms_shape", stage="with float64")
def test_rms_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input."""
    given = arguments(rand, 3, 5, dtype=torch.float64)[:2]
    assert_matches(submission.rms_norm(*given), reference.rms_norm(*given))
    assert_portable(submission.rms_norm, *arguments(rand, 3, 5)[:2])
