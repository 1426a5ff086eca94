"""The hidden checks of `embedding`: every check loads a table of its own by name."""

import pytest
import torch

from grader.api.checks import (
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    fail,
)

V, D = 11, 6


def built(subject, rand, vocab_size=V, d_model=D):
    """A table that holds random numbers."""
    return subject.Embedding(vocab_size, d_model, state={"weight": rand(vocab_size, d_model)})


def pair(submission, reference, rand, vocab_size=V, d_model=D):
    """The learner's table and the reference's, holding the same numbers."""
    state = {"weight": rand(vocab_size, d_model)}
    return [subject.Embedding(vocab_size, d_model, state=state) for subject in (submission, reference)]


def compare(submission, reference, rand, ids, vocab_size=V, d_model=D):
    """Both tables give the same for these ids."""
    mine, theirs = pair(submission, reference, rand, vocab_size, d_model)
    actual = mine(ids)
    assert_shape(actual, (*ids.shape, d_model))
    assert_matches(actual, theirs(ids))


@pytest.mark.check(skill="shape", points=0.4, public=True)
def test_names(submission, rand):
    """Has `weight` in its state dict, and no other name."""
    table = built(submission, rand)
    if table.unexpected or table.missing:  # what was loaded and the table did not know; what it has besides
        has = ", ".join(f"`{name}`" for name in table.missing[:5]) or "no other"
        fail(f"The state dict must have exactly one name, `weight`. Yours lacks it or has more: {has}.")


@pytest.mark.check(skill="training", points=0.4, needs="test_names", public=True)
def test_is_a_parameter(submission):
    """Makes the table a parameter, so that an optimizer finds it."""
    if submission.Embedding(V, D).state()["parameters"] != ["weight"]:
        fail("`weight` is not the one parameter of the module: no optimizer would ever move it.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True)
def test_shape(submission, rand):
    """Gives a vector of width D for each id: (B, T) becomes (B, T, D)."""
    assert_shape(built(submission, rand)(rand.integers(0, V, 2, 5)), (2, 5, D))


@pytest.mark.check(skill="values", points=3, needs="test_names", public=True, stage="for one row of ids")
def test_values(submission, reference, rand):
    """Gives row i for id i."""
    compare(submission, reference, rand, rand.integers(0, V, 5))


@pytest.mark.check(skill="values", points=2, needs="test_names", stage="for every id once")
def test_every_id(submission, reference, rand):
    """Gives the table itself for the ids 0 ... V − 1, id 0 and the last one included."""
    compare(submission, reference, rand, torch.arange(V))


@pytest.mark.check(skill="generality", points=2, needs="test_values", stage="for ids with {axes} axes")
@pytest.mark.parametrize("axes", [0, 2, 3])
def test_any_shape(submission, reference, rand, axes):
    """Takes ids of any shape: a single one, a batch of texts, and more axes than that, the first of them of size 1."""
    shape = [1, *rand.sizes(2)] if axes == 3 else rand.sizes(axes)
    compare(submission, reference, rand, rand.integers(0, V, *shape))


@pytest.mark.check(skill="generality", points=1, needs="test_names", stage="in other sizes")
@pytest.mark.parametrize("order", [1, -1])
def test_other_sizes(submission, reference, rand, order):
    """Works for any V and D, whichever is larger."""
    vocab_size, d_model = rand.sizes(2)[::order]
    compare(submission, reference, rand, rand.integers(0, vocab_size, 3, 4), vocab_size, d_model)


@pytest.mark.check(skill="generality", points=1, needs="test_names", stage="where one size is large")
def test_no_largest(submission, reference, rand):
    """Has no largest V, D or number of ids, and leaves other tables as they are."""
    sizes = (rand.large(), 3, 20), (5, rand.large(), 3), (7, 3, rand.large())
    pairs = [pair(submission, reference, rand, *size[:2]) for size in sizes]  # all of them before the first is asked
    for (mine, theirs), (vocab_size, _, count) in zip(pairs, sizes, strict=True):
        ids = rand.integers(0, vocab_size, count)
        assert_matches(mine(ids), theirs(ids))


@pytest.mark.check(skill="generality", points=1, needs="test_names", stage="where V = D")
def test_square(submission, reference, rand):
    """Picks rows where V = D too, and columns would fit as well."""
    compare(submission, reference, rand, rand.integers(0, 7, 7), 7, 7)


@pytest.mark.check(skill="gradients", points=2, needs="test_shape", stage="in its gradient")
@pytest.mark.parametrize("shape", [(4,), (3, 4)], ids=["a text", "a batch"])
def test_gradient(submission, reference, rand, shape):
    """Adds up the gradient of an id over all its places, and leaves the rows of other ids at 0."""
    ids, weights = rand.integers(0, 4, *shape), rand(*shape, D)  # few ids: each is there twice, and most never
    assert_gradients_match(*pair(submission, reference, rand), ids, wrt=[], weights=weights)


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_names")
def test_manners(submission, rand):
    """Leaves the ids alone, gives the same twice, and works on the device where the table is."""
    table, ids = built(submission, rand), rand.integers(0, V, 2, 5)
    assert_unchanged(table.observe(ids), ids)
    assert_repeatable(table, ids)
    assert_portable(table, ids)


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_values", stage="with a table of float64")
def test_dtype(submission, reference, rand):
    """Gives the dtype of the table: float64 where the module was made so with `.double()`."""
    mine, theirs = pair(submission, reference, rand)
    ids = rand.integers(0, V, 2, 5)
    for table in (mine, theirs):
        table.method("double")()
    assert_matches(mine(ids), theirs(ids))
