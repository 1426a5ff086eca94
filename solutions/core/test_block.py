"""The hidden checks of `block`.

Every check loads numbers of its own by name: random γ, β and biases too, because fresh ones (1 and 0) hide a norm that
is used twice. All but dropout itself is asked in evaluation mode, so that a block with `nn.Dropout` loses no more.

The statement allows the exact GELU and its tanh form: published models use either, and the two are
at most 5e-4 apart. So the inputs of the hidden layer are kept small (`BEND`), where both forms agree within the
tolerance and every other activation does not; one check looks at large ones, with a tolerance that spans both.
"""

import pytest
import torch

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

D, H, F = 12, 3, 7  # model width, heads (so d_head = 4), hidden width: pairwise different, and different from B and T
BEND = 0.05  # how large the inputs of the hidden layer are
BOTH_FORMS = 1e-3  # spans both forms of GELU when they are large
BOTH_SLOPES = 2e-3  # spans the gradients of both forms, on small inputs
SCALES = torch.tensor([5.0, 1.0, 1e-3, 0.0]).view(4, 1, 1)  # one for each sequence of a batch of four
SHAPES = {}  # the reference's names and shapes for each (D, H, d_ff) that was asked for


def numbers(reference, rand, sizes=(D, H, F), bend=BEND):
    """A state dict of random numbers, of the reference's names and shapes."""
    if sizes not in SHAPES:
        held = reference.TransformerBlock(*sizes).state()["state"]
        SHAPES[sizes] = {name: tuple(tensor.shape) for name, tensor in held.items()}
    drawn = {
        name: rand(*shape, scale=shape[1] ** -0.5 if len(shape) == 2 else 0.5) for name, shape in SHAPES[sizes].items()
    }
    for norm in ("norm1", "norm2"):
        drawn[f"{norm}.weight"] += 1.0
    for part in ("weight", "bias"):
        drawn[f"ffn.w1.{part}"] *= bend
    drawn["ffn.w2.weight"] *= 0.3 / bend  # the network's answer keeps its size
    return drawn


def built(subject, state, sizes=(D, H, F), norm_first=True):
    """A block in evaluation mode that holds these numbers."""
    return subject.TransformerBlock(*sizes, norm_first=norm_first, state=state).eval()


def pair(submission, reference, rand, sizes=(D, H, F), norm_first=True, bend=BEND):
    """The learner's block and the reference's, holding the same numbers."""
    state = numbers(reference, rand, sizes, bend)
    return tuple(built(subject, state, sizes, norm_first) for subject in (submission, reference))


def assert_same_block(blocks, x, mask=None, atol=ATOL):
    """Both blocks give the same values."""
    mine, theirs = blocks
    actual = mine(x, mask=mask)
    assert_shape(actual, x.shape)
    assert_matches(actual, theirs(x, mask=mask), atol)


def causal(length):
    """True on and below the diagonal."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def listed(names):
    """Names in backticks, the first dozen of them."""
    return ", ".join(f"`{name}`" for name in names[:12]) + (", ..." if len(names) > 12 else "")


# --- names and shapes -------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=0.5, public=True)
def test_names(submission, reference, rand):
    """Has every name of the statement in its state dict."""
    block = submission.TransformerBlock(D, H, F, state=numbers(reference, rand))
    if block.unexpected:  # what we loaded and the block did not know
        besides = f"; it has {listed(block.missing)}, which nobody asked for" if block.missing else ""
        fail(
            f"The state dict must have exactly the names of the statement: missing {listed(block.unexpected)}{besides}."
        )


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_names")
def test_no_other_names(submission, reference, rand):
    """Has no other names in its state dict."""
    others = submission.TransformerBlock(D, H, F, state=numbers(reference, rand)).missing
    if others:
        fail(f"The state dict must have exactly the statement's names: unexpected {listed(others)}.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True)
def test_shape(submission, reference, rand):
    """Gives back the shape of its input."""
    state, x = numbers(reference, rand), rand(2, 5, D)
    for norm_first in (True, False):
        assert_shape(built(submission, state, norm_first=norm_first)(x), x.shape)


# --- pre-LN -----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="values", points=3, needs="test_names", stage="in pre-LN with one token", public=True)
def test_pre_one_token(submission, reference, rand):
    """Gives the reference's values for one token: norms, sums and network (norm_first=True)."""
    assert_same_block(pair(submission, reference, rand), rand(2, 1, D))


@pytest.mark.check(skill="values", points=3, needs="test_pre_one_token", stage="in pre-LN with several tokens")
def test_pre_several_tokens(submission, reference, rand):
    """Gives the reference's values for several tokens: attention and its heads (norm_first=True)."""
    assert_same_block(pair(submission, reference, rand), rand(2, 5, D))


@pytest.mark.check(skill="values", points=0.5, needs="test_names", public=True)
def test_examples(submission, reference):
    """Gives what the examples of the exercise show, in both orders."""
    shapes = reference.TransformerBlock(2, 1, 4).state()["state"]
    state = {
        name: torch.eye(*each.shape) if each.dim() == 2 else torch.zeros(each.shape) for name, each in shapes.items()
    }
    state |= {f"norm{number}.weight": torch.ones(2) for number in (1, 2)}
    x = torch.tensor([[[1.0, 3.0]]])
    for norm_first in (True, False):
        mine, theirs = (built(subject, state, (2, 1, 4), norm_first) for subject in (submission, reference))
        assert_matches(mine(x), theirs(x), BOTH_FORMS)


@pytest.mark.check(skill="values", points=1, needs="test_pre_one_token")
def test_default_order(submission, reference, rand):
    """Normalises first unless told otherwise."""
    state, x = numbers(reference, rand), rand(2, 1, D)
    actual = submission.TransformerBlock(D, H, F, state=state).eval()(x)
    assert_matches(actual, built(reference, state)(x), hint="`norm_first` is True when it is not given.")


# --- post-LN ----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="values", points=2, needs="test_names", stage="in post-LN with one token")
def test_post_one_token(submission, reference, rand):
    """Gives the reference's values for one token: norms, sums and network (norm_first=False)."""
    assert_same_block(pair(submission, reference, rand, norm_first=False), rand(2, 1, D))


@pytest.mark.check(skill="values", points=2, needs="test_post_one_token", stage="in post-LN with several tokens")
def test_post_several_tokens(submission, reference, rand):
    """Gives the reference's values for several tokens: attention and its heads (norm_first=False)."""
    heads, width, hidden, tokens = rand.sizes(4)
    sizes = (heads * width, heads, hidden)
    assert_same_block(pair(submission, reference, rand, sizes, norm_first=False), rand(2, tokens, heads * width))


# --- masks ------------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="masking", points=2, needs="test_pre_several_tokens", stage="in pre-LN with a mask")
def test_pre_mask(submission, reference, rand):
    """Lets each token see what the mask allows, causal or any other (norm_first=True)."""
    blocks = pair(submission, reference, rand)
    for mask in (causal(5), rand.mask(5, 5)):
        assert_same_block(blocks, rand(2, 5, D), mask)


@pytest.mark.check(skill="masking", points=1, needs="test_post_several_tokens", stage="in post-LN with a mask")
def test_post_mask(submission, reference, rand):
    """Lets each token see what the mask allows, causal or any other (norm_first=False)."""
    blocks = pair(submission, reference, rand, norm_first=False)
    for mask in (causal(5), rand.mask(5, 5)):
        assert_same_block(blocks, rand(2, 5, D), mask)


@pytest.mark.check(skill="masking", points=1, needs="test_shape", public=True)
def test_future_hidden(submission, reference, rand):
    """Keeps the future out of every output when the mask is causal."""
    state, x = numbers(reference, rand), rand(2, 5, D)
    changed = x.clone()
    changed[:, 3] += rand(2, D)
    for norm_first in (True, False):
        block = built(submission, state, norm_first=norm_first)
        before, after = block(x, mask=causal(5)), block(changed, mask=causal(5))
        assert_shape(after, x.shape)
        assert_matches(after[:, :3], before[:, :3], hint="Token 3 was changed, and tokens before it noticed.")


@pytest.mark.check(skill="masking", points=1, needs="test_pre_several_tokens", stage="with a mask for each sequence")
@pytest.mark.parametrize("shape", [(2, 1, 1, 5), (2, H, 5, 5), (H, 5, 5)], ids=["padding", "head", "three axes"])
def test_mask_of_each(submission, reference, rand, shape):
    """Takes a mask for each sequence, and for each head; also beside another block."""
    blocks = pair(submission, reference, rand)
    built(submission, numbers(reference, rand, (D, 2, F)), (D, 2, F), norm_first=False)
    assert_same_block(blocks, rand(2, 5, D), rand.mask(*shape))


@pytest.mark.check(skill="masking", points=1, needs="test_pre_mask", stage="where allowed scores are exactly 0")
def test_zero_scores(submission, reference, rand):
    """Lets a token see allowed tokens whose score is exactly 0."""
    state = numbers(reference, rand) | {"attn.wq.weight": torch.zeros(D, D)}
    assert_same_block((built(submission, state), built(reference, state)), rand(2, 5, D), rand.mask(5, 5))


# --- other sizes and scales -------------------------------------------------------------------------------------------


@pytest.mark.check(skill="generality", points=1, needs="test_pre_several_tokens")
@pytest.mark.parametrize("sizes", [(10, 1, 24), (6, 6, 3), (8, 4, 8)], ids=str)
def test_other_sizes(submission, reference, rand, sizes):
    """Works for any number of heads and any hidden width."""
    assert_same_block(pair(submission, reference, rand, sizes), rand(3, 4, sizes[0]), causal(4))


@pytest.mark.check(skill="generality", points=1, needs="test_pre_several_tokens", stage="where one size is large")
def test_no_largest(submission, reference, rand):
    """Has no longest text, largest batch or widest hidden layer."""
    for batch, tokens, hidden in ((1, rand.large(200), 5), (rand.large(200), 1, rand.large(200))):
        assert_same_block(pair(submission, reference, rand, (4, 2, hidden)), rand(batch, tokens, 4))


@pytest.mark.check(skill="stability", points=2, needs="test_pre_one_token", stage="on large and on tiny inputs")
def test_pre_scales(submission, reference, rand):
    """Is right where the inputs of a norm are large, tiny and zero, and eps matters (norm_first=True)."""
    state, x = numbers(reference, rand), rand(4, 5, D) * SCALES
    for share in (1.0, 1e-3):  # attention that adds little leaves to norm2 what norm1 read
        state = state | {"attn.wo.weight": share * state["attn.wo.weight"]}
        assert_same_block(tuple(built(subject, state) for subject in (submission, reference)), x)


@pytest.mark.check(skill="stability", points=1, needs="test_post_one_token", stage="on large and on tiny inputs")
def test_post_scales(submission, reference, rand):
    """Is right where the inputs of a norm are large, tiny and zero, and eps matters (norm_first=False)."""
    state, x = numbers(reference, rand), rand(4, 5, D) * SCALES
    for share in (1.0, 1e-3):  # where norm1 and the network give little, norm2 reads that
        state = {name: each * share if name[:5] in ("norm1", "ffn.w") else each for name, each in state.items()}
        assert_same_block(tuple(built(subject, state, norm_first=False) for subject in (submission, reference)), x)


@pytest.mark.check(skill="values", points=1, needs="test_pre_one_token")
def test_strong_hidden(submission, reference, rand):
    """Bends large values of the hidden layer as GELU does."""
    assert_same_block(pair(submission, reference, rand, bend=2.0), rand(2, 5, D), atol=BOTH_FORMS)


@pytest.mark.check(skill="stability", points=1, needs="test_pre_mask", stage="on very low scores")
def test_low_scores(submission, reference, rand):
    """Blocks what the mask blocks even where all allowed scores are near -2000."""
    low_scores(submission, reference, rand, rand(D, scale=0.1), rand(2, 5, D), rand.mask(5, 5))


@pytest.mark.check(skill="stability", points=1, needs="test_low_scores", stage="where a blocked score is far ahead")
def test_blocked_ahead(submission, reference, rand):
    """Gives the allowed keys their weights even where a blocked score is far above theirs."""
    mask, opposite = rand.mask(5, 5), torch.tensor([1.0, 1.0, -1.0, 1.0, 1.0]).unsqueeze(-1)
    mask[:, 2], mask[:, 0] = False, True
    # in the first of three heads token 2 has 32 - 2√2, and the others 32 + 2√2
    x = opposite * torch.tensor([1.0, -0.5, -0.5]).repeat_interleave(D // 3) + rand(2, 5, D, scale=0.01)
    low_scores(submission, reference, rand, torch.full((D,), 2.0), x, mask)


def low_scores(submission, reference, rand, gamma, x, mask):
    """Compare blocks whose keys are turned round: scores are near -2000, of which float32 keeps 3 decimals."""
    state = numbers(reference, rand)
    state["norm1.weight"], state["norm1.bias"] = gamma, torch.full((D,), 32.0)  # 32 · 32 · 4 / √4 = 2048
    state["attn.wq.weight"], state["attn.wk.weight"] = torch.eye(D), -torch.eye(D)
    state["attn.wv.weight"] = torch.eye(D) - 1 / D  # the values are as if there were no 32
    assert_same_block((built(submission, state), built(reference, state)), x, mask, atol=2e-3)


# --- gradients --------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="gradients", points=2, needs="test_pre_several_tokens", stage="in its gradients")
def test_pre_gradients(submission, reference, rand):
    """Lets the right gradient through to its input and to every parameter (norm_first=True)."""
    blocks, weights = pair(submission, reference, rand), rand(2, 5, D, scale=0.2)
    assert_gradients_match(*blocks, rand(2, 5, D), wrt=[0], weights=weights, atol=BOTH_SLOPES)


@pytest.mark.check(skill="gradients", points=1, needs="test_post_several_tokens", stage="in its gradients")
def test_post_gradients(submission, reference, rand):
    """Lets the right gradient through to its input and to every parameter (norm_first=False)."""
    blocks, weights = pair(submission, reference, rand, norm_first=False), rand(2, 5, D, scale=0.2)
    assert_gradients_match(*blocks, rand(2, 5, D), wrt=[0], weights=weights, atol=BOTH_SLOPES)


@pytest.mark.check(skill="training", points=0.5, needs="test_names")
def test_parameters(submission, reference):
    """Makes every weight a parameter, so that an optimizer finds it."""
    hidden = set(reference.TransformerBlock(D, H, F).state()["parameters"])
    hidden -= set(submission.TransformerBlock(D, H, F).state()["parameters"])
    if hidden:
        fail(f"Not among `parameters()`: {listed(sorted(hidden))}. No optimizer would ever move them.")


# --- manners ----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_names")
def test_input_unchanged(submission, reference, rand):
    """Leaves its input alone."""
    state, x = numbers(reference, rand), rand(2, 5, D)
    for norm_first in (True, False):
        assert_unchanged(built(submission, state, norm_first=norm_first).observe(x), x)


@pytest.mark.check(skill="hygiene", points=1, needs="test_names")
def test_repeatable(submission, reference, rand):
    """Gives the same values twice in evaluation mode."""
    assert_repeatable(built(submission, numbers(reference, rand)), rand(2, 5, D))


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_pre_several_tokens", stage="on a slice of a larger tensor")
def test_slice(submission, reference, rand):
    """Works for an input whose memory has gaps."""
    mine, theirs = pair(submission, reference, rand)
    x = rand(2, 5, D)
    assert_matches(mine.on_slices(x), theirs(x))


@pytest.mark.check(skill="hygiene", points=1, needs="test_names", stage="in training mode")
def test_no_dropout(submission, reference, rand):
    """Gives the same values in training mode: there is no dropout."""
    block, x = built(submission, numbers(reference, rand)), rand(4, 5, D)
    still = block(x)
    assert_matches(block.train()(x), still, hint="This is in training mode, where dropout is active.")


@pytest.mark.check(skill="hygiene", points=0.5)
def test_device(submission, reference, rand):
    """Works on the device where its input and its parameters are."""
    assert_portable(built(submission, numbers(reference, rand)), rand(2, 5, D), mask=causal(5))
