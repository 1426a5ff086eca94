"""The hidden checks of `generate`, with a model whose prediction depends on every token that it is given.

It logs on what shapes it ran; `pick` is a linear layer and the largest, which neither probabilities nor a plain argmax
can stand in for.
"""

import pytest
import torch

from grader.api.checks import assert_matches, assert_shape, assert_unchanged, fail

V, D = 17, 6  # vocabulary and width; no text here has as many tokens


def weights(rand, tokens=V):
    """What the model and `pick` consist of, for a vocabulary of this size."""
    names, shapes = ("table", "head", "bias", "mix", "shift"), ((D,), (D,), (), (tokens,), ())
    return {name: rand(tokens, *shape) for name, shape in zip(names, shapes, strict=True)}


def writer(subject, drawn, training=False):
    """The model and `pick`. In train mode the model's dropout hides everything, so that no luck is in it."""
    tokens = len(drawn["table"])
    layers = [["embedding", tokens, D], ["fading_sum"], ["dropout", 1.0], ["linear", D, tokens]]
    state = {"layers.0.weight": drawn["table"], "layers.3.weight": drawn["head"], "layers.3.bias": drawn["bias"]}
    model = subject.make_model(layers, state, training=training)
    mix = {"layers.0.weight": drawn["mix"], "layers.0.bias": drawn["shift"]}
    pick = subject.make_model([["linear", tokens, tokens], ["argmax"]], mix)
    pick.shown = "pick"
    return model, pick


def texts(rand, batch, length, tokens=V):
    """Random texts."""
    return rand.integers(0, tokens, batch, length)


def written(subject, drawn, ids, new, most, training=False):
    """What `generate` makes of these texts."""
    model, pick = writer(subject, drawn, training)
    return subject.generate(model, ids, new, most, pick)


def compare(submission, reference, rand, batch, length, new, most, tokens=V, **how):
    """Both write the same."""
    drawn, ids = weights(rand, tokens), texts(rand, batch, length, tokens)
    expected = written(reference, drawn, ids, new, most, **how)
    assert_matches(written(submission, drawn, ids, new, most, **how), expected)


def runs(subject, drawn, ids, new, most):
    """On what shapes the model and `pick` ran, in turn."""
    subject.events()  # forget what was before
    written(subject, drawn, ids, new, most)
    return [list(event[2]) for event in subject.events() if event[0] == "forward"]


@pytest.mark.check(skill="shape", points=1, public=True)
def test_shape(submission, rand):
    """Gives back each text with so many tokens more."""
    assert_shape(written(submission, weights(rand), texts(rand, 3, 4), 2, 9), (3, 6))


@pytest.mark.check(skill="values", points=2, needs="test_shape", public=True, stage="for one token")
def test_one_token(submission, reference, rand):
    """Appends the token that `pick` chooses from the logits of the last position."""
    compare(submission, reference, rand, 3, 5, 1, 9)


@pytest.mark.check(skill="values", points=3, needs="test_shape", public=True, stage="for several tokens")
def test_several(submission, reference, rand):
    """Reads what it has written: every token is predicted from all before it."""
    compare(submission, reference, rand, 4, 3, 5, 12)


@pytest.mark.check(
    skill="values", points=3, needs="test_shape", stage="where the text grows longer than max_len={most}"
)
@pytest.mark.parametrize("most", [4, 6])
def test_window(submission, reference, rand, most):
    """Gives the model the last max_len tokens, and returns the whole text all the same."""
    compare(submission, reference, rand, 2, 3, 7, most)


@pytest.mark.check(skill="values", points=2, needs="test_shape", stage="with a prompt longer than max_len")
def test_long_prompt(submission, reference, rand):
    """Takes a prompt that is longer than max_len from the start."""
    compare(submission, reference, rand, 3, 11, 4, 5)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where the model reads one token only")
def test_window_of_one(submission, reference, rand):
    """Takes max_len = 1."""
    compare(submission, reference, rand, 3, 4, 3, 1)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="with {batch} texts of {length}")
@pytest.mark.parametrize(("batch", "length"), [(1, 5), (4, 4)])
def test_special_sizes(submission, reference, rand, batch, length):
    """Takes a single text, and as many texts as tokens."""
    compare(submission, reference, rand, batch, length, 3, 6)


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="in other sizes")
def test_other_sizes(submission, reference, rand):
    """Takes any numbers of texts, tokens and new tokens."""
    new, batch, length = rand.sizes(3)
    compare(submission, reference, rand, batch, length, new, length)


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="for long or many texts")
def test_no_largest(submission, reference, rand):
    """Has no longest prompt, largest batch, vocabulary, window or number of new tokens."""
    for batch, length, new, most in (
        (1, rand.large(200), 2, 201),
        (rand.large(200), 2, 2, 9),
        (1, 3, *rand.sizes(2, low=12)),
    ):
        compare(submission, reference, rand, batch, length, new, most, rand.large(200))


@pytest.mark.check(skill="generality", points=0.5, needs="test_shape", stage="where every text gets token {token}")
@pytest.mark.parametrize("token", [0, 1, 2, V - 1])
def test_no_end(submission, rand, token):
    """Has no token that ends a text: it goes on, whatever was picked."""
    drawn, ids = weights(rand), texts(rand, 2, 3)
    drawn["mix"][:], drawn["shift"][:] = 0.0, 0.0
    drawn["shift"][token] = 1.0
    expected = torch.cat([ids, torch.full((2, 4), token)], dim=1)
    assert_matches(written(submission, drawn, ids, 4, 9), expected)


@pytest.mark.check(skill="generality", points=1, stage="with nothing to write")
def test_nothing(submission, rand):
    """Gives the texts as they are where no token is asked for."""
    drawn, ids = weights(rand), texts(rand, 3, 5)
    assert_matches(written(submission, drawn, ids, 0, 9), ids)


@pytest.mark.check(skill="training", points=2, needs="test_shape", stage="with a model that arrives in train mode")
def test_eval_mode(submission, reference, rand):
    """Runs the model in eval mode: dropout would disturb every prediction."""
    compare(submission, reference, rand, 3, 1, 3, 7, training=True)


@pytest.mark.check(skill="training", points=1, needs="test_shape", stage="in the mode afterwards")
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_mode_afterwards(submission, reference, rand, training):
    """Leaves the model in the mode in which it came: it predicts afterwards what it predicted before."""
    drawn, ids = weights(rand), texts(rand, 2, 3)

    def afterwards(subject):
        model, pick = writer(subject, drawn, training)
        subject.generate(model, ids, 2, 8, pick)
        return model(ids)

    hint = f"The model came in {'train' if training else 'eval'} mode; these are its logits after the call."
    assert_matches(afterwards(submission), afterwards(reference), hint=hint)


@pytest.mark.check(skill="hygiene", points=0.25, needs="test_shape", stage="in what the model is given")
def test_what_it_is_given(submission, reference, rand):
    """Runs the model once for each token, on all texts together, with no more than max_len tokens."""
    drawn = weights(rand)
    for batch, length, new, most in ((3, 4, 0, 6), (3, 4, 4, 6), (1, rand.large(200), 1, 200)):
        ids = texts(rand, batch, length)
        found, expected = (runs(subject, drawn, ids, new, most) for subject in (submission, reference))
        if found != expected:
            fail(f"The model and `pick` ran in turn on tensors of the shapes {found}; expected {expected}.")


@pytest.mark.check(skill="hygiene", points=0.25, needs="test_shape", stage="in what autograd records")
def test_no_graph(submission, rand):
    """Keeps autograd from recording anything, until the text is written."""
    ids, (model, pick) = texts(rand, 2, 3), writer(submission, weights(rand))

    def recorded(function, *args):
        submission.events()  # forget what was before
        function(*args)
        return [event[3] for event in submission.events() if event[0] == "forward"]

    if any(recorded(submission.generate, model, ids, 3, 8, pick)):
        fail("Autograd recorded the model's runs: the graph of a long text fills the memory.")
    if not all(recorded(model, ids)):
        fail("Autograd records nothing afterwards where the model runs: no training could go on.")


@pytest.mark.check(skill="hygiene", points=0.5)
def test_ids_unchanged(submission, rand):
    """Leaves the texts that it is given alone."""
    ids = texts(rand, 3, 4)
    model, pick = writer(submission, weights(rand))
    assert_unchanged(submission.generate.observe(model, ids, 3, 5, pick), None, ids, 3, 5)
