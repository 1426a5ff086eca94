"""The hidden checks of `attention`."""

import pytest
import torch

from grader.api.checks import (
    ATOL,
    CheckFailed,
    LearnerError,
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    fail,
    is_array,
    same,
)

# B=2, H=3, T=5, S=7: no two sizes are the same, so that no axis can stand in for another.
BATCH = ((2, 5, 12), (2, 7, 12), (2, 7, 11))
AS_WIDE = ((2, 5, 12), (2, 7, 12), (2, 7, 12))  # values as wide as the keys
HEADS = ((2, 3, 5, 12), (2, 3, 7, 12), (2, 3, 7, 11))
SQUARE = ((2, 5, 12), (2, 5, 12), (2, 5, 12))  # where nothing but manners can go wrong, a transposed mask neither


def drawn(rand, shapes):
    """q, k and v of these shapes."""
    return [rand(*shape) for shape in shapes]


def assert_attends(submission, reference, q, k, v, atol=ATOL, hint="", **mask):
    """The submission's attention equals the reference's.

    One that takes no values but those as wide as the keys is asked with such: that is a mistake of its own.
    Each column of the values is mixed by itself, so what is expected then is known.
    """
    expected = reference.scaled_dot_product_attention(q, k, v, **mask)
    try:
        actual = submission.scaled_dot_product_attention(q, k, v, **mask)
        if is_array(actual) and actual.shape != expected.shape and mixes_as_wide(submission, q, k, v, expected, **mask):
            return
    except LearnerError as error:
        if error.kind == "raised" and mixes_as_wide(submission, q, k, v, expected, **mask):
            return
        raise
    assert_matches(actual, expected, atol, hint)


def mixes_as_wide(submission, q, k, v, expected, **mask):
    """Whether it is right once the values are as wide as the keys."""
    columns = torch.arange(k.size(-1)) % v.size(-1)
    try:
        return same(submission.scaled_dot_product_attention(q, k, v[..., columns], **mask), expected[..., columns])
    except LearnerError:
        return False


def causal(size):
    """True on and below the diagonal."""
    return torch.ones(size, size, dtype=torch.bool).tril()


@pytest.mark.check(skill="shape", points=1, public=True)
def test_shape(submission, reference, rand):
    """Gives one row for every query, as wide as the values."""
    q, k, v = drawn(rand, BATCH)
    expected = reference.scaled_dot_product_attention(q, k, v)
    try:
        assert_shape(submission.scaled_dot_product_attention(q, k, v), (2, 5, 11))
    except (CheckFailed, LearnerError):
        if not mixes_as_wide(submission, q, k, v, expected):
            raise


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="values", points=4, needs="test_shape", public=True)
def test_values(submission, reference, rand):
    """Equals the reference without a mask."""
    q, k, v = drawn(rand, BATCH)
    assert_attends(submission, reference, q, k, v)


@pytest.mark.check(skill="values", points=2, needs="test_shape", public=True)
def test_weights_sum_to_one(submission, rand):
    """Gives every query weights that sum to 1."""
    q, k = rand(2, 5, 7), rand(2, 7, 7)
    # with the identity matrix for values, the output is the table of weights
    weights = submission.scaled_dot_product_attention(q, k, torch.eye(7).expand(2, 7, 7))
    assert_shape(weights, (2, 5, 7))
    assert_matches(weights.sum(-1), torch.ones(2, 5), hint="(Sums of each query's weights over the keys.)")
    if (weights < 0).any():
        fail("Some weights are negative.")


@pytest.mark.check(skill="values", points=1, needs="test_shape", public=True, stage="in the examples of the exercise")
def test_examples(submission, reference):
    """Gives what the examples of the exercise show, the one with a mask too."""
    q, k = torch.tensor([[2.0, 0.0, 0.0, 0.0]]), torch.eye(4)[:3]
    v = torch.tensor([[10.0, 0.0], [0.0, 10.0], [0.0, 0.0]])
    mask = torch.tensor([[True, False, True]])
    assert_attends(submission, reference, q, k, v)
    assert_attends(submission, reference, q, k, v, mask=mask)


@pytest.mark.check(skill="values", points=1, needs="test_shape")
@pytest.mark.parametrize("width", [3, 20, 48])
def test_scale(submission, reference, rand, width):
    """Scales by the square root of d_k, whatever d_k is."""
    q, k, v = rand(2, 5, width), rand(2, 7, width), rand(2, 7, 11)
    assert_attends(submission, reference, q, k, v)


@pytest.mark.check(skill="values", points=1, needs="test_shape", stage="one key")
def test_one_key(submission, rand):
    """Gives every query the only value there is when there is one key."""
    q, k, v = rand(2, 5, 12), rand(2, 1, 12), rand(2, 1, 12)
    assert_matches(submission.scaled_dot_product_attention(q, k, v), v.expand(2, 5, 12).clone())


# --- generality -------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="generality", points=0.5, needs="test_values", stage="with one query")
def test_one_query(submission, reference, rand):
    """Answers a single query of each text, as it stands when a model writes its next token."""
    q, k, v = rand(3, 1, 12), rand(3, 7, 12), rand(3, 7, 11)
    assert_attends(submission, reference, q, k, v)


@pytest.mark.check(skill="generality", points=1, needs="test_shape")
@pytest.mark.parametrize("lead", [(), (1, 3), (2, 3, 2)], ids=["two axes", "four axes", "five axes"])
def test_leading_axes(submission, reference, rand, lead):
    """Works for a single matrix, for heads of a batch of one, and for any number of leading axes."""
    queries, keys, width, outputs = rand.sizes(4)
    q, k, v = rand(*lead, queries, width), rand(*lead, keys, width), rand(*lead, keys, outputs)
    assert_attends(submission, reference, q, k, v)


@pytest.mark.check(skill="generality", points=5.5, needs="test_shape")
def test_value_width(submission, reference, rand):
    """Takes values of another width than the keys have."""
    q, k, v = drawn(rand, BATCH)
    expected = reference.scaled_dot_product_attention(q, k, v)
    assert_matches(submission.scaled_dot_product_attention(q, k, v), expected)


@pytest.mark.check(skill="generality", points=1, needs="test_shape")
def test_equal_sizes(submission, reference, rand):
    """Is right where all sizes are equal too, so that a wrong axis raises no error."""
    q, k, v = rand(3, 3, 3), rand(3, 3, 3), rand(3, 3, 3)
    assert_attends(submission, reference, q, k, v)


@pytest.mark.check(skill="generality", points=0.5, needs="test_values", stage="on long texts, or wide ones")
@pytest.mark.parametrize("axis", ["queries", "keys", "width"])
def test_no_largest(submission, reference, rand, axis):
    """Has no largest number of queries, keys or features."""
    few = rand.sizes(1, low=50)[0]
    sizes = {"queries": few, "keys": few, "width": 4} | {axis: rand.large()}
    queries, keys, width = sizes.values()
    q, k, v = rand(queries, width), rand(keys, width), rand(keys, width if axis == "width" else 3)
    assert_attends(submission, reference, q, k, v)


@pytest.mark.check(skill="generality", points=0.5, needs="test_values", stage="on slices of larger tensors")
def test_slices(submission, reference, rand):
    """Works for q, k and v whose memory has gaps, as heads have that were cut out of one tensor."""
    q, k, v = rand(2, 3, 5, 12), rand(2, 3, 7, 12), rand(2, 3, 7, 12)
    expected = reference.scaled_dot_product_attention(q, k, v)
    assert_matches(submission.scaled_dot_product_attention.on_slices(q, k, v), expected)


# --- masking ----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="masking", points=3, needs="test_shape", public=True)
def test_mask(submission, reference, rand):
    """Hides from each query exactly the keys that its row of the mask blocks."""
    q, k, v = drawn(rand, BATCH)
    mask = rand.mask(2, 5, 7)
    assert_attends(submission, reference, q, k, v, mask=mask)


@pytest.mark.check(skill="masking", points=2, needs="test_shape")
def test_causal_mask(submission, reference, rand):
    """Hides the future, and not the past, under a causal mask."""
    q, k, v = rand(2, 3, 5, 12), rand(2, 3, 5, 12), rand(2, 3, 5, 11)
    assert_attends(submission, reference, q, k, v, mask=causal(5))


@pytest.mark.check(skill="masking", points=1, needs="test_shape")
@pytest.mark.parametrize(
    "shape", [(5, 7), (2, 1, 5, 7), (2, 1, 1, 7), (7,)], ids=["all", "each batch row", "padding", "one axis"]
)
def test_smaller_mask(submission, reference, rand, shape):
    """Broadcasts a mask that is smaller than the scores."""
    q, k, v = drawn(rand, HEADS)
    mask = rand.mask(*shape)
    assert_attends(submission, reference, q, k, v, mask=mask)


@pytest.mark.check(skill="masking", points=1, needs="test_values")
def test_blocked_value(submission, reference, rand):
    """Gives blocked keys exactly no weight: a huge value behind one leaves no trace."""
    q, k, v = drawn(rand, BATCH)
    mask = rand.mask(1, 7).expand(5, 7).clone()
    v = torch.where(mask[0, :, None], v, torch.tensor(1e20))
    assert_attends(submission, reference, q, k, v, mask=mask)


@pytest.mark.check(skill="masking", points=1, needs="test_mask", stage="where allowed scores are exactly 0")
def test_zero_scores(submission, reference, rand):
    """Lets a query attend to allowed keys whose score is exactly 0."""
    q, k, v = drawn(rand, BATCH)
    q[:, 1] = 0.0
    mask = rand.mask(5, 7)
    assert_attends(submission, reference, q, k, v, mask=mask)


@pytest.mark.check(skill="masking", points=1, needs="test_values")
def test_mask_of_true(submission, reference, rand):
    """Hides nothing under a mask that is True everywhere."""
    q, k, v = drawn(rand, HEADS)
    mask = torch.ones(5, 7, dtype=torch.bool)
    assert_attends(submission, reference, q, k, v, mask=mask)


# --- stability --------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="stability", points=1, needs="test_shape")
def test_large_scores(submission, reference, rand):
    """Survives scores of several hundred, and beside them a query whose scores are small."""
    k, v = 0.02 * rand(2, 7, 12), rand(2, 7, 11)
    k[:, range(7), range(7)] += 25
    # two keys of almost one score, 180 and 179: without the scale their weights are wrong, whatever the seed
    q = k[:, [3, 0, 6, 1, 4]] + 0.995 * k[:, [5, 2, 1, 6, 0]]
    q[:, 0] *= 0.01
    assert_attends(submission, reference, q, k, v, atol=1e-3)


@pytest.mark.check(skill="stability", points=1, needs="test_mask", stage="where all scores are very low")
def test_low_scores(submission, reference, rand):
    """Hides blocked keys even where every score is near -2000."""
    low_scores(submission, reference, rand, -50.0, "Is the number that you fill with low enough?")


@pytest.mark.check(skill="stability", points=1, needs="test_low_scores", stage="where a blocked score is far ahead")
def test_blocked_ahead(submission, reference, rand):
    """Gives the allowed keys their weights even where a blocked score is far above theirs."""
    low_scores(submission, reference, rand, 0.0, "Is a blocked score the largest that softmax sees?")


def low_scores(submission, reference, rand, blocked, hint):
    """Allowed scores are near -2000; those of keys that begin with *blocked* are 40 times as much."""
    q, k, v = rand(5, 16), rand(7, 16), rand(7, 11)
    mask = torch.tensor([[True, False, True, True, False, True, False]])
    q[:, 0], k[:, 0] = 160.0, torch.where(mask[0], -50.0, blocked)  # 160 · 50 / √16 = 2000
    assert_attends(submission, reference, q, k, v, mask=mask, atol=2e-3, hint=hint)


# --- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="gradients", points=2, needs="test_values")
def test_gradients(submission, reference, rand):
    """Lets the right gradients through to q, k and v."""
    q, k, v = drawn(rand, AS_WIDE)
    attend, expected = submission.scaled_dot_product_attention, reference.scaled_dot_product_attention
    assert_gradients_match(attend, expected, q, k, v, wrt=[0, 1, 2], weights=rand(2, 5, 12))


@pytest.mark.check(skill="gradients", points=1, needs="test_mask")
def test_masked_gradients(submission, reference, rand):
    """Lets the right gradients through a mask: none to a key that every query is kept from."""
    q, k, v = drawn(rand, AS_WIDE)
    mask = rand.mask(2, 5, 7)
    mask[..., 2], mask[..., 4] = False, True
    attend, expected = submission.scaled_dot_product_attention, reference.scaled_dot_product_attention
    assert_gradients_match(attend, expected, q, k, v, wrt=[0, 1, 2], weights=rand(2, 5, 12), mask=mask)


# --- manners ----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="hygiene", points=0.5)
def test_inputs_unchanged(submission, rand):
    """Leaves q, k, v and the mask alone."""
    q, k, v = drawn(rand, SQUARE)
    mask = rand.mask(5, 5)
    observed = submission.scaled_dot_product_attention.observe(q, k, v, mask=mask)
    assert_unchanged(observed, q, k, v)
    if not same(observed.kwargs["mask"], mask, 0.0):
        fail("The mask was changed by the call.")


@pytest.mark.check(skill="hygiene", points=1, needs="test_shape")
def test_repeatable(submission, rand):
    """Gives the same answer twice: there is no dropout."""
    q, k, v = drawn(rand, AS_WIDE)
    assert_repeatable(submission.scaled_dot_product_attention, q, k, v)


@pytest.mark.check(skill="hygiene", points=1, needs="test_values")
def test_dtype(submission, reference, rand):
    """Keeps the dtype of its inputs."""
    q, k, v = (rand(*shape, dtype=torch.float64) for shape in SQUARE)
    mask = causal(5)
    assert_attends(submission, reference, q, k, v, mask=mask)


@pytest.mark.check(skill="hygiene", points=0.5, needs=("test_mask", "test_dtype"), stage="in half precision")
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_half(submission, reference, rand, dtype):
    """Works in half precision, with a mask."""
    # equal scores, and four keys for each query: weights of 1/4, which every dtype has
    q, k, v = torch.zeros(2, 3, 8, dtype=dtype), rand(2, 5, 8, dtype=dtype), rand(2, 5, 8, dtype=dtype)
    mask = torch.tensor([True, True, False, True, True]).repeat(3, 1)
    assert_attends(submission, reference, q, k, v, mask=mask, atol=0.05)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape")
def test_device(submission, rand):
    """Runs on the device its inputs are on, with a mask and without."""
    q, k, v = drawn(rand, AS_WIDE)
    assert_portable(submission.scaled_dot_product_attention, q, k, v)
    assert_portable(submission.scaled_dot_product_attention, q, k, v, mask=rand.mask(5, 7))
