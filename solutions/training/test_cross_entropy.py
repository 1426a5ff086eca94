"""The hidden checks of `cross_entropy`.

Whatever is left out is worth a check of its own: a mean over the wrong positions is a plausible number.
"""

import math

import pytest
import torch

from grader.api.checks import (
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_shape,
    assert_unchanged,
    fail,
    kind_of,
)

V = 7  # classes; most batches are (3, 5): all sizes differ
LEFT_OUT = -100


def targets(rand, *shape, classes=V, keep=0.6, ignore=LEFT_OUT):
    """Random classes, of which some in every row are left out, not equally many in each."""
    mask = rand.mask(*shape, keep=keep)
    mask[0] = True
    return rand.integers(0, classes, *shape).masked_fill(~mask, ignore)


# --- cross_entropy ----------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, function="cross_entropy", public=True)
def test_one_number(submission, rand):
    """Gives one number for a whole batch."""
    assert_shape(submission.cross_entropy(rand(3, 5, V), rand.integers(0, V, 3, 5)), ())


@pytest.mark.check(skill="values", points=3, function="cross_entropy", needs="test_one_number", public=True,
                   stage="for one row of positions")  # fmt: skip
def test_positions(submission, reference, rand):
    """Equals the reference for a row of positions that all count."""
    logits, answers = rand(6, V), rand.integers(0, V, 6)
    assert_matches(submission.cross_entropy(logits, answers), reference.cross_entropy(logits, answers))


@pytest.mark.check(skill="generality", points=2, function="cross_entropy", needs="test_one_number",
                   stage="with any leading axes")  # fmt: skip
@pytest.mark.parametrize("axes", [0, 2, 3])
def test_leading_axes(submission, reference, rand, axes):
    """Equals the reference with no leading axis, with two, and with three of which one has the size 1."""
    *lead, classes = rand.sizes(axes + 1)
    if axes == 3:
        lead[1] = 1
    logits, answers = rand(*lead, classes), rand.integers(0, classes, *lead)
    assert_matches(submission.cross_entropy(logits, answers), reference.cross_entropy(logits, answers))


@pytest.mark.check(skill="generality", points=1, function="cross_entropy", needs="test_one_number",
                   stage="where all sizes are equal")  # fmt: skip
def test_cube(submission, reference, rand):
    """Is right where all sizes are equal too, and a wrong axis goes unnoticed."""
    logits, answers = rand(4, 4, 4), rand.integers(0, 4, 4, 4)
    assert_matches(submission.cross_entropy(logits, answers), reference.cross_entropy(logits, answers))


@pytest.mark.check(skill="generality", points=1, function="cross_entropy", needs="test_one_number",
                   stage="with many classes, or positions")  # fmt: skip
def test_no_largest(submission, reference, rand):
    """Has no largest number of classes or positions."""
    for rows, classes in ((3, rand.large()), (rand.large(), 4)):
        logits, answers = rand(rows, classes, scale=3.0), targets(rand, rows, 2, classes=classes)[:, 0]
        assert_matches(submission.cross_entropy(logits, answers), reference.cross_entropy(logits, answers), atol=1e-3)


@pytest.mark.check(skill="masking", points=3, function="cross_entropy", needs="test_one_number",
                   stage="where some positions do not count")  # fmt: skip
@pytest.mark.parametrize("classes", [V, 131])
def test_left_out(submission, reference, rand, classes):
    """Leaves out the positions whose target is -100, and takes one mean over the others."""
    logits, answers = rand(3, 5, classes, scale=3.0), targets(rand, 3, 5, classes=classes)
    assert_matches(submission.cross_entropy(logits, answers), reference.cross_entropy(logits, answers))


@pytest.mark.check(skill="masking", points=2, function="cross_entropy", needs="test_one_number",
                   stage="with ignore_index={ignore}")  # fmt: skip
@pytest.mark.parametrize("ignore", [0, V - 1, -1, V + 40])
def test_another_index(submission, reference, rand, ignore):
    """Leaves out another index where it is asked to, be it a class or not."""
    logits, answers = rand(3, 5, V, scale=3.0), targets(rand, 3, 5, ignore=ignore)
    expected = reference.cross_entropy(logits, answers, ignore_index=ignore)
    assert_matches(submission.cross_entropy(logits, answers, ignore_index=ignore), expected)


@pytest.mark.check(skill="masking", points=1, function="cross_entropy", needs="test_one_number",
                   stage="where no position counts")  # fmt: skip
def test_nothing_counts(submission, rand):
    """Gives NaN where no position counts: a loss of 0 would pass for a perfect prediction."""
    loss = submission.cross_entropy(rand(2, 3, V), torch.full((2, 3), LEFT_OUT))
    assert_shape(loss, ())
    if not loss.isnan():
        fail(f"No position counts, and the loss is {loss.item():g}; expected NaN, as torch gives.")
    wide = submission.cross_entropy(rand(2, 3, V, dtype=torch.float64), torch.full((2, 3), LEFT_OUT))
    assert_matches(wide, torch.tensor(float("nan"), dtype=torch.float64))


@pytest.mark.check(skill="values", points=2, function="cross_entropy", needs="test_one_number",
                   stage="with label_smoothing={smoothing}")  # fmt: skip
@pytest.mark.parametrize("smoothing", [0.1, 0.5, 1.0])
def test_smoothing(submission, reference, rand, smoothing):
    """Equals the reference with label smoothing, whether all positions count or not, and whatever is left out."""
    logits = rand(3, 5, V, scale=2.0)
    answers = targets(rand, 3, 5) if smoothing == 1.0 else rand.integers(0, V, 3, 5)
    given = {"label_smoothing": smoothing} | ({"ignore_index": answers[0, 0].item()} if smoothing == 0.1 else {})
    assert_matches(
        submission.cross_entropy(logits, answers, **given), reference.cross_entropy(logits, answers, **given)
    )


@pytest.mark.check(skill="stability", points=2, function="cross_entropy", needs="test_one_number",
                   stage="on logits near {offset:+.0f}")  # fmt: skip
@pytest.mark.parametrize("offset", [1000.0, -1000.0])
def test_large_logits(submission, reference, rand, offset):
    """Survives logits near +1000 and -1000."""
    logits, answers = rand(3, 5, V) + offset, rand.integers(0, V, 3, 5)
    assert_matches(submission.cross_entropy(logits, answers), reference.cross_entropy(logits, answers), atol=1e-3)


@pytest.mark.check(skill="stability", points=2, function="cross_entropy", needs="test_one_number",
                   stage="where the right class has no chance")  # fmt: skip
def test_sure_and_wrong(submission, reference):
    """Is finite where the right class lies 200 below another one: the loss is 200."""
    logits, answers = torch.tensor([[0.0, 200.0, 3.0], [0.0, 1.0, 2.0]]), torch.tensor([0, 2])
    for smoothing in (0.0, 0.1):
        found, expected = (
            each.cross_entropy(logits, answers, label_smoothing=smoothing) for each in (submission, reference)
        )
        assert_matches(found, expected)


@pytest.mark.check(skill="gradients", points=2, function="cross_entropy", needs="test_one_number",
                   stage="in its gradient")  # fmt: skip
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_gradient(submission, reference, rand, smoothing):
    """Lets the right gradient through, and none to positions that do not count."""
    logits, answers = rand(3, 5, V), targets(rand, 3, 5)
    assert_gradients_match(submission.cross_entropy, reference.cross_entropy, logits, answers, wrt=[0],
                           weights=torch.tensor(3.0), label_smoothing=smoothing)  # fmt: skip


@pytest.mark.check(skill="hygiene", points=0.5, function="cross_entropy")
def test_inputs_unchanged(submission, rand):
    """Leaves logits and targets alone."""
    logits, answers = rand(3, 5, V), targets(rand, 3, 5)
    assert_unchanged(submission.cross_entropy.observe(logits, answers), logits, answers)


@pytest.mark.check(skill="hygiene", points=0.5, function="cross_entropy", needs="test_one_number", stage="with float64")
def test_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of the logits."""
    logits, answers = rand(3, 5, V, dtype=torch.float64), rand.integers(0, V, 3, 5)
    assert_matches(submission.cross_entropy(logits, answers), reference.cross_entropy(logits, answers))
    assert_portable(submission.cross_entropy, rand(3, 5, V), answers)


# --- perplexity -------------------------------------------------------------------------------------------------------


def number(value):
    """The perplexity as a float; it must be one."""
    if not isinstance(value, float):
        fail(f"It returned {kind_of(value)}; expected a Python float.")
    return value


def losses_and_counts(rand, batches):
    """Means of very different batches."""
    losses = [round(abs(float(loss)) + 0.5, 3) for loss in rand(batches)]
    return losses, [int(count) for count in rand.integers(1, 400, batches)]


@pytest.mark.check(skill="shape", points=1, function="perplexity", public=True)
def test_a_float(submission):
    """Gives a Python float."""
    number(submission.perplexity([1.5], [20]))


@pytest.mark.check(skill="values", points=1, function="perplexity", needs="test_a_float", public=True,
                   stage="of a single batch")  # fmt: skip
def test_one_batch(submission, reference):
    """Equals the reference for a single batch."""
    assert_matches(number(submission.perplexity([1.5], [20])), reference.perplexity([1.5], [20]))


@pytest.mark.check(skill="values", points=1, function="perplexity", needs="test_a_float",
                   stage="of a blind guess among {classes}")  # fmt: skip
@pytest.mark.parametrize("classes", [2, 27])
def test_blind_guess(submission, classes):
    """Is V for a model that gives each of V classes the same probability: as many sides as the die has."""
    assert_matches(number(submission.perplexity([math.log(classes)] * 2, [3, 5])), float(classes), atol=1e-3)


@pytest.mark.check(skill="values", points=1, function="perplexity", needs="test_a_float",
                   stage="of batches of one size")  # fmt: skip
def test_equal_batches(submission, reference, rand):
    """Equals the reference for batches with equally many tokens."""
    losses, _ = losses_and_counts(rand, 4)
    assert_matches(number(submission.perplexity(losses, [32] * 4)), reference.perplexity(losses, [32] * 4))


@pytest.mark.check(skill="generality", points=3, function="perplexity", needs="test_a_float",
                   stage="of batches of different sizes")  # fmt: skip
@pytest.mark.parametrize("more", [1, 2, 3])
def test_unequal_batches(submission, reference, rand, more):
    """Weighs each batch by its tokens, however many batches there are."""
    losses, counts = losses_and_counts(rand, rand.sizes(more)[-1])
    losses, counts = [*losses, 4.0], [*counts, 1]
    assert_matches(number(submission.perplexity(losses, counts)), reference.perplexity(losses, counts))


@pytest.mark.check(skill="generality", points=1, function="perplexity", needs="test_a_float",
                   stage="of many batches")  # fmt: skip
def test_many_batches(submission, reference, rand):
    """Has no largest number of batches."""
    losses, counts = losses_and_counts(rand, rand.large())
    assert_matches(number(submission.perplexity(losses, counts)), reference.perplexity(losses, counts))


@pytest.mark.check(skill="stability", points=1, function="perplexity", needs="test_a_float",
                   stage="of a text without hope")  # fmt: skip
def test_hopeless(submission, reference):
    """Has no largest perplexity: a mean loss of 30 is 10 million million, and one of 100 fits into a float, too."""
    for losses in ([20.0, 40.0], [90.0, 110.0]):
        found, expected = (number(each.perplexity(losses, [5, 5])) for each in (submission, reference))
        assert_matches(found / expected, 1.0)


@pytest.mark.check(skill="hygiene", points=0.5, function="perplexity")
def test_lists_unchanged(submission):
    """Leaves both lists alone."""
    losses, counts = [2.0, 1.0, 3.0], [7, 11, 2]
    assert_unchanged(submission.perplexity.observe(losses, counts), losses, counts)
