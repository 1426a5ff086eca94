"""The hidden checks of `language_batches`. Nearly all ids of a row differ, so that a place is known by its id."""

import pytest
import torch

from grader.api.checks import (
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    fail,
)

MANY = 1 << 40  # ids that are drawn from


def both(value):
    """What came back as two tensors, in a tuple or a list."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        fail("Two tensors are asked for: `return first, second`.")
    return value


def compare_parts(submission, reference, data, *share):
    """Both cut in the same place."""
    found, wanted = both(submission.split(data, *share)), reference.split(data, *share)
    for mine, theirs in zip(found, wanted, strict=True):
        assert_shape(mine, theirs.shape)
    assert_matches(found, wanted)


def compare_windows(submission, reference, data, starts, block_size):
    """Both cut the same windows."""
    found, wanted = both(submission.get_batch(data, starts, block_size)), reference.get_batch(data, starts, block_size)
    for mine, theirs in zip(found, wanted, strict=True):
        assert_shape(mine, theirs.shape)
    assert_matches(found, wanted)


# --- split ------------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, public=True, function="split")
def test_sizes_of_parts(submission, rand):
    """Cuts 20 ids into 18 and 2 for a share of 0.9."""
    train, held_out = both(submission.split(rand.integers(0, MANY, 20), 0.9))
    assert_shape(train, (18,))
    assert_shape(held_out, (2,))


@pytest.mark.check(skill="values", points=3, needs="test_sizes_of_parts", public=True, function="split",
                   stage="in its two parts")  # fmt: skip
def test_parts(submission, reference, rand):
    """Gives the beginning for training and holds out the end, each in its order."""
    compare_parts(submission, reference, rand.integers(0, MANY, 20), 0.9)


@pytest.mark.check(skill="values", points=1, function="split", stage="where no share is given")
def test_default_share(submission, reference, rand):
    """Takes nine tenths for training where no share is given."""
    for length in (30, 10 * rand.large()):
        compare_parts(submission, reference, rand.integers(0, MANY, length))


@pytest.mark.check(skill="generality", points=1, function="split", stage="for a share of {share}")
@pytest.mark.parametrize("share", [0.25, 0.5, 0.8])
def test_other_shares(submission, reference, rand, share):
    """Takes any share, also less than half."""
    compare_parts(submission, reference, rand.integers(0, MANY, 20), share)


@pytest.mark.check(skill="generality", points=1, function="split", stage="for another length")
def test_other_length(submission, reference, rand):
    """Takes a row of any length."""
    for length in (rand.sizes(1, 7)[0], rand.large()):
        compare_parts(submission, reference, rand.integers(0, MANY, 4 * length), 0.75)


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_sizes_of_parts", function="split")
def test_manners_of_split(submission, rand):
    """Leaves the row alone, and cuts it in the same way twice."""
    data = rand.integers(0, MANY, 20)
    assert_unchanged(submission.split.observe(data, 0.5), data)
    assert_repeatable(submission.split, data, 0.5)


# --- get_batch --------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, public=True, function="get_batch")
def test_shapes_of_windows(submission, rand):
    """Gives inputs and targets of shape (B, T)."""
    inputs, targets = both(submission.get_batch(rand.integers(0, MANY, 30), torch.tensor([4, 0, 11]), 5))
    assert_shape(inputs, (3, 5))
    assert_shape(targets, (3, 5))


@pytest.mark.check(skill="values", points=3, needs="test_shapes_of_windows", public=True, function="get_batch",
                   stage="for several windows")  # fmt: skip
def test_windows(submission, reference, rand):
    """Cuts the window at each start, and the same one place later."""
    compare_windows(submission, reference, rand.integers(0, MANY, 30), torch.tensor([4, 0, 11]), 5)


@pytest.mark.check(skill="values", points=1, function="get_batch", stage="for one window")
def test_one_window(submission, reference, rand):
    """Takes a single start."""
    compare_windows(submission, reference, rand.integers(0, MANY, 20), torch.tensor([6]), 4)


@pytest.mark.check(skill="generality", points=2, function="get_batch", stage="for the first and the last window")
def test_first_and_last(submission, reference, rand):
    """Takes the starts 0 and N − T − 1: the last target is the last id of the row."""
    compare_windows(submission, reference, rand.integers(0, MANY, 13), torch.tensor([8, 0]), 4)


@pytest.mark.check(skill="generality", points=1, function="get_batch", stage="for windows of one id")
def test_one_id(submission, reference, rand):
    """Takes windows of one id."""
    compare_windows(submission, reference, rand.integers(0, MANY, 9), torch.tensor([7, 2, 5]), 1)


@pytest.mark.check(skill="generality", points=1, function="get_batch", stage="for a window of the whole row")
def test_whole_row(submission, reference, rand):
    """Takes a window of the whole row but its last id."""
    compare_windows(submission, reference, rand.integers(0, MANY, 8), torch.tensor([0]), 7)


@pytest.mark.check(skill="generality", points=1, function="get_batch", stage="for starts of all kinds")
def test_any_starts(submission, reference, rand):
    """Takes starts in any order, one twice, whose windows overlap; of any number, in windows of any size."""
    windows, block_size = rand.sizes(2, 3)
    data = rand.integers(0, MANY, block_size + 12)
    starts = rand.integers(0, 12, windows)
    starts[-1] = starts[0]
    compare_windows(submission, reference, data, starts, block_size)


@pytest.mark.check(skill="generality", points=1, function="get_batch", stage="for long windows, or many")
def test_no_largest(submission, reference, rand):
    """Has no longest window and no largest number of windows."""
    for windows, block_size in ((3, rand.large()), (rand.large(), 3)):
        data = rand.integers(0, MANY, block_size + 12)
        compare_windows(submission, reference, data, rand.integers(0, 12, windows), block_size)


@pytest.mark.check(skill="generality", points=1, function="get_batch", stage="where B = T")
def test_square(submission, reference, rand):
    """Has a row for each window where there are as many windows as ids in one."""
    compare_windows(submission, reference, rand.integers(0, MANY, 15), torch.tensor([3, 9, 0, 5]), 4)


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_shapes_of_windows", function="get_batch")
def test_manners_of_get_batch(submission, rand):
    """Leaves row and starts alone, gives the same twice, and works on the device where they are."""
    data, starts = rand.integers(0, MANY, 20), torch.tensor([2, 9])
    assert_unchanged(submission.get_batch.observe(data, starts, 4), data, starts)
    assert_repeatable(submission.get_batch, data, starts, 4)
    assert_portable(submission.get_batch, data, starts, 4)
