"""The hidden checks of `encoder`: every check loads numbers of its own by name, and reads real places only.

The statement allows both forms of GELU. So the inputs of the hidden layers are small (`BEND`), where both agree within
the tolerance; one check looks at large ones, with a tolerance that spans both.
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
    same,
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
        held = reference.Encoder(*sizes).state()["state"]
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
    return drawn


def built(subject, state, sizes=SIZES):
    """A model in evaluation mode that holds these numbers."""
    return subject.Encoder(*sizes, state=state).eval()


def pair(submission, reference, rand, sizes=SIZES, bend=BEND):
    """The learner's model and the reference's, holding the same numbers."""
    state = numbers(reference, rand, sizes, bend)
    return built(submission, state, sizes), built(reference, state, sizes)


def are_tokens(lengths, tokens):
    """Which places hold a token: (B, T)."""
    return torch.arange(tokens) < lengths.unsqueeze(1)


def compare(submission, reference, rand, batch, tokens, sizes=SIZES, bend=BEND, atol=ATOL):
    """Both models give the same for random ids without padding."""
    mine, theirs = pair(submission, reference, rand, sizes, bend)
    ids = rand.integers(0, sizes[0], batch, tokens)
    actual = mine(ids)
    assert_shape(actual, (batch, tokens, sizes[2]))
    assert_matches(actual, theirs(ids), atol)


def compare_padded(submission, reference, rand, lengths, tokens, sizes=DEEP, hint="These are the real places."):
    """Models that hold the same numbers give the same at all places that are no padding."""
    compare_models(pair(submission, reference, rand, sizes), rand, lengths, tokens, sizes, hint)


def compare_models(models, rand, lengths, tokens, sizes, hint, atol=ATOL):
    """Both models give the same at all places that are no padding."""
    mine, theirs = models
    ids, real = rand.integers(0, sizes[0], len(lengths), tokens), are_tokens(lengths, tokens)
    actual = mine(ids, lengths)
    assert_shape(actual, (len(lengths), tokens, sizes[2]))
    assert_matches(actual[real], theirs(ids, lengths)[real], atol, hint=hint)


def listed(names):
    """Names in backticks, the first dozen of them."""
    return ", ".join(f"`{name}`" for name in names[:12]) + (", ..." if len(names) > 12 else "")


# --- names and shapes -------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=0.4, public=True)
def test_names(submission, reference, rand):
    """Has every name of the statement in its state dict."""
    model = submission.Encoder(*SIZES, state=numbers(reference, rand))
    if model.unexpected:  # what we loaded and the model did not know
        besides = f"; it has {listed(model.missing)}, which nobody asked for" if model.missing else ""
        fail(
            f"The state dict must have exactly the names of the statement: missing {listed(model.unexpected)}{besides}."
        )


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_names")
def test_no_other_names(submission, reference, rand):
    """Has no other names in its state dict."""
    others = submission.Encoder(*SIZES, state=numbers(reference, rand)).missing
    if others:
        fail(
            f"The state dict must have exactly the statement's names: unexpected {listed(others)}. "
            "A buffer that need not be saved takes `persistent=False`."
        )


@pytest.mark.check(skill="training", points=0.4, needs="test_names")
def test_parameters(submission, reference):
    """Makes every weight a parameter, so that an optimizer finds it."""
    hidden = set(reference.Encoder(*SIZES).state()["parameters"])
    hidden -= set(submission.Encoder(*SIZES).state()["parameters"])
    if hidden:
        fail(f"Not among `parameters()`: {listed(sorted(hidden))}. No optimizer would ever move them.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True)
def test_shape(submission, reference, rand):
    """Gives a vector for every place: (B, T) becomes (B, T, D), whatever the lengths."""
    model, ids = built(submission, numbers(reference, rand)), rand.integers(0, V, 2, 5)
    assert_shape(model(ids), (2, 5, D))
    assert_shape(model(ids, torch.tensor([3, 1])), (2, 5, D))


# --- values without padding -------------------------------------------------------------------------------------------


@pytest.mark.check(skill="values", points=3, needs="test_shape", stage="for texts of one token", public=True)
def test_one_token(submission, reference, rand):
    """Gives the reference's vectors for texts of one token: tables, blocks and last norm."""
    compare(submission, reference, rand, 4, 1)


@pytest.mark.check(skill="values", points=3, needs="test_one_token", stage="for texts of several tokens")
def test_several_tokens(submission, reference, rand):
    """Gives the reference's vectors for texts of several tokens: places, attention, two layers."""
    compare(submission, reference, rand, 2, 5, DEEP)


@pytest.mark.check(skill="masking", points=1, needs="test_shape", public=True)
def test_both_ways(submission, reference, rand):
    """Reads both ways: a changed last token changes every vector before it."""
    model, ids = built(submission, numbers(reference, rand)), rand.integers(0, V, 2, 5)
    changed = ids.clone()
    changed[:, 4] = (ids[:, 4] + 3) % V
    before, after = model(ids), model(changed)
    assert_shape(after, (2, 5, D))
    for place in range(4):
        if same(before[:, place], after[:, place], 1e-6):
            fail(
                f"Token 4 was changed, and the vectors at place {place} did not notice: nothing hides the future here."
            )


@pytest.mark.check(skill="values", points=1, needs="test_one_token", stage="where hidden layers are strongly driven")
def test_strong_hidden(submission, reference, rand):
    """Bends large values of the hidden layers as GELU does."""
    compare(submission, reference, rand, 4, 3, bend=2.0, atol=BOTH_FORMS)


@pytest.mark.check(skill="stability", points=1, needs="test_one_token", stage="on tiny embeddings")
def test_tiny(submission, reference, rand):
    """Is right where all embeddings are tiny, and the eps of the norms matters."""
    state = numbers(reference, rand)
    for name in ("tok.weight", "pos.weight"):
        state[name] = state[name] * 0.03
    ids = rand.integers(0, V, 2, 5)
    assert_matches(built(submission, state)(ids), built(reference, state)(ids))


# --- padding ----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="values", points=0.5, needs="test_names", public=True)
def test_example(submission, reference):
    """Gives what the example of the exercise shows, with lengths and without."""
    sizes, ids = (2, 3, 2, 1, 1, 1), torch.tensor([[0, 1, 1]])
    state = {name: torch.zeros(each.shape) for name, each in reference.Encoder(*sizes).state()["state"].items()}
    state |= {name: torch.ones(2) for name in state if "norm" in name and "weight" in name}
    state |= {"tok.weight": torch.tensor([[1.0, 0.0], [0.0, 8.0]]), "blocks.0.attn.wo.weight": torch.eye(2)}
    state["blocks.0.attn.wv.weight"] = 4.0 * torch.eye(2)
    for given in ([], [torch.tensor([1])]):
        mine, theirs = (built(subject, state, sizes)(ids, *given) for subject in (submission, reference))
        assert_shape(mine, (1, 3, 2))
        assert_matches(mine[:, :1], theirs[:, :1])


@pytest.mark.check(skill="masking", points=3, needs="test_several_tokens", stage="for padded texts", public=True)
def test_padded(submission, reference, rand):
    """Gives the reference's vectors at the real places of texts of different lengths, through two layers."""
    compare_padded(submission, reference, rand, torch.tensor([3, 6, 1, 2]), 7)


@pytest.mark.check(skill="masking", points=2, needs="test_shape")
def test_padding_unread(submission, reference, rand):
    """Reads no padding: other ids there change no real place."""
    model, lengths = built(submission, numbers(reference, rand)), torch.tensor([3, 5, 1])
    ids, real = rand.integers(0, V, 3, 6), are_tokens(lengths, 6)
    other = torch.where(real, ids, (ids + 5) % V)
    before, after = model(ids, lengths), model(other, lengths)
    assert_shape(after, (3, 6, D))
    assert_matches(after[real], before[real], hint="The ids of the padding were changed, and real tokens noticed.")


@pytest.mark.check(skill="masking", points=2, needs="test_several_tokens", stage="in a batch")
def test_as_alone(submission, reference, rand):
    """Makes of a text in a batch what it makes of the text alone."""
    model, lengths = built(submission, numbers(reference, rand)), torch.tensor([2, 6, 4])
    ids = rand.integers(0, V, 3, 6)
    found = model(ids, lengths)
    assert_shape(found, (3, 6, D))
    for text, length in enumerate(lengths.tolist()):
        alone = model(ids[text : text + 1, :length])
        assert_matches(found[text, :length], alone[0], hint=f"This is text {text}, of length {length}.")


@pytest.mark.check(skill="stability", points=1, needs="test_shape")
def test_padding_finite(submission, reference, rand):
    """Leaves finite numbers at the places of padding: NaN spreads from there."""
    found = built(submission, numbers(reference, rand))(rand.integers(0, V, 3, 6), torch.tensor([3, 6, 1]))
    assert_shape(found, (3, 6, D))
    if not torch.isfinite(found).all():
        fail("There is NaN or inf: a query without any key has a softmax of 0/0. Hide padding as keys, not as queries.")


@pytest.mark.check(skill="generality", points=2, needs="test_several_tokens", stage="for some lengths")
def test_any_lengths(submission, reference, rand):
    """Works for any lengths: none padded, all of length 1, a single text, as many texts as heads and places."""
    models = pair(submission, reference, rand)
    for lengths, tokens in (([5, 5], 5), ([1, 1], 4), ([3], 7), ([2, 3, 1], 3), ([1, 2, 8], 8), ([2, 5, 3], 9)):
        hint = f"This is with lengths = {lengths}, T = {tokens}, at the real places."
        compare_models(models, rand, torch.tensor(lengths), tokens, SIZES, hint)


@pytest.mark.check(skill="masking", points=1, needs="test_shape", stage="where scores are near −1000")
def test_low_scores(submission, reference, rand):
    """Hides padding also where all that a token may see has a score near −1000."""
    state = numbers(reference, rand)
    state["blocks.0.attn.wq.weight"] *= 20.0
    state["blocks.0.attn.wk.weight"] = -state["blocks.0.attn.wq.weight"]  # a token's score with itself is never above 0
    models, lengths = [built(subject, state) for subject in (submission, reference)], torch.tensor([1, 2, 1] * 8)
    compare_models(models, rand, lengths, 4, SIZES, "These are the real places.", atol=ROUNDED)


# --- other sizes ------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="for the longest text")
def test_longest(submission, reference, rand):
    """Takes a text of max_len tokens, and a shorter one after it."""
    mine, theirs = pair(submission, reference, rand)
    for tokens in (LONGEST, 2):
        ids = rand.integers(0, V, 1, tokens)
        assert_matches(mine(ids), theirs(ids))


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="in other sizes")
def test_other_sizes(submission, reference, rand):
    """Works for any sizes and lengths, and through three layers."""
    batch, head, tokens, hidden, vocab = rand.sizes(5)
    sizes, lengths = (vocab, tokens + 2, 2 * head, 2, 3, hidden), rand.integers(1, tokens + 1, batch)
    compare_padded(submission, reference, rand, lengths, tokens, sizes)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where one size is large")
def test_no_largest(submission, reference, rand):
    """Has no longest text, largest vocabulary or number of blocks, and leaves other models as they are."""
    tokens, large, hint = rand.large(200), rand.large(200), "These are the real places."
    sizes = (5, 200, 4, 2, 1, 3), (large, 4, 4, 1, rand.sizes(1, low=4)[0], large)
    first, second = (pair(submission, reference, rand, each) for each in sizes)  # both before the first is asked
    compare_models(first, rand, torch.tensor([tokens]), tokens, sizes[0], hint)
    compare_models(second, rand, torch.tensor([3, 3]), 3, sizes[1], hint)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where all sizes are equal")
def test_square(submission, reference, rand):
    """Is right where V = D = d_ff = T too, and a wrong axis goes unnoticed."""
    compare(submission, reference, rand, 6, 6, (6, 6, 6, 2, 1, 6))


# --- learning, and manners --------------------------------------------------------------------------------------------


@pytest.mark.check(skill="gradients", points=2, needs="test_padded", stage="in its gradients")
def test_gradient(submission, reference, rand):
    """Lets the right gradient through to every parameter, from the real places of padded texts."""
    mine, theirs = pair(submission, reference, rand)
    ids, lengths = rand.integers(0, V, 2, 4), torch.tensor([4, 2])
    ids[0, 1] = 0  # no id is special
    weights = rand(2, 4, D, scale=0.2) * are_tokens(lengths, 4).unsqueeze(-1)
    assert_gradients_match(mine, theirs, ids, lengths, wrt=[], weights=weights, atol=BOTH_SLOPES)


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_shape")
def test_manners(submission, reference, rand):
    """Leaves ids and lengths alone, gives the same twice, works on their device, and keeps parameters of float64."""
    models, ids = pair(submission, reference, rand), rand.integers(0, V, 2, 5)
    lengths = torch.tensor([3, 5])
    assert_unchanged(models[0].observe(ids, lengths), ids, lengths)
    assert_repeatable(models[0], ids, lengths)
    assert_portable(models[0], ids, lengths)
    for model in models:
        model.method("double")()
    compare_models(models, rand, lengths, 5, SIZES, hint="Here the parameters are float64.")


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape", stage="in training mode")
def test_training_mode(submission, reference, rand):
    """Drops nothing in training mode."""
    model, ids = built(submission, numbers(reference, rand)), rand.integers(0, V, 4, 5)
    still = model(ids)
    assert_matches(model.train()(ids), still, hint="This is in training mode, where dropout is active.")
