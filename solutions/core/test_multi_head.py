"""The hidden checks of `split_heads`, `merge_heads` and `multi_head_attention`."""

import pytest
import torch

from grader.api.checks import (
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_shape,
    assert_unchanged,
    fail,
    same,
)

LOOSE = 1e-3  # for scores in the hundreds, where float32 itself is only good to 1e-5 before the softmax


def numbered(*shape):
    """Whole numbers 0, 1, 2, ... in this shape, so that every place can be told from every other."""
    return torch.arange(torch.Size(shape).numel()).reshape(shape)


# --- split_heads ------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, function="split_heads", public=True)
def test_split_shape(submission, rand):
    """Gives (batch, heads, positions, head width)."""
    assert_shape(submission.split_heads(rand(2, 5, 12), 3), (2, 3, 5, 4))


@pytest.mark.check(skill="values", points=3, needs="test_split_shape", function="split_heads")
def test_split_values(submission, reference, rand):
    """Gives every head its own features of every token."""
    num_heads, tokens, width = rand.sizes(3)
    x = rand(2, tokens, num_heads * width)
    hint = "The shape fits, the contents do not: head h holds columns h·d_head to (h+1)·d_head − 1 of every token."
    assert_matches(submission.split_heads(x, num_heads), reference.split_heads(x, num_heads), hint=hint)


@pytest.mark.check(skill="values", points=2, needs="test_split_shape", function="split_heads", public=True)
def test_split_neighbours(submission):
    """Keeps neighbouring columns together in one head, in their order."""
    x = numbered(1, 3, 8)
    heads = submission.split_heads(x, 2)
    assert_shape(heads, (1, 2, 3, 4))
    assert_matches(heads[:, 0], x[..., :4], hint="Head 0 should hold the first four columns.")
    assert_matches(heads[:, 1], x[..., 4:], hint="Head 1 should hold the last four columns.")


@pytest.mark.check(skill="values", points=0.5, needs="test_split_shape", function="split_heads", public=True)
def test_split_examples(submission, reference):
    """Gives what the examples of the exercise show."""
    x = torch.arange(12).view(1, 3, 4)
    assert_matches(submission.split_heads(x, 2), reference.split_heads(x, 2))


@pytest.mark.check(
    skill="generality",
    points=0.5,
    needs="test_split_values",
    function="split_heads",
    stage="on slices of larger tensors",
)
def test_split_slice(submission, reference, rand):
    """Works for a slice of a larger tensor, whose memory has gaps."""
    x = rand(2, 5, 12)
    assert_matches(submission.split_heads.on_slices(x, 3), reference.split_heads(x, 3))


@pytest.mark.check(
    skill="generality", points=1, needs="test_split_shape", function="split_heads", stage="with one head or one token"
)
@pytest.mark.parametrize(
    ("shape", "num_heads"), [((2, 5, 4), 1), ((2, 1, 12), 3), ((1, 5, 12), 4)], ids=["head", "token", "sequence"]
)
def test_split_single(submission, reference, rand, shape, num_heads):
    """Works for one head, one token and one sequence."""
    x = rand(*shape)
    assert_matches(submission.split_heads(x, num_heads), reference.split_heads(x, num_heads))


@pytest.mark.check(skill="generality", points=1, needs="test_split_shape", function="split_heads")
@pytest.mark.parametrize(
    ("shape", "num_heads"), [((2, 3, 12), 3), ((4, 4, 16), 4), ((2, 5, 6), 6)], ids=["T=H", "all-equal", "width-1"]
)
def test_split_coinciding_sizes(submission, reference, rand, shape, num_heads):
    """Is right also where sizes coincide and a wrong shape goes unnoticed."""
    x = rand(*shape)
    assert_matches(submission.split_heads(x, num_heads), reference.split_heads(x, num_heads))


@pytest.mark.check(
    skill="generality", points=1, needs="test_split_values", function="split_heads", stage="where one size is large"
)
def test_split_no_largest(submission, reference, rand):
    """Has no largest number of tokens, heads or features, nor of sequences."""
    large = rand.large()
    for shape, num_heads in (
        ((1, large, 6), 3),
        ((1, 2, 3 * large), large),
        ((1, 2, 3 * large), 3),
        ((large, 2, 4), 2),
    ):
        x = rand(*shape)
        assert_matches(submission.split_heads(x, num_heads), reference.split_heads(x, num_heads))


@pytest.mark.check(skill="gradients", points=1, needs="test_split_values", function="split_heads")
def test_split_gradient(submission, reference, rand):
    """Lets the gradient through to the tokens it came from."""
    x, weights = rand(2, 5, 12), rand(2, 3, 5, 4)
    assert_gradients_match(submission.split_heads, reference.split_heads, x, 3, wrt=[0], weights=weights)


@pytest.mark.check(skill="hygiene", points=1, needs="test_split_shape", function="split_heads")
def test_split_input_unchanged(submission, rand):
    """Leaves its input alone."""
    x = rand(2, 5, 12)
    assert_unchanged(submission.split_heads.observe(x, 3), x)


@pytest.mark.check(skill="hygiene", points=1, needs="test_split_values", function="split_heads")
def test_split_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input, whole numbers too."""
    for x in (rand(2, 5, 12, dtype=torch.float64), numbered(2, 5, 12)):
        assert_matches(submission.split_heads(x, 3), reference.split_heads(x, 3))
    assert_portable(submission.split_heads, rand(2, 5, 12), 3)


# --- merge_heads: every tensor here arrives newly made and contiguous, as the result of an attention is ---------------


@pytest.mark.check(skill="shape", points=1, function="merge_heads")
def test_merge_shape(submission, rand):
    """Gives (batch, positions, model width) for newly made heads."""
    assert_shape(submission.merge_heads(rand(2, 3, 5, 4)), (2, 5, 12))


@pytest.mark.check(skill="values", points=3, needs="test_merge_shape", function="merge_heads")
def test_merge_values(submission, reference, rand):
    """Puts each token's heads side by side."""
    x = rand(2, *rand.sizes(3))
    hint = "The shape fits, the contents do not: a token's row holds head 0's features, then head 1's, and so on."
    assert_matches(submission.merge_heads(x), reference.merge_heads(x), hint=hint)


@pytest.mark.check(skill="values", points=2, needs="test_merge_shape", function="merge_heads", public=True)
def test_merge_undoes_split(submission, reference):
    """Undoes a right split."""
    x = numbered(2, 3, 8)
    heads = reference.split_heads(x, 4)
    assert_matches(submission.merge_heads(heads), x, hint="Merging the reference's heads should give x back.")


@pytest.mark.check(skill="values", points=0.5, needs="test_merge_shape", function="merge_heads", public=True)
def test_merge_examples(submission, reference):
    """Gives what the example of the exercise shows."""
    x = torch.tensor([[[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]])
    assert_matches(submission.merge_heads(x), reference.merge_heads(x))


@pytest.mark.check(
    skill="generality",
    points=0.5,
    needs="test_merge_values",
    function="merge_heads",
    stage="on slices of larger tensors",
)
def test_merge_slice(submission, reference, rand):
    """Works for a slice of a larger tensor, whose memory has gaps."""
    x = rand(2, 3, 5, 4)
    assert_matches(submission.merge_heads.on_slices(x), reference.merge_heads(x))


@pytest.mark.check(
    skill="generality", points=1, needs="test_merge_shape", function="merge_heads", stage="with one head or one token"
)
@pytest.mark.parametrize("shape", [(2, 1, 5, 4), (2, 3, 1, 4), (1, 3, 5, 4)], ids=["head", "token", "sequence"])
def test_merge_single(submission, reference, rand, shape):
    """Works for one head, one token and one sequence."""
    x = rand(*shape)
    assert_matches(submission.merge_heads(x), reference.merge_heads(x))


@pytest.mark.check(skill="generality", points=1, needs="test_merge_shape", function="merge_heads")
@pytest.mark.parametrize("shape", [(2, 3, 3, 4), (3, 3, 3, 3), (2, 6, 5, 1)], ids=["T=H", "all-equal", "width-1"])
def test_merge_coinciding_sizes(submission, reference, rand, shape):
    """Is right also where sizes coincide and a wrong shape goes unnoticed."""
    x = rand(*shape)
    assert_matches(submission.merge_heads(x), reference.merge_heads(x))


@pytest.mark.check(
    skill="generality", points=1, needs="test_merge_values", function="merge_heads", stage="where one size is large"
)
@pytest.mark.parametrize("axis", range(4))
def test_merge_no_largest(submission, reference, rand, axis):
    """Has no largest number of sequences, heads, tokens or features."""
    shape = [1, 3, 2, 4]
    shape[axis] = rand.large()
    x = rand(*shape)
    assert_matches(submission.merge_heads(x), reference.merge_heads(x))


@pytest.mark.check(skill="gradients", points=1, needs="test_merge_values", function="merge_heads")
def test_merge_gradient(submission, reference, rand):
    """Lets the gradient through to the head it came from."""
    x, weights = rand(2, 3, 5, 4), rand(2, 5, 12)
    assert_gradients_match(submission.merge_heads, reference.merge_heads, x, wrt=[0], weights=weights)


@pytest.mark.check(skill="hygiene", points=1, needs="test_merge_shape", function="merge_heads")
def test_merge_input_unchanged(submission, rand):
    """Leaves its input alone."""
    x = rand(2, 3, 5, 4)
    assert_unchanged(submission.merge_heads.observe(x), x)


@pytest.mark.check(skill="hygiene", points=1, needs="test_merge_values", function="merge_heads")
def test_merge_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input, whole numbers too."""
    for x in (rand(2, 3, 5, 4, dtype=torch.float64), numbered(2, 3, 5, 4)):
        assert_matches(submission.merge_heads(x), reference.merge_heads(x))
    assert_portable(submission.merge_heads, rand(2, 3, 5, 4))


# --- multi_head_attention ---------------------------------------------------------------------------------------------


def weights_of(rand, d_model, **options):
    """Four projection matrices that keep the size of what they multiply: w_q, w_k, w_v, w_o."""
    return [rand(d_model, d_model, scale=d_model**-0.5, **options) for _ in range(4)]


def assert_attends(submission, reference, *args, atol=1e-4, hint="", **kwargs):
    """The submission's multi_head_attention equals the reference's on these arguments."""
    expected = reference.multi_head_attention(*args, **kwargs)
    actual = submission.multi_head_attention(*args, **kwargs)
    assert_matches(actual, expected, atol, hint)


@pytest.mark.check(skill="shape", points=1, function="multi_head_attention")
def test_attention_shape(submission, rand):
    """Gives back the shape of its input."""
    x = rand(2, 5, 12)
    assert_shape(submission.multi_head_attention(x, *weights_of(rand, 12), 3), x.shape)


@pytest.mark.check(
    skill="values", points=4, needs="test_attention_shape", function="multi_head_attention", public=True,
    stage="without a mask",
)  # fmt: skip
def test_attention_values(submission, reference, rand):
    """Equals the reference with three heads and no mask."""
    assert_attends(submission, reference, rand(2, 5, 12), *weights_of(rand, 12), 3)


@pytest.mark.check(skill="values", points=1, needs="test_attention_shape", function="multi_head_attention", public=True)
@pytest.mark.parametrize("num_heads", [2, 1])
def test_attention_examples(submission, reference, num_heads):
    """Gives what the examples of the exercise show."""
    eye = torch.eye(2)
    assert_attends(submission, reference, eye[None], eye, eye, eye, eye, num_heads=num_heads)


@pytest.mark.check(
    skill="generality", points=0.5, needs="test_attention_values", function="multi_head_attention",
    stage="on slices of larger tensors",
)  # fmt: skip
def test_attention_slices(submission, reference, rand):
    """Works for an input and weights whose memory has gaps."""
    args = (rand(2, 5, 12), *weights_of(rand, 12), 3)
    assert_matches(submission.multi_head_attention.on_slices(*args), reference.multi_head_attention(*args))


@pytest.mark.check(
    skill="values", points=1, needs="test_attention_shape", function="multi_head_attention", stage="with one token"
)
def test_attention_one_token(submission, reference, rand):
    """Projects a single token by w_v and w_o, having nothing else to attend to."""
    assert_attends(submission, reference, rand(2, 1, 12), *weights_of(rand, 12), 3)


@pytest.mark.check(
    skill="values", points=1, needs="test_attention_shape", function="multi_head_attention", stage="with one head"
)
def test_attention_one_head(submission, reference, rand):
    """Is plain attention when there is one head."""
    assert_attends(submission, reference, rand(2, 5, 6), *weights_of(rand, 6), 1)


@pytest.mark.check(skill="values", points=1, needs="test_attention_shape", function="multi_head_attention")
def test_attention_weight_layout(submission, reference, rand):
    """Reads each weight as (out, in): output feature i comes from row i."""
    d_model = 6
    x, (w_q, w_k, _, _) = rand(2, 5, d_model), weights_of(rand, d_model)
    shift = torch.eye(d_model).roll(1, dims=0)  # y = x @ shift.T moves every feature one place to the right
    hint = "A projection is x @ w.T; with square weights, x @ w has the same shape."
    assert_attends(submission, reference, x, w_q, w_k, shift, torch.eye(d_model), 2, hint=hint)


@pytest.mark.check(skill="generality", points=1, needs="test_attention_shape", function="multi_head_attention")
@pytest.mark.parametrize(
    ("shape", "num_heads"), [((3, 4, 10), 2), ((2, 3, 15), 3), ((1, 6, 8), 8), ((2, 2, 4), 2)],
    ids=["width-5", "T=H", "width-1", "all-equal"],
)  # fmt: skip
def test_attention_sizes(submission, reference, rand, shape, num_heads):
    """Works for other head widths, and where sizes coincide."""
    assert_attends(submission, reference, rand(*shape), *weights_of(rand, shape[-1]), num_heads)


@pytest.mark.check(
    skill="generality", points=1, needs="test_attention_values", function="multi_head_attention",
    stage="on long or many texts",
)  # fmt: skip
def test_attention_no_largest(submission, reference, rand):
    """Has no longest text, nor a largest batch."""
    for shape in ((1, rand.large(200), 4), (rand.large(), 2, 4)):
        assert_attends(submission, reference, rand(*shape), *weights_of(rand, 4), 2)


@pytest.mark.check(
    skill="masking", points=2, needs="test_attention_shape", function="multi_head_attention", stage="with a causal mask"
)
def test_attention_causal_mask(submission, reference, rand):
    """Hides the future from every query of every head."""
    num_heads, width, tokens = rand.sizes(3)
    d_model = num_heads * width
    causal = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    x, weights = rand(2, tokens, d_model), weights_of(rand, d_model)
    assert_attends(submission, reference, x, *weights, num_heads, mask=causal)


@pytest.mark.check(skill="masking", points=2, needs="test_attention_shape", function="multi_head_attention")
@pytest.mark.parametrize("leading", [(2, 1), (1, 3), (2, 3), (3,)],
                         ids=["sequence", "head", "both", "three axes"])  # fmt: skip
def test_attention_mask_each(submission, reference, rand, leading):
    """Obeys one mask for each sequence, one for each head, also in three axes, and one for each of both."""
    mask = rand.mask(*leading, 5, 5)
    assert_attends(submission, reference, rand(2, 5, 12), *weights_of(rand, 12), 3, mask=mask)


@pytest.mark.check(
    skill="masking", points=1, needs="test_attention_causal_mask", function="multi_head_attention",
    stage="where allowed scores are exactly 0",
)  # fmt: skip
def test_attention_zero_scores(submission, reference, rand):
    """Lets a query attend to allowed keys whose score is exactly 0."""
    _, w_k, w_v, w_o = weights_of(rand, 12)
    assert_attends(submission, reference, rand(2, 5, 12), 0.0 * w_k, w_k, w_v, w_o, 3, mask=rand.mask(5, 5))


@pytest.mark.check(skill="masking", points=2, needs="test_attention_shape", function="multi_head_attention")
def test_attention_padding(submission, reference, rand):
    """Gives padded keys no weight at all, whatever they hold."""
    x, weights = rand(2, 5, 12), weights_of(rand, 12)
    mask = torch.tensor([[True, True, True, False, False], [True, True, True, True, False]])[:, None, None]
    assert_attends(submission, reference, x, *weights, 3, mask=mask)
    padded = ~mask[:, 0, 0, :, None]
    other = torch.where(padded, rand(2, 5, 12), x)
    hint = "Only what stands in the padding was changed here."
    assert_attends(submission, reference, other, *weights, 3, mask=mask, hint=hint)


@pytest.mark.check(skill="stability", points=1, needs="test_attention_shape", function="multi_head_attention")
def test_attention_large_scores(submission, reference, rand):
    """Survives scores in the hundreds."""
    w_q, w_k, w_v, w_o = weights_of(rand, 12)
    assert_attends(submission, reference, rand(2, 5, 12), 90.0 * w_q, w_k, w_v, w_o, 3, atol=LOOSE)


@pytest.mark.check(
    skill="gradients",
    points=2,
    needs="test_attention_values",
    function="multi_head_attention",
    stage="in its gradients",
)
def test_attention_gradient(submission, reference, rand):
    """Lets the right gradient through to the input and to all four weights."""
    args = (rand(2, 5, 12), *weights_of(rand, 12), 3)
    mine, theirs = submission.multi_head_attention, reference.multi_head_attention
    assert_gradients_match(mine, theirs, *args, wrt=[0, 1, 2, 3, 4], weights=rand(2, 5, 12))


@pytest.mark.check(skill="hygiene", points=1, needs="test_attention_shape", function="multi_head_attention")
def test_attention_inputs_unchanged(submission, rand):
    """Leaves its input, the weights and the mask alone."""
    args = (rand(2, 5, 12), *weights_of(rand, 12), 3, torch.ones(5, 5, dtype=torch.bool).tril())
    assert_unchanged(submission.multi_head_attention.observe(*args), *args)


@pytest.mark.check(skill="hygiene", points=1, needs="test_attention_shape", function="multi_head_attention")
def test_attention_repeatable(submission, rand):
    """Gives the same answer twice: nothing in it is random."""
    args = (rand(2, 5, 12), *weights_of(rand, 12), 3)
    first, second = (submission.multi_head_attention(*args) for _ in range(2))
    # not to the last bit: a matrix product may round differently when its input lies elsewhere in memory
    if not same(first, second):
        fail("Two calls with the same arguments differ.")


@pytest.mark.check(skill="hygiene", points=1, needs="test_attention_values", function="multi_head_attention")
def test_attention_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its input."""
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    double = {"dtype": torch.float64}
    assert_attends(submission, reference, rand(2, 5, 12, **double), *weights_of(rand, 12, **double), 3, mask=causal)
    assert_portable(submission.multi_head_attention, rand(2, 5, 12), *weights_of(rand, 12), 3, mask=causal)


@pytest.mark.check(
    skill="stability",
    points=1,
    needs=("test_attention_causal_mask", "test_attention_dtype_and_device"),
    function="multi_head_attention",
    stage="where all scores are near −2000",
)
def test_attention_low_scores(submission, reference, rand):
    """Keeps blocked keys blocked where every score is near -2000."""
    x = rand(2, 5, 8, scale=0.05, dtype=torch.float64) + 32.0
    low_scores(submission, reference, rand, x, rand.mask(5, 5), "Is the number written over blocked scores low enough?")


@pytest.mark.check(
    skill="stability", points=1, needs="test_attention_low_scores", function="multi_head_attention",
    stage="where a blocked score is far ahead",
)  # fmt: skip
def test_attention_blocked_ahead(submission, reference, rand):
    """Gives the allowed keys their weights even where a blocked score is far above theirs."""
    x, mask = rand(2, 5, 8, scale=0.05, dtype=torch.float64) + 32.0, rand.mask(5, 5)
    x[:, 2] -= 32.0  # its scores are near 0
    mask[:, 2], mask[:, 0] = False, True
    low_scores(submission, reference, rand, x, mask, "Is a blocked score the largest that softmax sees?")


def low_scores(submission, reference, rand, x, mask, hint):
    """Turn the keys of tokens near 32 round, so that their scores are 32 · 32 · 4 / √4 below zero."""
    eye = torch.eye(8, dtype=torch.float64)
    weights = (eye, -eye, weights_of(rand, 8, dtype=torch.float64)[2], eye)
    assert_attends(submission, reference, x, *weights, 2, mask=mask, hint=hint)


@pytest.mark.check(
    skill="hygiene", points=0.5, needs=("test_attention_causal_mask", "test_attention_dtype_and_device"),
    function="multi_head_attention", stage="in half precision",
)  # fmt: skip
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
def test_attention_half(submission, reference, rand, dtype):
    """Works in half precision, with a mask."""
    # equal scores, and four keys for each query: weights of 1/4, which every dtype has
    eye, mask = torch.eye(8, dtype=dtype), torch.tensor([True, True, False, True, True]).repeat(5, 1)
    args = (rand(2, 5, 8, dtype=dtype), 0 * eye, eye, eye, eye, 2)
    assert_attends(submission, reference, *args, mask=mask, atol=0.05)
