"""The hidden checks of `pooling_heads`: padding holds large numbers, so that whoever reads it is seen to."""

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

LENGTHS = (3, 6, 1, 4)
POOLS = ("mean", "cls", "last", "max")
BATCHES = [  # lengths, T, D
    ("where nothing is padded", (5, 5), 5, 3), ("where every text has one token", (1, 1, 1), 4, 2),
    ("for a single text", (3,), 7, 4), ("with as many texts as places and features", (2, 3, 1), 3, 3),
]  # fmt: skip
ANY_BATCH = pytest.mark.parametrize(("name", "lengths", "tokens", "width"), BATCHES, ids=[each[0] for each in BATCHES])
SIZES = (5, 3)  # D, C: different from each other, and from B = 4 and T = 7


def real(lengths, tokens):
    """The mask of these lengths: (B, T)."""
    return torch.arange(tokens) < torch.tensor(lengths).unsqueeze(1)


def batch(rand, lengths=LENGTHS, tokens=7, width=5):
    """Vectors with large ones at the places of padding, and the mask."""
    mask = real(lengths, tokens)
    h = rand(len(lengths), tokens, width)
    return torch.where(mask.unsqueeze(-1), h, 20.0 + h), mask


LARGE = pytest.mark.parametrize("axis", range(3), ids=["texts", "tokens", "features"])


def large_batch(rand, axis):
    """Vectors of texts of which one axis is long, and the mask."""
    sizes = [2, 3, 4]
    sizes[axis] = rand.large()
    texts, tokens, width = sizes
    return batch(rand, rand.integers(1, tokens + 1, texts).tolist(), tokens, width)


def weights(rand, width=SIZES[0], classes=SIZES[1]):
    """Numbers for a head, smaller where it is wide: the rounding of large sums would be near the tolerance."""
    return {"head.weight": rand(classes, width, scale=min(0.5, 2 / width**0.5)), "head.bias": rand(classes)}


def other_padding(h, mask):
    """The same texts, with other numbers at the places of padding."""
    return torch.where(mask.unsqueeze(-1), h, -h - 3.0)


# --- masked_mean_pool -------------------------------------------------------------------------------------------------

MEAN = {"function": "masked_mean_pool"}


@pytest.mark.check(**MEAN, skill="shape", points=1, public=True)
def test_mean_shape(submission, rand):
    """Gives a vector for each text: (B, T, D) becomes (B, D)."""
    assert_shape(submission.masked_mean_pool(*batch(rand)), (4, 5))


@pytest.mark.check(**MEAN, skill="values", points=3, needs="test_mean_shape", public=True, stage="for padded texts")
def test_mean_values(submission, reference, rand):
    """Is the mean of each text's own tokens."""
    given = batch(rand)
    assert_matches(submission.masked_mean_pool(*given), reference.masked_mean_pool(*given))


@pytest.mark.check(**MEAN, skill="masking", points=2, needs="test_mean_shape")
def test_mean_padding_unread(submission, rand):
    """Reads no padding: other numbers there change nothing."""
    h, mask = batch(rand)
    before, after = (submission.masked_mean_pool(each, mask) for each in (h, other_padding(h, mask)))
    assert_matches(after, before, hint="The numbers at the places of padding were changed.")


@pytest.mark.check(**MEAN, skill="generality", points=1, needs="test_mean_shape", stage="{name}")
@ANY_BATCH
def test_mean_any_batch(submission, reference, rand, name, lengths, tokens, width):
    """Works for any lengths and sizes."""
    given = batch(rand, lengths, tokens, width)
    assert_matches(submission.masked_mean_pool(*given), reference.masked_mean_pool(*given))


@pytest.mark.check(**MEAN, skill="generality", points=1, needs="test_mean_shape", stage="in other sizes")
def test_mean_other_sizes(submission, reference, rand):
    """Works in sizes that nobody knows by heart."""
    texts, tokens, width = rand.sizes(3)
    given = batch(rand, rand.integers(1, tokens + 1, texts).tolist(), tokens, width)
    assert_matches(submission.masked_mean_pool(*given), reference.masked_mean_pool(*given))


@pytest.mark.check(**MEAN, skill="generality", points=1, needs="test_mean_shape", stage="where one size is large")
@LARGE
def test_mean_no_largest(submission, reference, rand, axis):
    """Has no largest batch, longest text or width."""
    given = large_batch(rand, axis)
    assert_matches(submission.masked_mean_pool(*given), reference.masked_mean_pool(*given))


@pytest.mark.check(**MEAN, skill="stability", points=2, needs="test_mean_shape", stage="for a text without a token")
def test_mean_empty(submission, reference, rand):
    """Gives zeros for a text without a token, and no NaN in the gradient of the others."""
    h, mask = batch(rand, (2, 0, 3), 4, 5)
    assert_matches(submission.masked_mean_pool(h, mask), reference.masked_mean_pool(h, mask))
    sides = submission.masked_mean_pool, reference.masked_mean_pool
    assert_gradients_match(*sides, h, mask, wrt=[0], weights=rand(3, 5))


@pytest.mark.check(**MEAN, skill="gradients", points=2, needs="test_mean_values", stage="in its gradient")
def test_mean_gradient(submission, reference, rand):
    """Lets each token of a text have its share of the gradient, and padding none."""
    sides = submission.masked_mean_pool, reference.masked_mean_pool
    assert_gradients_match(*sides, *batch(rand), wrt=[0], weights=rand(4, 5))


@pytest.mark.check(**MEAN, skill="hygiene", points=0.5, needs="test_mean_shape")
def test_mean_manners(submission, reference, rand):
    """Leaves h and mask alone, works where they are, and keeps float64 and bfloat16."""
    h, mask = batch(rand)
    assert_unchanged(submission.masked_mean_pool.observe(h, mask), h, mask)
    assert_portable(submission.masked_mean_pool, h, mask)
    for kept, atol in ((h.double(), 1e-4), (h.bfloat16(), 0.1)):
        assert_matches(submission.masked_mean_pool(kept, mask), reference.masked_mean_pool(kept, mask), atol=atol)


# --- last_token_pool --------------------------------------------------------------------------------------------------

LAST = {"function": "last_token_pool"}


@pytest.mark.check(**LAST, skill="shape", points=1, public=True)
def test_last_shape(submission, rand):
    """Gives a vector for each text: (B, T, D) becomes (B, D)."""
    assert_shape(submission.last_token_pool(*batch(rand)), (4, 5))


@pytest.mark.check(**LAST, skill="values", points=3, needs="test_last_shape", public=True, stage="for padded texts")
def test_last_values(submission, reference, rand):
    """Is the vector of each text's last token."""
    given = batch(rand)
    assert_matches(submission.last_token_pool(*given), reference.last_token_pool(*given))


@pytest.mark.check(**LAST, skill="masking", points=2, needs="test_last_shape")
def test_last_padding_unread(submission, rand):
    """Reads no padding: other numbers there change nothing."""
    h, mask = batch(rand)
    before, after = (submission.last_token_pool(each, mask) for each in (h, other_padding(h, mask)))
    assert_matches(after, before, hint="The numbers at the places of padding were changed.")


@pytest.mark.check(**LAST, skill="generality", points=1, needs="test_last_shape", stage="{name}")
@ANY_BATCH
def test_last_any_batch(submission, reference, rand, name, lengths, tokens, width):
    """Works for any lengths and sizes."""
    given = batch(rand, lengths, tokens, width)
    assert_matches(submission.last_token_pool(*given), reference.last_token_pool(*given))


@pytest.mark.check(**LAST, skill="generality", points=1, needs="test_last_shape", stage="in other sizes")
def test_last_other_sizes(submission, reference, rand):
    """Works in sizes that nobody knows by heart."""
    texts, tokens, width = rand.sizes(3)
    given = batch(rand, rand.integers(1, tokens + 1, texts).tolist(), tokens, width)
    assert_matches(submission.last_token_pool(*given), reference.last_token_pool(*given))


@pytest.mark.check(**LAST, skill="generality", points=1, needs="test_last_shape", stage="where one size is large")
@LARGE
def test_last_no_largest(submission, reference, rand, axis):
    """Has no largest batch, longest text or width."""
    given = large_batch(rand, axis)
    assert_matches(submission.last_token_pool(*given), reference.last_token_pool(*given))


@pytest.mark.check(**LAST, skill="gradients", points=2, needs="test_last_values", stage="in its gradient")
def test_last_gradient(submission, reference, rand):
    """Sends the whole gradient to the last token."""
    sides = submission.last_token_pool, reference.last_token_pool
    assert_gradients_match(*sides, *batch(rand), wrt=[0], weights=rand(4, 5))


@pytest.mark.check(**LAST, skill="hygiene", points=0.5, needs="test_last_shape")
def test_last_manners(submission, reference, rand):
    """Leaves h and mask alone, works where they are, and keeps float64."""
    h, mask = batch(rand)
    assert_unchanged(submission.last_token_pool.observe(h, mask), h, mask)
    assert_portable(submission.last_token_pool, h, mask)
    assert_matches(submission.last_token_pool(h.double(), mask), reference.last_token_pool(h.double(), mask))


# --- SequenceClassifier -----------------------------------------------------------------------------------------------

TEXT = {"function": "SequenceClassifier"}


def pooled(subject, state, pool, sizes=SIZES):
    """A classifier of texts that holds these numbers, in evaluation mode."""
    return subject.SequenceClassifier(*sizes, pool, state=state).eval()


def require_names(model, made):
    """The state dict has the head's names, all of them parameters, and no other."""
    if model.unexpected or model.missing:
        fail(f"The state dict must have exactly head.weight and head.bias: missing {model.unexpected}, "
             f"unexpected {model.missing}.")  # fmt: skip
    if set(made.state()["parameters"]) != {"head.weight", "head.bias"}:
        fail("head.weight and head.bias must be parameters: no optimizer would move anything else.")


@pytest.mark.check(**TEXT, skill="shape", points=0.4, public=True)
def test_text_names(submission, rand):
    """Has head.weight and head.bias, and nothing else."""
    require_names(submission.SequenceClassifier(*SIZES, state=weights(rand)), submission.SequenceClassifier(*SIZES))


@pytest.mark.check(**TEXT, skill="shape", points=1, needs="test_text_names", public=True)
def test_text_shape(submission, rand):
    """Gives C scores for each text: (B, T, D) becomes (B, C)."""
    state, given = weights(rand), batch(rand)
    for pool in POOLS:
        assert_shape(pooled(submission, state, pool)(*given), (4, 3))


@pytest.mark.check(**TEXT, skill="values", points=2, needs="test_text_shape", public=True, stage='for pool="{pool}"')
@pytest.mark.parametrize("pool", POOLS)
def test_text_values(submission, reference, rand, pool):
    """Gives the reference's logits with each way of pooling."""
    state, given = weights(rand), batch(rand)
    assert_matches(pooled(submission, state, pool)(*given), pooled(reference, state, pool)(*given))


@pytest.mark.check(**TEXT, skill="values", points=1, needs="test_text_names", public=True)
def test_text_example(submission, reference):
    """Gives what the example of the exercise shows."""
    state = {"head.weight": torch.tensor([[1.0, 0], [0, 1], [1, 1]]), "head.bias": torch.tensor([0.0, 0.0, 0.5])}
    given = torch.tensor([[[1.0, 7.0], [3.0, 6.0], [9.0, 9.0]]]), real([2], 3)
    sides = (pooled(subject, state, "max", (2, 3))(*given) for subject in (submission, reference))
    assert_matches(*sides)


@pytest.mark.check(**TEXT, skill="values", points=1, needs="test_text_shape", stage="when `pool` is not given")
def test_text_default(submission, reference, rand):
    """Takes the mean when `pool` is not given, also beside a model that takes the maximum."""
    state, given = weights(rand), batch(rand)
    mine, theirs = (subject.SequenceClassifier(*SIZES, state=state).eval() for subject in (submission, reference))
    pooled(submission, weights(rand), "max")
    assert_matches(mine(*given), theirs(*given))


@pytest.mark.check(**TEXT, skill="masking", points=2, needs="test_text_shape")
def test_text_padding_unread(submission, rand):
    """Reads no padding, whichever way of pooling."""
    state, (h, mask) = weights(rand), batch(rand)
    for pool in POOLS:
        model = pooled(submission, state, pool)
        hint = f'The numbers at the places of padding were changed, with pool="{pool}".'
        assert_matches(model(other_padding(h, mask), mask), model(h, mask), hint=hint)


@pytest.mark.check(**TEXT, skill="masking", points=1, needs="test_text_shape", stage="where all is far below zero")
def test_text_negative(submission, reference, rand):
    """Finds the largest value where all of them are negative and large."""
    state, (h, mask) = weights(rand), batch(rand)
    for low, share in ((50.0, 1.0), (20_000.0, 1e-3)):
        small = {name: share * each for name, each in state.items()}
        mine, theirs = (pooled(subject, small, "max")(h - low, mask) for subject in (submission, reference))
        assert_matches(mine, theirs, atol=1e-3)


@pytest.mark.check(**TEXT, skill="stability", points=1, needs="test_text_shape", stage="for a text without a token")
def test_text_empty(submission, reference, rand):
    """Gives the bias for a text without a token, with the mean."""
    state, given = weights(rand), batch(rand, (2, 0, 3), 4)
    assert_matches(pooled(submission, state, "mean")(*given), pooled(reference, state, "mean")(*given))


@pytest.mark.check(**TEXT, skill="generality", points=2, needs="test_text_shape", stage="in other sizes")
def test_text_other_sizes(submission, reference, rand):
    """Works in sizes that nobody knows by heart, and for one class."""
    texts, tokens, width, classes = rand.sizes(4)
    given = batch(rand, rand.integers(1, tokens + 1, texts).tolist(), tokens, width)
    for many, pool in ((classes, "mean"), (1, "last"), (classes, "max"), (width, "cls")):
        state, sizes = weights(rand, width, many), (width, many)
        sides = (pooled(subject, state, pool, sizes)(*given) for subject in (submission, reference))
        assert_matches(*sides, hint=f'This is with pool="{pool}", D = {width}, C = {many}.')


@pytest.mark.check(**TEXT, skill="generality", points=1, needs="test_text_shape", stage="for a single text")
def test_text_alone(submission, reference, rand):
    """Gives a single text a batch of its own, (1, C), whichever way of pooling."""
    state, given = weights(rand), batch(rand, (3,))
    for pool in POOLS:
        mine, theirs = (pooled(subject, state, pool)(*given) for subject in (submission, reference))
        assert_shape(mine, (1, 3))
        assert_matches(mine, theirs, hint=f'This is with pool="{pool}", for one text.')


@pytest.mark.check(**TEXT, skill="generality", points=1, needs="test_text_shape", stage="where one size is large")
@LARGE
def test_text_no_largest(submission, reference, rand, axis):
    """Has no largest batch, longest text, width or number of classes."""
    given = large_batch(rand, axis)
    sizes = given[0].size(-1), (2 if axis == 2 else rand.large())
    state = weights(rand, *sizes)
    assert_matches(*(pooled(subject, state, "mean", sizes)(*given) for subject in (submission, reference)))


@pytest.mark.check(**TEXT, skill="gradients", points=2, needs="test_text_shape", stage="in its gradients")
@pytest.mark.parametrize("pool", POOLS)
def test_text_gradient(submission, reference, rand, pool):
    """Lets the right gradient through to h and the head."""
    state, given = weights(rand), batch(rand)
    sides = (pooled(subject, state, pool) for subject in (submission, reference))
    assert_gradients_match(*sides, *given, wrt=[0], weights=rand(4, 3))


@pytest.mark.check(**TEXT, skill="hygiene", points=0.5, needs="test_text_shape")
def test_text_manners(submission, reference, rand):
    """Leaves h and mask alone, gives the same twice, in training mode too, works where they are, and takes float64."""
    state, (h, mask) = weights(rand), batch(rand)
    for pool in POOLS:
        model = pooled(submission, state, pool)
        assert_unchanged(model.observe(h, mask), h, mask)
        assert_portable(model, h, mask)
        model.method("double")()
        hint = f'Here h and the parameters are float64, with pool="{pool}".'
        assert_matches(model(h.double(), mask).float(), pooled(reference, state, pool)(h, mask), hint=hint)
    assert_repeatable(pooled(submission, state, "mean").train(), h, mask)


# --- TokenClassifier --------------------------------------------------------------------------------------------------

TOKEN = {"function": "TokenClassifier"}


def tagger(subject, state, sizes=SIZES):
    """A classifier of tokens that holds these numbers, in evaluation mode."""
    return subject.TokenClassifier(*sizes, state=state).eval()


@pytest.mark.check(**TOKEN, skill="shape", points=0.4, public=True)
def test_token_names(submission, rand):
    """Has head.weight and head.bias, and nothing else."""
    require_names(submission.TokenClassifier(*SIZES, state=weights(rand)), submission.TokenClassifier(*SIZES))


@pytest.mark.check(**TOKEN, skill="shape", points=1, needs="test_token_names", public=True)
def test_token_shape(submission, rand):
    """Gives C scores for each token: (B, T, D) becomes (B, T, C)."""
    assert_shape(tagger(submission, weights(rand))(batch(rand)[0]), (4, 7, 3))


@pytest.mark.check(**TOKEN, skill="values", points=3, needs="test_token_shape", public=True, stage="in one batch")
def test_token_values(submission, reference, rand):
    """Gives the reference's logits at every place."""
    state, h = weights(rand), rand(4, 7, 5)
    assert_matches(tagger(submission, state)(h), tagger(reference, state)(h))


@pytest.mark.check(**TOKEN, skill="generality", points=1, needs="test_token_shape", stage="{name}")
@pytest.mark.parametrize(("name", "shape", "classes"), [
    ("for one class", (2, 4, 5), 1), ("for one token", (3, 1, 5), 3), ("for a single text", (1, 6, 4), 2),
    ("where all sizes are equal", (4, 4, 4), 4),
], ids=["one_class", "one_token", "one_text", "square"])  # fmt: skip
def test_token_any_size(submission, reference, rand, name, shape, classes):
    """Works for any number of texts, tokens, features and classes."""
    state, h = weights(rand, shape[2], classes), rand(*shape)
    sizes = (shape[2], classes)
    assert_matches(tagger(submission, state, sizes)(h), tagger(reference, state, sizes)(h))


@pytest.mark.check(**TOKEN, skill="generality", points=1, needs="test_token_shape", stage="in other sizes")
def test_token_other_sizes(submission, reference, rand):
    """Works in sizes that nobody knows by heart."""
    texts, tokens, width, classes = rand.sizes(4)
    state, h = weights(rand, width, classes), rand(texts, tokens, width)
    assert_matches(tagger(submission, state, (width, classes))(h), tagger(reference, state, (width, classes))(h))


@pytest.mark.check(**TOKEN, skill="generality", points=1, needs="test_token_shape", stage="where one size is large")
@LARGE
def test_token_no_largest(submission, reference, rand, axis):
    """Has no largest batch, longest text, width or number of classes."""
    h, _ = large_batch(rand, axis)
    for sizes in ((h.size(-1), 3), *([(h.size(-1), 40)] if axis == 2 else [])):
        state = weights(rand, *sizes)
        assert_matches(tagger(submission, state, sizes)(h), tagger(reference, state, sizes)(h))


@pytest.mark.check(**TOKEN, skill="gradients", points=2, needs="test_token_values", stage="in its gradients")
def test_token_gradient(submission, reference, rand):
    """Lets the right gradient through to h and the head, also beside another model."""
    state, h = weights(rand), rand(2, 4, 5)
    sides = [tagger(subject, state) for subject in (submission, reference)]
    tagger(submission, weights(rand))
    assert_gradients_match(*sides, h, wrt=[0], weights=rand(2, 4, 3))


@pytest.mark.check(**TOKEN, skill="hygiene", points=0.5, needs="test_token_shape")
def test_token_manners(submission, reference, rand):
    """Leaves h alone, gives the same twice, in training mode too, works where h is, and takes float64."""
    state, h = weights(rand), rand(2, 4, 5)
    model = tagger(submission, state)
    assert_unchanged(model.observe(h), h)
    assert_repeatable(tagger(submission, state).train(), h)
    assert_portable(model, h)
    model.method("double")()
    assert_matches(
        model(h.double()).float(), tagger(reference, state)(h), hint="Here h and the parameters are float64."
    )
