"""The hidden checks of `learned_positions`: every check loads a table of its own by name."""

import pytest

from grader.api.checks import (
    LearnerError,
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    fail,
)

LONGEST, D = 9, 6
TOO_LONG = [(10, 2), (17, 1), (10, 12)]  # T, B


def built(subject, rand, max_len=LONGEST, d_model=D):
    """A table that holds random numbers."""
    return subject.LearnedPositionalEmbedding(max_len, d_model, state={"weight": rand(max_len, d_model)})


def compare(submission, reference, rand, shape, max_len=LONGEST, beside=False):
    """Both give the same for tokens of this shape, also `beside` a shorter table that was made later."""
    state, x = {"weight": rand(max_len, shape[-1])}, rand(*shape)
    mine, theirs = (
        subject.LearnedPositionalEmbedding(max_len, shape[-1], state=state) for subject in (submission, reference)
    )
    if beside:
        built(submission, rand, 4)
    actual = mine(x)
    assert_shape(actual, shape)
    assert_matches(actual, theirs(x))


@pytest.mark.check(skill="shape", points=0.4, public=True)
def test_names(submission, rand):
    """Has `weight` in its state dict, and no other name."""
    made = built(submission, rand)
    if made.unexpected or made.missing:  # what was loaded and the module did not know; what it has besides
        has = ", ".join(f"`{name}`" for name in made.missing[:5]) or "no other"
        fail(f"The state dict must have exactly one name, `weight`. Yours lacks it or has more: {has}.")


@pytest.mark.check(skill="training", points=0.4, needs="test_names", public=True)
def test_is_a_parameter(submission):
    """Makes the table a parameter, so that an optimizer finds it."""
    if submission.LearnedPositionalEmbedding(LONGEST, D).state()["parameters"] != ["weight"]:
        fail("`weight` is not the one parameter of the module: no optimizer would ever move it.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True)
def test_shape(submission, rand):
    """Gives back the shape of its input, for texts shorter than the longest."""
    assert_shape(built(submission, rand)(rand(2, 5, D)), (2, 5, D))


@pytest.mark.check(skill="values", points=3, needs="test_names", public=True, stage="for one text")
def test_one_text(submission, reference, rand):
    """Adds row t to token t."""
    compare(submission, reference, rand, (1, 5, D))


@pytest.mark.check(skill="values", points=3, needs="test_shape", stage="for a batch")
def test_batch(submission, reference, rand):
    """Adds the same rows to every text of a batch."""
    compare(submission, reference, rand, (3, 5, D))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="for the longest text")
def test_longest(submission, reference, rand):
    """Takes a text of max_len tokens, whatever the max_len of other tables is."""
    compare(submission, reference, rand, (2, LONGEST, D), beside=True)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="for one token")
def test_one_token(submission, reference, rand):
    """Takes a single token, which stands at place 0."""
    compare(submission, reference, rand, (4, 1, D))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="for more texts than places")
def test_many_texts(submission, reference, rand):
    """Takes more texts than there are places."""
    compare(submission, reference, rand, (LONGEST + 4, 3, D))


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="in other sizes")
@pytest.mark.parametrize("order", [1, -1])
def test_other_sizes(submission, reference, rand, order):
    """Works for any sizes, whichever is larger."""
    batch, tokens, width = rand.sizes(3)[::order]
    compare(submission, reference, rand, (batch, tokens, width), tokens + int(rand.integers(0, 5, 1)))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where one size is large")
@pytest.mark.parametrize("axis", range(3))
def test_no_largest(submission, reference, rand, axis):
    """Has no largest batch, longest text or width."""
    shape = [2, 3, 4]
    shape[axis] = rand.large()
    compare(submission, reference, rand, shape, shape[1] + 2)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where all sizes are equal")
def test_cube(submission, reference, rand):
    """Follows the axis of the tokens where all sizes are equal, too."""
    compare(submission, reference, rand, (5, 5, 5), 5)


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="on a text that is too long")
@pytest.mark.parametrize(("tokens", "batch"), TOO_LONG, ids=str)
def test_too_long(submission, rand, tokens, batch):
    """Raises ValueError for more tokens than there are places."""
    made, x = built(submission, rand), rand(batch, tokens, D)
    try:
        made(x)
    except LearnerError as error:
        if error.kind != "raised":
            raise
        if error.type_name != "ValueError":
            fail(f"{tokens} tokens with max_len = {LONGEST} raise {error.type_name}; expected ValueError.")
    else:
        fail(f"{tokens} tokens with max_len = {LONGEST} are taken silently; expected ValueError.")


@pytest.mark.check(skill="gradients", points=2, needs="test_shape", stage="in its gradient")
def test_gradient(submission, reference, rand):
    """Lets the right gradient through to x, and to the rows that were used."""
    state, x, weights = {"weight": rand(LONGEST, D)}, rand(3, 5, D), rand(3, 5, D)
    both = [subject.LearnedPositionalEmbedding(LONGEST, D, state=state) for subject in (submission, reference)]
    assert_gradients_match(*both, x, wrt=[0], weights=weights)


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_names")
def test_manners(submission, rand):
    """Leaves its input alone, gives the same twice, and works on the device where its input is."""
    made, x = built(submission, rand), rand(2, 5, D)
    assert_unchanged(made.observe(x), x)
    assert_repeatable(made, x)
    assert_portable(made, x)
