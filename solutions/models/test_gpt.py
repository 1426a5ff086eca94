"""The hidden checks of `gpt`: every check loads numbers of its own by name.

The statement allows both forms of GELU. So the inputs of the hidden layers are small (`BEND`), where both agree within
the tolerance; one check looks at large ones, with a tolerance that spans both.
"""

import pytest
import torch

from grader.api.checks import (
    ATOL,
    LearnerError,
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    fail,
)

SIZES = (11, 9, 12, 3, 1, 7)  # V, max_len, D, H, L, d_ff: different from each other, and from T = 5
DEEP = (11, 9, 12, 3, 2, 7)  # with two layers: all that is asked takes twice as long
V, LONGEST, D = SIZES[:3]
BEND = 0.05  # how large the inputs of the hidden layers are
ROUNDED = 1e-2  # of what is made of scores near 1000
BOTH_FORMS = 5e-3  # spans both forms of GELU when they are large
BOTH_SLOPES = 2e-3  # spans the gradients of both forms, on small inputs
SHAPES = {}  # the reference's names and shapes for each set of sizes that was asked for


def numbers(reference, rand, sizes=SIZES, bend=BEND):
    """A state dict of random numbers, of the reference's names and shapes; γ, β and biases, too."""
    if sizes not in SHAPES:
        held = reference.GPT(*sizes).state()["state"]
        SHAPES[sizes] = {name: tuple(tensor.shape) for name, tensor in held.items()}
    drawn = {}
    for name, shape in SHAPES[sizes].items():
        drawn[name] = rand(*shape, scale=shape[1] ** -0.5 if len(shape) == 2 else 0.5)
        if "norm" in name and name.endswith("weight"):
            drawn[name] += 1.0
        elif ".w1." in name:
            drawn[name] *= bend
        elif name.endswith(".w2.weight"):
            drawn[name] *= 0.3 / bend  # the network's answer keeps its size
    drawn["head.weight"] = drawn["tok.weight"]
    return drawn


def built(subject, state, sizes=SIZES):
    """A model in evaluation mode that holds these numbers."""
    return subject.GPT(*sizes, state=state).eval()


def pair(submission, reference, rand, sizes=SIZES, bend=BEND):
    """The learner's model and the reference's, holding the same numbers."""
    state = numbers(reference, rand, sizes, bend)
    return built(submission, state, sizes), built(reference, state, sizes)


def compare(submission, reference, rand, batch, tokens, sizes=SIZES, bend=BEND, atol=ATOL):
    """Both models give the same logits for random ids."""
    mine, theirs = pair(submission, reference, rand, sizes, bend)
    ids = rand.integers(0, sizes[0], batch, tokens)
    actual = mine(ids)
    assert_shape(actual, (batch, tokens, sizes[0]))
    assert_matches(actual, theirs(ids), atol)


def listed(names):
    """Names in backticks, the first dozen of them."""
    return ", ".join(f"`{name}`" for name in names[:12]) + (", ..." if len(names) > 12 else "")


class OneTable:
    """A model whose shared table goes by `tok.weight` in gradients, whichever of its two names torch takes."""

    def __init__(self, model):
        self.model = model

    def gradients(self, *args, **options):
        found = self.model.gradients(*args, **options)
        if found and "tok.weight" not in found and "head.weight" in found:
            found["tok.weight"] = found.pop("head.weight")
        return found


# --- names and shapes -------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=0.4, public=True)
def test_names(submission, reference, rand):
    """Has every name of the statement in its state dict."""
    model = submission.GPT(*SIZES, state=numbers(reference, rand))
    if model.unexpected:  # what we loaded and the model did not know
        besides = f"; it has {listed(model.missing)}, which nobody asked for" if model.missing else ""
        fail(
            f"The state dict must have exactly the names of the statement: missing {listed(model.unexpected)}{besides}."
        )


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_names")
def test_no_other_names(submission, reference, rand):
    """Has no other names in its state dict."""
    others = submission.GPT(*SIZES, state=numbers(reference, rand)).missing
    if others:
        fail(
            f"The state dict must have exactly the statement's names: unexpected {listed(others)}. "
            "A buffer that need not be saved takes `persistent=False`."
        )


@pytest.mark.check(skill="training", points=0.4, needs="test_names")
def test_parameters(submission, reference):
    """Makes every weight a parameter, so that an optimizer finds it."""
    hidden = set(reference.GPT(*SIZES).state()["parameters"]) - set(submission.GPT(*SIZES).state()["parameters"])
    if hidden:
        fail(f"Not among `parameters()`: {listed(sorted(hidden))}. No optimizer would ever move them.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True)
def test_shape(submission, reference, rand):
    """Gives V scores at every place: (B, T) becomes (B, T, V)."""
    assert_shape(built(submission, numbers(reference, rand))(rand.integers(0, V, 2, 5)), (2, 5, V))


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="values", points=3, needs="test_shape", stage="for texts of one token", public=True)
def test_one_token(submission, reference, rand):
    """Gives the reference's logits for texts of one token: tables, blocks, last norm and head."""
    compare(submission, reference, rand, 4, 1)


@pytest.mark.check(skill="values", points=3, needs="test_one_token", stage="for texts of several tokens")
def test_several_tokens(submission, reference, rand):
    """Gives the reference's logits for texts of several tokens: places, causal attention, two layers."""
    compare(submission, reference, rand, 2, 5, DEEP)


@pytest.mark.check(skill="values", points=0.5, needs="test_names", public=True)
def test_example(submission, reference):
    """Gives what the example of the exercise shows."""
    sizes = (3, 4, 2, 1, 1, 2)
    state = {name: torch.zeros(each.shape) for name, each in reference.GPT(*sizes).state()["state"].items()}
    table, places = torch.tensor([[1.0, 3.0], [3.0, 1.0], [0.5, 0.5]]), torch.zeros(4, 2)
    places[1, 1] = 4.0
    state |= {"tok.weight": table, "head.weight": table, "pos.weight": places, "norm.weight": torch.ones(2)}
    mine, theirs = (built(subject, state, sizes)(torch.tensor([[0, 1, 1]])) for subject in (submission, reference))
    assert_matches(mine, theirs)


@pytest.mark.check(skill="values", points=1, needs="test_one_token", stage="where hidden layers are strongly driven")
def test_strong_hidden(submission, reference, rand):
    """Bends large values of the hidden layers as GELU does."""
    compare(submission, reference, rand, 4, 3, bend=2.0, atol=BOTH_FORMS)


@pytest.mark.check(skill="stability", points=1, needs="test_one_token", stage="on tiny embeddings")
def test_tiny(submission, reference, rand):
    """Is right where all embeddings are tiny, and the eps of the norms matters."""
    state = numbers(reference, rand)
    for name in ("tok.weight", "pos.weight", "head.weight"):
        state[name] = state[name] * 0.03
    ids = rand.integers(0, V, 2, 5)
    assert_matches(built(submission, state)(ids), built(reference, state)(ids))


# --- causality --------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="masking", points=1, needs="test_one_token", stage="where scores are near −1000")
def test_low_scores(submission, reference, rand):
    """Hides the future also where all that a token may see has a score near −1000."""
    state = numbers(reference, rand)
    state["blocks.0.attn.wq.weight"] *= 20.0
    state["blocks.0.attn.wk.weight"] = -state["blocks.0.attn.wq.weight"]  # a token's score with itself is never above 0
    ids = rand.integers(0, V, 8, 4)
    assert_matches(built(submission, state)(ids), built(reference, state)(ids), atol=ROUNDED)


@pytest.mark.check(skill="masking", points=2, needs="test_shape", public=True)
def test_future_hidden(submission, reference, rand):
    """Keeps the future out: a changed token changes no logits before its place."""
    model, ids = built(submission, numbers(reference, rand)), rand.integers(0, V, 2, 6)
    changed = ids.clone()
    changed[:, 4] = (ids[:, 4] + 3) % V
    before, after = model(ids), model(changed)
    assert_shape(after, (2, 6, V))
    assert_matches(after[:, :4], before[:, :4], hint="Token 4 was changed, and logits before it noticed.")


# --- other sizes ------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="for the longest text")
def test_longest(submission, reference, rand):
    """Takes a text of max_len tokens, and a shorter one after it."""
    mine, theirs = pair(submission, reference, rand)
    for tokens in (LONGEST, 2):
        ids = rand.integers(0, V, 1, tokens)
        assert_matches(mine(ids), theirs(ids))


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="on a text that is too long")
def test_too_long(submission, reference, rand):
    """Raises ValueError for more tokens than there are places."""
    model = built(submission, numbers(reference, rand))
    for tokens in (LONGEST + 1, LONGEST + 6):
        try:
            model(rand.integers(0, V, 2, tokens))
        except LearnerError as error:
            if error.kind != "raised":
                raise
            if error.type_name != "ValueError":
                fail(f"{tokens} tokens with max_len = {LONGEST} raise {error.type_name}; expected ValueError.")
        else:
            fail(f"{tokens} tokens with max_len = {LONGEST} are taken silently; expected ValueError.")


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="in other sizes")
def test_other_sizes(submission, reference, rand):
    """Works for any sizes, and through three layers."""
    batch, head, tokens, hidden, vocab = rand.sizes(5)
    compare(submission, reference, rand, batch, tokens, (vocab, tokens + 2, 2 * head, 2, 3, hidden))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where one size is large")
def test_no_largest(submission, reference, rand):
    """Has no longest text, largest vocabulary or number of blocks, and leaves other models as they are."""
    many, deep, tokens = rand.large(200), rand.sizes(1, low=4)[0], rand.large(200)
    sizes = (5, 200, 4, 2, 1, 3), (many, 4, 4, 1, deep, rand.large(200))
    pairs = [pair(submission, reference, rand, each) for each in sizes]  # both before the first is asked
    for (mine, theirs), ids in zip(pairs, (rand.integers(0, 5, 1, tokens), rand.integers(0, many, 1, 3)), strict=True):
        assert_matches(mine(ids), theirs(ids))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where all sizes are equal")
def test_square(submission, reference, rand):
    """Is right where V = D = d_ff = T too, and a wrong axis goes unnoticed."""
    compare(submission, reference, rand, 6, 6, (6, 6, 6, 2, 1, 6))


# --- learning ---------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="training", points=2, needs="test_shape")
def test_tied(submission, reference, rand):
    """Shares one table between its input and its output."""
    state, ids, weights = numbers(reference, rand), rand.integers(0, V, 2, 3), rand(2, 3, V)
    found = built(submission, state).gradients(ids, wrt=[], weights=weights) or {}
    if {"tok.weight", "head.weight"} <= found.keys():
        fail("tok.weight and head.weight are two parameters: each is trained by itself. They must be one.")


@pytest.mark.check(skill="gradients", points=2, needs="test_several_tokens", stage="in its gradients")
def test_gradient(submission, reference, rand):
    """Lets the right gradient through to every parameter."""
    mine, theirs = map(OneTable, pair(submission, reference, rand))
    ids, weights = rand.integers(0, V, 2, 4), rand(2, 4, V, scale=0.2)
    ids[0, 1] = 0  # no id is special
    assert_gradients_match(mine, theirs, ids, wrt=[], weights=weights, atol=BOTH_SLOPES)


# --- manners ----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_shape")
def test_manners(submission, reference, rand):
    """Leaves the ids alone, gives the same twice, and works on the device where they are."""
    model, ids = built(submission, numbers(reference, rand)), rand.integers(0, V, 2, 5)
    assert_unchanged(model.observe(ids), ids)
    assert_repeatable(model, ids)
    assert_portable(model, ids)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape", stage="in training mode")
def test_training_mode(submission, reference, rand):
    """Drops nothing in training mode."""
    model, ids = built(submission, numbers(reference, rand)), rand.integers(0, V, 4, 5)
    still = model(ids)
    assert_matches(model.train()(ids), still, hint="This is in training mode, where dropout is active.")
