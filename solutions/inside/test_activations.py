"""The hidden checks of `activations`.

The two forms of GELU are at most 4.7e-4 apart, so both are compared at 1e-5: on few entries of moderate size, where
float32 itself is good for 1e-6.
"""

import pytest
import torch

from grader.api.checks import assert_gradients_match, assert_matches, assert_portable, assert_shape, assert_unchanged

FINE = 1e-5  # tells the two forms of GELU apart
FORMS = pytest.mark.parametrize("approximate", ["none", "tanh"])


def weights_of(rand, d_model, d_ff, dtype=torch.float32):
    """w_gate, w_up and w_down, so large that the gate is seen to bend."""
    shapes = ((d_ff, d_model), (d_ff, d_model), (d_model, d_ff))
    return [rand(*shape, dtype=dtype, scale=1.5 * shape[1] ** -0.5) for shape in shapes]


# --- gelu -------------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, function="gelu", public=True)
def test_gelu_shape(submission, rand):
    """Gives back the shape of its input."""
    assert_shape(submission.gelu(rand(2, 3, 5)), (2, 3, 5))


@pytest.mark.check(skill="values", points=3, function="gelu", needs="test_gelu_shape", public=True,
                   stage="with approximate={approximate}")  # fmt: skip
@FORMS
def test_gelu_values(submission, reference, rand, approximate):
    """Equals the form that is asked for."""
    x = rand(4, 7, scale=2.0)
    assert_matches(submission.gelu(x, approximate=approximate), reference.gelu(x, approximate=approximate), FINE)


@pytest.mark.check(skill="values", points=2, function="gelu", needs="test_gelu_shape", stage="where no form is given")
def test_gelu_default(submission, reference, rand):
    """Is the exact form where nothing is said."""
    x = torch.linspace(-3.0, 3.0, 25)  # the forms are farthest apart near 2.2 and -2.2
    assert_matches(submission.gelu(x), reference.gelu(x), FINE)


@pytest.mark.check(skill="values", points=1, function="gelu", needs="test_gelu_shape", stage="in the form of tanh")
def test_gelu_tanh_grid(submission, reference):
    """Has the constants of the tanh form."""
    x = torch.linspace(-4.0, 4.0, 33)
    assert_matches(submission.gelu(x, approximate="tanh"), reference.gelu(x, approximate="tanh"), FINE)


@pytest.mark.check(skill="stability", points=1, function="gelu", needs="test_gelu_shape", stage="far from 0")
@FORMS
def test_gelu_far(submission, reference, approximate):
    """Gives x itself far to the right, and 0 far to the left."""
    x = torch.tensor([-300.0, -30.0, -9.0, 9.0, 30.0, 300.0])
    assert_matches(submission.gelu(x, approximate=approximate), reference.gelu(x, approximate=approximate))


@pytest.mark.check(skill="generality", points=1, function="gelu", needs="test_gelu_shape", stage="with {axes} axes")
@pytest.mark.parametrize("axes", [0, 1, 4])
def test_gelu_any_shape(submission, reference, rand, axes):
    """Takes any shape: a single number, and many axes, the first of them a batch of one."""
    x = rand(*([1, *rand.sizes(3)] if axes == 4 else rand.sizes(axes)))
    assert_matches(submission.gelu(x), reference.gelu(x), FINE)


@pytest.mark.check(skill="generality", points=1, function="gelu", needs="test_gelu_shape",
                   stage="on a long axis, or with many axes")  # fmt: skip
@FORMS
def test_gelu_no_largest(submission, reference, rand, approximate):
    """Has no longest axis and no highest number of axes."""
    for shape in ((2, rand.large()), [2] * int(rand.integers(5, 9, 1))):
        x = rand(*shape)
        assert_matches(submission.gelu(x, approximate=approximate), reference.gelu(x, approximate=approximate), FINE)


@pytest.mark.check(skill="gradients", points=2, function="gelu", needs="test_gelu_shape", stage="in its gradient")
@FORMS
def test_gelu_gradient(submission, reference, rand, approximate):
    """Lets the right gradient through, also where x is negative."""
    x, weights = rand(3, 5), rand(3, 5)
    assert_gradients_match(submission.gelu, reference.gelu, x, wrt=[0], weights=weights, approximate=approximate)


@pytest.mark.check(skill="hygiene", points=0.5, function="gelu")
def test_gelu_input_unchanged(submission, rand):
    """Leaves x alone."""
    x = rand(3, 5)
    assert_unchanged(submission.gelu.observe(x), x)


@pytest.mark.check(skill="hygiene", points=0.5, function="gelu", needs="test_gelu_shape", stage="with float64")
def test_gelu_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input."""
    x = rand(3, 5, dtype=torch.float64)
    assert_matches(submission.gelu(x), reference.gelu(x), FINE)
    assert_portable(submission.gelu, rand(3, 5))


# --- swiglu -----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, function="swiglu", public=True)
def test_swiglu_shape(submission, rand):
    """Gives back the shape of x."""
    assert_shape(submission.swiglu(rand(2, 3, 5), *weights_of(rand, 5, 7)), (2, 3, 5))


@pytest.mark.check(skill="values", points=3, function="swiglu", needs="test_swiglu_shape", public=True,
                   stage="for a batch")  # fmt: skip
def test_swiglu_values(submission, reference, rand):
    """Equals the reference on a batch of texts."""
    given = rand(2, 3, 5, scale=2.0), *weights_of(rand, 5, 7)
    assert_matches(submission.swiglu(*given), reference.swiglu(*given))


@pytest.mark.check(skill="generality", points=2, function="swiglu", needs="test_swiglu_shape",
                   stage="with {axes} leading axes")  # fmt: skip
@pytest.mark.parametrize("axes", [0, 1, 3])
def test_swiglu_leading_axes(submission, reference, rand, axes):
    """Takes any number of leading axes, in sizes that nobody knows by heart; where there are three, a batch of one."""
    width, hidden, *leading = rand.sizes(axes + 2)
    leading[:1] = [1] if axes == 3 else leading[:1]
    given = rand(*leading, width), *weights_of(rand, width, hidden)
    assert_matches(submission.swiglu(*given), reference.swiglu(*given))


@pytest.mark.check(skill="generality", points=1, function="swiglu", needs="test_swiglu_shape",
                   stage="where one size is large")  # fmt: skip
@pytest.mark.parametrize("axis", range(3))
def test_swiglu_no_largest(submission, reference, rand, axis):
    """Has no largest number of tokens, width or d_ff."""
    sizes = [2, 3, 4]
    sizes[axis] = rand.large()
    tokens, width, hidden = sizes
    given = rand(tokens, width), *weights_of(rand, width, hidden)
    assert_matches(submission.swiglu(*given), reference.swiglu(*given))


@pytest.mark.check(skill="generality", points=1, function="swiglu", needs="test_swiglu_shape",
                   stage="where all sizes are equal")  # fmt: skip
def test_swiglu_square(submission, reference, rand):
    """Is right where d_ff = D too, and weights that are turned round fit as well."""
    given = rand(4, 4, scale=2.0), *weights_of(rand, 4, 4)
    assert_matches(submission.swiglu(*given), reference.swiglu(*given))


@pytest.mark.check(skill="gradients", points=2, function="swiglu", needs="test_swiglu_shape", stage="in its gradient")
def test_swiglu_gradient(submission, reference, rand):
    """Lets the right gradient through to x and to all three weights."""
    given, weights = (rand(2, 3, 5), *weights_of(rand, 5, 7)), rand(2, 3, 5)
    assert_gradients_match(submission.swiglu, reference.swiglu, *given, wrt=[0, 1, 2, 3], weights=weights)


@pytest.mark.check(skill="hygiene", points=0.5, function="swiglu")
def test_swiglu_inputs_unchanged(submission, rand):
    """Leaves all four arguments alone."""
    given = rand(3, 5), *weights_of(rand, 5, 7)
    assert_unchanged(submission.swiglu.observe(*given), *given)


@pytest.mark.check(skill="hygiene", points=0.5, function="swiglu", needs="test_swiglu_shape", stage="with float64")
def test_swiglu_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input."""
    given = rand(3, 5, dtype=torch.float64), *weights_of(rand, 5, 7, dtype=torch.float64)
    assert_matches(submission.swiglu(*given), reference.swiglu(*given))
    assert_portable(submission.swiglu, rand(3, 5), *weights_of(rand, 5, 7))
