"""The hidden checks of `feed_forward`: every check loads numbers of its own by name.

The statement allows both forms of GELU, which are at most 5e-4 apart. So the inputs of the hidden layer are small
(`BEND`), where both agree within the tolerance; one check looks at large ones, with a tolerance that spans both.
"""

import pytest

from grader.api.checks import (
    ATOL,
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    fail,
)

D, F = 12, 7  # different from B = 2 and T = 5
BEND = 0.05  # how large the inputs of the hidden layer are
BOTH_FORMS = 2e-3  # spans both forms of GELU when they are large, and the gradients of both


def numbers(rand, d_model=D, d_ff=F, bend=BEND):
    """A state dict of random numbers, of which the result has size 1."""
    return {
        "w1.weight": rand(d_ff, d_model, scale=bend * d_model**-0.5),
        "w1.bias": rand(d_ff, scale=bend),
        "w2.weight": rand(d_model, d_ff, scale=d_ff**-0.5 * 0.3 / bend),
        "w2.bias": rand(d_model),
    }


def compare(submission, reference, rand, shape, d_ff=F, bend=BEND, atol=ATOL):
    """Both networks give the same for tokens of this shape."""
    state, x = numbers(rand, shape[-1], d_ff, bend), rand(*shape)
    mine, theirs = (subject.FeedForward(shape[-1], d_ff, state=state) for subject in (submission, reference))
    actual = mine(x)
    assert_shape(actual, shape)
    assert_matches(actual, theirs(x), atol)


@pytest.mark.check(skill="shape", points=0.35, public=True)
def test_names(submission, rand):
    """Has the four names of the statement in its state dict, and no other."""
    made = submission.FeedForward(D, F, state=numbers(rand))
    if made.unexpected:  # what was loaded and the network did not know
        fail("The state dict must have w1.weight, w1.bias, w2.weight and w2.bias: one of them is missing.")
    if made.missing:
        fail("The state dict must have w1.weight, w1.bias, w2.weight and w2.bias, and no other name.")


@pytest.mark.check(skill="training", points=0.35, needs="test_names", public=True)
def test_parameters(submission):
    """Makes all four of them parameters, so that an optimizer finds them."""
    if sorted(submission.FeedForward(D, F).state()["parameters"]) != sorted(
        f"{layer}.{part}" for layer in ("w1", "w2") for part in ("weight", "bias")
    ):
        fail("The parameters are not exactly the four of the statement: an optimizer would not move them.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True)
def test_shape(submission, rand):
    """Gives back the shape of its input."""
    assert_shape(submission.FeedForward(D, F, state=numbers(rand))(rand(2, 5, D)), (2, 5, D))


@pytest.mark.check(skill="values", points=3, needs="test_names", public=True, stage="for one token")
def test_one_token(submission, reference, rand):
    """Gives the reference's values for one token."""
    compare(submission, reference, rand, (1, 1, D))


@pytest.mark.check(skill="values", points=3, needs="test_shape", stage="for a batch")
def test_batch(submission, reference, rand):
    """Gives the reference's values for a batch of texts."""
    compare(submission, reference, rand, (2, 5, D))


@pytest.mark.check(skill="values", points=2, needs="test_shape", stage="where the hidden layer is strongly driven")
def test_strong_hidden(submission, reference, rand):
    """Bends large values of the hidden layer as GELU does."""
    compare(submission, reference, rand, (2, 5, D), bend=2.0, atol=BOTH_FORMS)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="with {axes} leading axes")
@pytest.mark.parametrize("axes", [0, 1, 3])
def test_leading_axes(submission, reference, rand, axes):
    """Takes any number of leading axes, in sizes that nobody knows by heart."""
    width, hidden, *leading = rand.sizes(axes + 2)
    compare(submission, reference, rand, (*leading, width), hidden)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where one size is large")
@pytest.mark.parametrize("axis", range(3))
def test_no_largest(submission, reference, rand, axis):
    """Has no largest number of tokens, width or d_ff."""
    sizes = [2, 3, 4]
    sizes[axis] = rand.large()
    tokens, width, hidden = sizes
    compare(submission, reference, rand, (tokens, width), hidden)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where all sizes are equal")
def test_square(submission, reference, rand):
    """Is right where d_ff = D = T too, and a wrong axis goes unnoticed; also beside another network."""
    state, x = numbers(rand, 6, 6), rand(6, 6, 6)
    mine, theirs = (subject.FeedForward(6, 6, state=state) for subject in (submission, reference))
    submission.FeedForward(6, 6, state=numbers(rand, 6, 6))
    assert_matches(mine(x), theirs(x))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="in company and alone")
def test_each_token_by_itself(submission, rand):
    """Gives a token the same, whatever stands beside it."""
    ffn, x = submission.FeedForward(D, F, state=numbers(rand)), rand(3, 5, D)
    assert_matches(ffn(x)[1:2, 2:3], ffn(x[1:2, 2:3]))


@pytest.mark.check(skill="gradients", points=2, needs="test_shape", stage="in its gradient")
def test_gradient(submission, reference, rand):
    """Lets the right gradient through to x and to all four parameters."""
    state, x, weights = numbers(rand), rand(2, 3, D), rand(2, 3, D, scale=0.2)
    both = [subject.FeedForward(D, F, state=state) for subject in (submission, reference)]
    assert_gradients_match(*both, x, wrt=[0], weights=weights, atol=BOTH_FORMS)


@pytest.mark.check(skill="hygiene", points=0.35, needs="test_names")
def test_manners(submission, rand):
    """Leaves x alone, gives the same twice, and works on the device where its input is."""
    made, x = submission.FeedForward(D, F, state=numbers(rand)).eval(), rand(2, 5, D)
    assert_unchanged(made.observe(x), x)
    assert_repeatable(made, x)
    assert_portable(made, x)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape", stage="in training mode")
def test_training_mode(submission, reference, rand):
    """Drops nothing in training mode."""
    state, x = numbers(rand), rand(4, 5, D)
    mine, theirs = (subject.FeedForward(D, F, state=state).train()(x) for subject in (submission, reference))
    assert_matches(mine, theirs)
