"""The hidden checks of `sampling`: rows of very different shapes, every cut alone and together with the others."""

import pytest
import torch

from grader.api.checks import assert_matches, assert_portable, assert_shape, assert_unchanged

B, V = 5, 11  # texts and tokens
PROBS = {"function": "next_token_probs"}
TOKEN = {"function": "sample_token"}


def rows(rand, batch=B, tokens=V, dtype=torch.float32):
    """Logits whose rows differ in height and in how sure they are."""
    steep = torch.linspace(0.4, 3.0, batch, dtype=dtype).unsqueeze(1)
    return rand(batch, tokens, dtype=dtype) * steep + 4.0 * torch.arange(batch, dtype=dtype).unsqueeze(1)


def compare(submission, reference, logits, atol=1e-5, **how):
    """Both give the same probabilities, within a hundred thousandth."""
    expected = reference.next_token_probs(logits, **how)
    assert_matches(submission.next_token_probs(logits, **how), expected, atol)


# --- next_token_probs -------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, public=True, **PROBS)
def test_shape(submission, rand):
    """Gives a probability for each token of each text."""
    assert_shape(submission.next_token_probs(rows(rand)), (B, V))


@pytest.mark.check(skill="values", points=1, needs="test_shape", public=True, stage="with nothing asked", **PROBS)
def test_plain(submission, reference, rand):
    """Is softmax over the vocabulary where nothing else is asked."""
    compare(submission, reference, rows(rand))


@pytest.mark.check(skill="values", points=2, needs="test_shape", stage="with temperature={temperature}", **PROBS)
@pytest.mark.parametrize("temperature", [0.5, 1.7, 10.0])
def test_temperature(submission, reference, rand, temperature):
    """Divides the logits by the temperature."""
    compare(submission, reference, rows(rand), temperature=temperature)


@pytest.mark.check(skill="values", points=3, needs="test_shape", public=True, stage="with top_k={k}", **PROBS)
@pytest.mark.parametrize("k", [1, 3, V - 1])
def test_top_k(submission, reference, rand, k):
    """Keeps the k likeliest tokens of each row, and gives 0 to all others."""
    compare(submission, reference, rows(rand), top_k=k)


@pytest.mark.check(skill="values", points=3, needs="test_shape", public=True, stage="with top_p={p}", **PROBS)
@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_top_p(submission, reference, rand, p):
    """Keeps the fewest likeliest tokens of each row that together have at least p."""
    compare(submission, reference, rows(rand), top_p=p)


@pytest.mark.check(skill="values", points=1, needs="test_shape", stage="where a single token has more than p", **PROBS)
def test_sure(submission, reference, rand):
    """Keeps one token at least, also where that one alone has more than p."""
    compare(submission, reference, torch.eye(V)[[3, 0, 7]] * 6.0 + 0.1 * rand(3, V), top_p=0.4)


@pytest.mark.check(skill="values", points=2, needs="test_shape", stage="with top_k={k} and top_p={p}", **PROBS)
@pytest.mark.parametrize(("k", "p"), [(4, 0.7), (2, 0.55), (7, 0.4)])
def test_both(submission, reference, rand, k, p):
    """Takes top-p of what top-k left, renormalised."""
    compare(submission, reference, 0.3 * rows(rand), top_k=k, top_p=p)


@pytest.mark.check(skill="values", points=2, needs="test_shape", stage="with T={temperature} and top_p", **PROBS)
@pytest.mark.parametrize("temperature", [0.4, 2.5])
def test_order(submission, reference, rand, temperature):
    """Applies the temperature first: it decides how many tokens reach p, with top_k and without."""
    compare(submission, reference, rows(rand), temperature=temperature, top_k=8, top_p=0.75)
    compare(submission, reference, rows(rand), temperature=temperature, top_p=0.75)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="with a k larger than V", **PROBS)
def test_large_k(submission, reference, rand):
    """Keeps all tokens where k is larger than V."""
    compare(submission, reference, rand(2, 6), top_k=50)


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="in other sizes", **PROBS)
@pytest.mark.parametrize("case", [1, 2])
def test_other_sizes(submission, reference, rand, case):
    """Takes any numbers of texts and tokens."""
    batch, tokens = rand.sizes(2, low=3)
    compare(submission, reference, rows(rand, batch, tokens + 3), temperature=0.8, top_k=tokens, top_p=0.85)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="with many tokens, or texts", **PROBS)
def test_no_largest(submission, reference, rand):
    """Has no largest vocabulary and no largest batch."""
    for batch, tokens, kept in ((2, rand.large(), 265), (rand.large(), 5, 2)):  # 265 have 0.995 of the probability
        logits = 0.02 * rand(batch, tokens).argsort(-1)  # no two alike: rounding decides on none
        sums = logits[0].softmax(-1).sort(descending=True).values.cumsum(0)
        for how in ({}, {"top_k": kept}, {"top_p": sums[kept - 1 : kept + 1].mean().item()}):
            compare(submission, reference, logits, **how)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="with {batch} rows of {tokens}", **PROBS)
@pytest.mark.parametrize(("batch", "tokens"), [(1, 9), (6, 6), (2, 1)])
def test_special_sizes(submission, reference, rand, batch, tokens):
    """Takes a single text, as many texts as tokens, and a vocabulary of one."""
    compare(submission, reference, rows(rand, batch, tokens), top_k=4)
    compare(submission, reference, rows(rand, batch, tokens), top_p=0.6)


@pytest.mark.check(skill="stability", points=1, needs="test_shape", stage="on logits near {offset:+.0f}", **PROBS)
@pytest.mark.parametrize("offset", [1000.0, -1000.0])
def test_large_logits(submission, reference, rand, offset):
    """Survives logits near +1000 and -1000, beside a row near 0, with each cut, at a high temperature and a low one."""
    logits = 3.0 * rand(3, V) + torch.tensor([[offset], [0.0], [offset]])
    compare(submission, reference, logits, temperature=100.0)
    compare(submission, reference, 0.3 * rand(3, V), temperature=1 / 16, top_k=4)
    # exp(z - logsumexp(z)) is right, where float32 rounds z; to divide by 1/16 rounds nothing
    for atol, how in ((2e-4, {"top_k": 4}), (2e-4, {"top_p": 0.8}), (2e-3, {"temperature": 1 / 16, "top_k": 4})):
        compare(submission, reference, logits, atol, **how)


@pytest.mark.check(skill="hygiene", points=0.5, **PROBS)
def test_logits_unchanged(submission, rand):
    """Leaves the logits alone, whatever is asked."""
    logits = rows(rand)
    for options in ({"temperature": 0.5, "top_k": 3, "top_p": 0.5}, {"top_k": 3}, {"top_p": 0.5}):
        assert_unchanged(submission.next_token_probs.observe(logits, **options), logits)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape", stage="with float64", **PROBS)
def test_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of the logits."""
    compare(submission, reference, rows(rand, dtype=torch.float64), top_k=6, top_p=0.8)
    assert_portable(submission.next_token_probs, rows(rand), 1.0, 6, 0.8)


# --- sample_token -----------------------------------------------------------------------------------------------------

QUARTERS = torch.tensor([
    [0.25, 0.0, 0.5, 0.25], [0.0, 0.125, 0.125, 0.75], [0.5, 0.25, 0.0, 0.25], [0.0, 0.0, 0.0, 1.0],
    [1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25],
])  # fmt: skip


def weights(rand, *shape, dtype=torch.float32):
    """Rows that sum to 1, of which some give a token most."""
    return (2.0 * rand(*shape, dtype=dtype)).softmax(dim=-1)


def evenly(rand, count, dtype=torch.float32):
    """As many numbers between 0.02 and 0.98, in disorder, no two alike."""
    places = torch.argsort(rand(count)).to(dtype)
    return (0.5 + places) / count * 0.96 + 0.02


def choose(submission, reference, probs, u):
    """Both choose the same tokens."""
    assert_matches(submission.sample_token(probs, u), reference.sample_token(probs, u))


@pytest.mark.check(skill="shape", points=1, public=True, **TOKEN)
def test_ids(submission, rand):
    """Gives one id for each row."""
    assert_shape(submission.sample_token(weights(rand, B, V), evenly(rand, B)), (B,))


@pytest.mark.check(skill="values", points=3, needs="test_ids", public=True, stage="in rows of any kind", **TOKEN)
def test_tokens(submission, reference, rand):
    """Chooses the first token whose sum so far exceeds the row's u."""
    choose(submission, reference, weights(rand, 40, V), evenly(rand, 40))


@pytest.mark.check(skill="values", points=2, needs="test_ids", stage="along a single row", **TOKEN)
def test_shares(submission, reference, rand):
    """Gives each token its share of all u from 0 to 1."""
    choose(submission, reference, weights(rand, V).expand(30, V).contiguous(), evenly(rand, 30))


@pytest.mark.check(skill="values", points=2, needs="test_ids", stage="where a sum equals u={u}", **TOKEN)
@pytest.mark.parametrize("u", [0.25, 0.5, 0.75, 0.125])
def test_border(submission, reference, u):
    """Goes on to the next token where the sum equals u: it has to exceed it."""
    choose(submission, reference, QUARTERS, torch.full((len(QUARTERS),), u))


@pytest.mark.check(skill="values", points=1, needs="test_ids", stage="where u is 0", **TOKEN)
def test_zero(submission, reference):
    """Passes over tokens of probability 0, also where u is 0."""
    choose(submission, reference, QUARTERS, torch.zeros(len(QUARTERS)))


@pytest.mark.check(skill="generality", points=1, needs="test_ids", stage="with {batch} rows of {tokens}", **TOKEN)
@pytest.mark.parametrize(("batch", "tokens"), [(1, 8), (6, 6), (3, 1)])
def test_token_sizes(submission, reference, rand, batch, tokens):
    """Takes a single row, as many rows as tokens, and a vocabulary of one."""
    choose(submission, reference, weights(rand, batch, tokens), evenly(rand, batch))


@pytest.mark.check(skill="generality", points=1, needs="test_ids", stage="in other sizes", **TOKEN)
def test_other_token_sizes(submission, reference, rand):
    """Takes any numbers of rows and tokens."""
    batch, tokens = rand.sizes(2, low=4)
    choose(submission, reference, weights(rand, 4 * batch, tokens), evenly(rand, 4 * batch))


@pytest.mark.check(skill="generality", points=1, needs="test_ids", stage="with many tokens, or rows", **TOKEN)
def test_token_no_largest(submission, reference, rand):
    """Has no largest vocabulary and no largest number of rows."""
    large = rand.large()
    probs = torch.full((3, 2 * large), 2.0**-11)  # sums of these are exact: no order of adding decides
    probs[:, large] += 1 - 2 * large * 2.0**-11
    choose(submission, reference, probs, torch.tensor([0.0, 0.1, 0.999]))
    choose(
        submission,
        reference,
        QUARTERS[rand.integers(0, len(QUARTERS), large)],
        (rand.integers(0, 16, large) + 0.5) / 16,
    )


@pytest.mark.check(skill="hygiene", points=0.5, **TOKEN)
def test_probs_unchanged(submission, rand):
    """Leaves the probabilities and u alone."""
    probs, u = weights(rand, B, V), evenly(rand, B)
    assert_unchanged(submission.sample_token.observe(probs, u), probs, u)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_ids", stage="with float64", **TOKEN)
def test_token_dtype_and_device(submission, reference, rand):
    """Takes float64, and names no device."""
    choose(submission, reference, weights(rand, B, V, dtype=torch.float64), evenly(rand, B, torch.float64))
    assert_portable(submission.sample_token, weights(rand, B, V), evenly(rand, B))
