"""The hidden checks of `training`.

Losses and final parameters decide, never which method was called: there are many right ways to clear a gradient.
"""

import pytest
import torch

from grader.api.checks import assert_matches, assert_unchanged, fail, is_array, kind_of, same

V, D = 7, 4  # vocabulary and width; most batches are (3, 5): all sizes differ
SGD = {"lr": 0.5}
ADAMW = {"lr": 0.05, "eps": 1e-3, "weight_decay": 0.1}  # eps: rounding in a tiny gradient must not flip its sign
TWO, THREE = [(3, 5)] * 2, [(3, 5)] * 3


# --- models, batches, and what became of them -------------------------------------------------------------------------


def text(rand, *shapes, vocab=V):
    """For each shape one batch: tokens, and the tokens that follow them."""
    tokens = [rand.integers(0, vocab, rows, length + 1) for rows, length in shapes]
    return [(each[:, :-1], each[:, 1:]) for each in tokens]


def weights(rand, dtype=torch.float32, vocab=V):
    return {
        "embedding": rand(vocab, D, dtype=dtype),
        "head": rand(vocab, D, dtype=dtype),
        "bias": rand(vocab, dtype=dtype),
    }


def learner(subject, start, optimizer="sgd", dropout=False, **more):
    """A small model with these weights, and its optimizer. Its dropout hides everything in train mode and nothing in
    eval mode, so that no luck is in it."""
    middle = [["dropout", 1.0]] if dropout else []
    head = 1 + len(middle)
    state = {"layers.0.weight": start["embedding"], f"layers.{head}.weight": start["head"],
             f"layers.{head}.bias": start["bias"]}  # fmt: skip
    vocab = len(start["bias"])
    model = subject.make_model([["embedding", vocab, D], *middle, ["linear", D, vocab]], state, **more)
    return model, subject.make_optimizer(model, optimizer, **(ADAMW if optimizer == "adamw" else SGD))


def number(value):
    """The loss as a float, in whatever form it came."""
    if isinstance(value, float):
        return value
    if is_array(value) and all(size == 1 for size in value.shape):
        return float(value.item())
    return fail(f"It returned {kind_of(value)}; expected the loss, one number.")


def numbers(value, count):
    """A list of `count` losses as floats."""
    if not isinstance(value, list):
        fail(f"It returned {kind_of(value)}; expected a list of {count} losses.")
    if len(value) != count:
        form = "It returned a list of another length; expected one loss for each batch."
        fail(f"It returned a list of {len(value)}; expected one loss for each of the {count} batches.", form)
    return [number(loss) for loss in value]


def steps(subject, start, batches, *how, **more):
    """The losses of `train_step` on each batch, and the parameters at the end."""
    model, optimizer = learner(subject, start, *how, **more)
    losses = [number(subject.train_step(model, optimizer, *batch)) for batch in batches]
    return losses, model.state()["state"]


def training(subject, start, batches, *how, **more):
    """The losses of `train` on the batches, and the parameters at the end."""
    model, optimizer = learner(subject, start, *how, **more)
    losses = numbers(subject.train(model, optimizer, batches), len(batches))
    return losses, model.state()["state"]


def unmoved(like, start):
    """The parameters at the start, under the names that they have in `like`."""
    return dict(zip(like, (start["embedding"], start["head"], start["bias"]), strict=True))


def assert_moved(actual, expected, start):
    """The parameters are where they should be."""
    if same(actual, unmoved(expected, start), 0.0):
        fail("No parameter has moved.")
    assert_matches(actual, expected)


def compare(run, submission, reference, start, batches, *how, **more):
    """Losses and final parameters equal the reference's."""
    losses, parameters = run(submission, start, batches, *how, **more)
    expected, moved = run(reference, start, batches, *how, **more)
    assert_matches(losses, expected, hint="These are the losses, step by step.")
    assert_moved(parameters, moved, start)


def steep():
    """Weights where all scores are 0, and the gradient has a norm of nearly 200 on a single position, whichever."""
    return {"embedding": torch.full((V, D), 100.0), "head": torch.zeros(V, D), "bias": torch.zeros(V)}


def repeated(token):
    """A batch in which the same token always follows."""
    return torch.zeros(2, 3, dtype=torch.int64), torch.full((2, 3), token)


def bigrams(subject):
    """The examples' model: a table of zeros that holds the logits of what follows each token; and its optimizer."""
    model = subject.make_model([["embedding", 4, 4]], {"layers.0.weight": torch.zeros(4, 4)})
    return model, subject.make_optimizer(model, "sgd", lr=1.0)


BIGRAMS = (torch.tensor([[0, 1, 2]]), torch.tensor([[1, 2, 3]]))


# --- train_step -------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, function="train_step", public=True)
def test_step_returns_the_loss(submission, rand):
    """Takes a step and returns one number."""
    steps(submission, weights(rand), text(rand, (3, 5)))


@pytest.mark.check(skill="hygiene", points=1, function="train_step", needs="test_step_returns_the_loss")
def test_step_gives_a_float(submission, rand):
    """Returns a Python float, which keeps no graph alive."""
    model, optimizer = learner(submission, weights(rand))
    assert_float(submission.train_step(model, optimizer, *text(rand, (3, 5))[0]))


def assert_float(value):
    if not isinstance(value, float):
        fail(f"It returned {kind_of(value)}; expected a Python float, as `loss.item()` gives.")


@pytest.mark.check(skill="values", points=3, function="train_step", needs="test_step_returns_the_loss", public=True)
def test_step_loss(submission, reference, rand):
    """Returns the mean cross-entropy of the next token over all positions, as it was before the step."""
    start, batches = weights(rand), text(rand, (3, 5))
    assert_matches(steps(submission, start, batches)[0][0], steps(reference, start, batches)[0][0])


@pytest.mark.check(
    skill="gradients", points=3, function="train_step", needs="test_step_returns_the_loss", stage="in one step"
)
def test_step_parameters(submission, reference, rand):
    """Moves every parameter one SGD step down the gradient of that loss."""
    start, batches = weights(rand), text(rand, (3, 5))
    assert_moved(steps(submission, start, batches)[1], steps(reference, start, batches)[1], start)


@pytest.mark.check(skill="values", points=0.5, function="train_step", needs="test_step_returns_the_loss", public=True)
def test_step_examples(submission, reference):
    """Gives what the examples of the exercise show."""
    found, expected = (
        [number(subject.train_step(*trained, *BIGRAMS)) for _ in range(2)]
        for subject, trained in ((each, bigrams(each)) for each in (submission, reference))
    )
    assert_matches(found, expected)


STEP_IS_RIGHT = ("test_step_loss", "test_step_parameters")


@pytest.mark.check(skill="generality", points=1, function="train_step", needs="test_step_returns_the_loss")
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (3, V)], ids=["single position", "single row", "T is V"])
def test_step_sizes(submission, reference, rand, shape):
    """Is right for other sizes: a single position, a single row, rows as long as the vocabulary."""
    compare(steps, submission, reference, weights(rand), text(rand, shape))


@pytest.mark.check(
    skill="generality", points=1, function="train_step", needs=("test_step_loss", "test_step_parameters")
)
def test_step_no_largest(submission, reference, rand):
    """Has no longest row, no largest batch and no largest vocabulary."""
    vocab, shapes = rand.large(200), ((2, rand.large()), (rand.large(), 2))
    compare(steps, submission, reference, weights(rand, vocab=vocab), text(rand, *shapes, vocab=vocab))


@pytest.mark.check(skill="generality", points=1, function="train_step", needs=STEP_IS_RIGHT)
def test_step_slices(submission, reference, rand):
    """Takes slices such as `ids[:, :-1]` and `ids[:, 1:]`, which are not contiguous."""
    start, batch = weights(rand), text(rand, (3, 5))[0]
    found, expected = (
        subject.train_step.on_slices(*learner(subject, start), *batch) for subject in (submission, reference)
    )
    assert_matches(number(found), expected)


@pytest.mark.check(skill="values", points=1, function="train_step", needs="test_step_returns_the_loss")
def test_step_every_token(submission, reference, rand):
    """Counts every token alike: none is padding, and nothing is added to the loss."""
    batch = (rand.integers(0, V, 2, V), torch.stack([torch.arange(V), torch.arange(V).flip(0)]))
    compare(steps, submission, reference, weights(rand), [batch])


@pytest.mark.check(skill="training", points=3, function="train_step", needs=STEP_IS_RIGHT, stage="over three steps")
def test_step_after_step(submission, reference, rand):
    """Uses the gradient of its own batch alone, step after step."""
    compare(steps, submission, reference, weights(rand), text(rand, *[rand.sizes(2)] * 3))


@pytest.mark.check(skill="training", points=2, function="train_step", needs=STEP_IS_RIGHT, stage="with AdamW")
def test_step_adamw(submission, reference, rand):
    """Lets AdamW keep what it gathers from step to step."""
    compare(steps, submission, reference, weights(rand), text(rand, *THREE), "adamw")


@pytest.mark.check(skill="training", points=2, function="train_step", needs=STEP_IS_RIGHT, stage="from eval mode on")
def test_step_train_mode(submission, reference, rand):
    """Runs the model in train mode, even one that arrives in eval mode."""
    start, batches = weights(rand), text(rand, *TWO)
    losses, _ = steps(submission, start, batches, dropout=True, training=False)
    expected, _ = steps(reference, start, batches, dropout=True, training=False)
    assert_matches(losses, expected, hint="The model has a dropout layer; it must be active while training.")


@pytest.mark.check(skill="training", points=1, function="train_step", needs=STEP_IS_RIGHT, stage="with large gradients")
def test_step_large_gradient(submission, reference, rand):
    """Uses the gradient as it is, however large."""
    compare(steps, submission, reference, steep(), text(rand, (1, 1)))


@pytest.mark.check(skill="hygiene", points=0.5, function="train_step", needs="test_step_returns_the_loss")
def test_step_leaves_train_mode(submission, rand):
    """Leaves the model in train mode."""
    model, optimizer = learner(submission, weights(rand), training=False)
    submission.train_step(model, optimizer, *text(rand, (3, 5))[0])
    if not model.state()["training"]:
        fail("The model is in eval mode after the step.")


@pytest.mark.check(skill="stability", points=1, function="train_step", needs=STEP_IS_RIGHT)
def test_step_unlikely_tokens(submission, reference, rand):
    """Survives tokens that the model holds to be almost impossible."""
    start = weights(rand) | {"bias": torch.linspace(-100.0, 100.0, V)}
    compare(steps, submission, reference, start, text(rand, (3, 5)))


@pytest.mark.check(skill="generality", points=1, function="train_step", needs="test_step_returns_the_loss")
def test_step_float64(submission, reference, rand):
    """Trains a float64 model in float64."""
    compare(steps, submission, reference, weights(rand, torch.float64), text(rand, (3, 5)), dtype="float64")


@pytest.mark.check(skill="hygiene", points=0.5, function="train_step")
def test_step_tokens_unchanged(submission, rand):
    """Leaves inputs and targets alone."""
    model, optimizer = learner(submission, weights(rand))
    inputs, targets = text(rand, (3, 5))[0]
    observed = submission.train_step.observe(model, optimizer, inputs, targets)
    assert_unchanged(observed, None, None, inputs, targets)  # model and optimizer do not come back


# --- train ------------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=2, function="train", public=True)
def test_train_returns_a_list(submission, rand):
    """Returns a list with one loss for each batch."""
    training(submission, weights(rand), text(rand, *TWO))


@pytest.mark.check(skill="hygiene", points=1, function="train", needs="test_train_returns_a_list")
def test_train_gives_floats(submission, rand):
    """Fills the list with Python floats, which keep no graph alive."""
    model, optimizer = learner(submission, weights(rand))
    losses = submission.train(model, optimizer, text(rand, *TWO))
    numbers(losses, 2)
    for loss in losses:
        assert_float(loss)


@pytest.mark.check(skill="training", points=2, function="train", needs="test_train_returns_a_list", public=True)
def test_train_takes_your_steps(submission, reference, rand):
    """Takes one step on each batch, in order: the right one, or your own `train_step`'s."""
    start, batches = weights(rand), text(rand, *TWO)
    together = training(submission, start, batches)
    if not same(together, training(reference, start, batches)):  # a wrong step must not spoil a right loop
        hint = "Expected is what your `train_step` gives on the same batches, one after the other."
        assert_matches(together, steps(submission, start, batches), hint=hint)


@pytest.mark.check(skill="values", points=3, function="train", needs="test_train_returns_a_list")
def test_train_losses(submission, reference, rand):
    """Gives the reference's losses on three batches."""
    start, batches = weights(rand), text(rand, *THREE)
    assert_matches(training(submission, start, batches)[0], training(reference, start, batches)[0])


@pytest.mark.check(skill="gradients", points=2, function="train", needs="test_train_returns_a_list")
def test_train_parameters(submission, reference, rand):
    """Moves every parameter to where the reference moves it."""
    start, batches = weights(rand), text(rand, *[rand.sizes(2)] * 3)
    assert_moved(training(submission, start, batches)[1], training(reference, start, batches)[1], start)


@pytest.mark.check(skill="values", points=0.5, function="train", needs="test_train_returns_a_list", public=True)
def test_train_examples(submission, reference):
    """Gives what the example of the exercise shows."""
    found = numbers(submission.train(*bigrams(submission), [BIGRAMS] * 3), 3)
    assert_matches(found, reference.train(*bigrams(reference), [BIGRAMS] * 3))


TRAINING_IS_RIGHT = ("test_train_losses", "test_train_parameters")


@pytest.mark.check(skill="training", points=1, function="train", needs=TRAINING_IS_RIGHT, stage="with large gradients")
def test_train_large_gradient(submission, reference, rand):
    """Uses the gradient as it is, however large."""
    compare(training, submission, reference, steep(), text(rand, (1, 1)))


@pytest.mark.check(skill="generality", points=1, function="train", needs=TRAINING_IS_RIGHT)
def test_train_slices(submission, reference, rand):
    """Takes batches of slices such as `ids[:, :-1]`, which are not contiguous."""
    start, batches = weights(rand), text(rand, *TWO)
    found, expected = (
        subject.train.on_slices(*learner(subject, start), batches) for subject in (submission, reference)
    )
    assert_matches(numbers(found, 2), expected)


@pytest.mark.check(skill="training", points=1, function="train", needs="test_train_returns_a_list")
def test_train_in_order(submission, reference, rand):
    """Takes six batches in their order, each once, with a step on each."""
    compare(training, submission, reference, weights(rand), text(rand, *[(2, 3)] * 6))


@pytest.mark.check(skill="training", points=1, function="train", needs="test_train_returns_a_list")
def test_train_to_the_end(submission, reference, rand):
    """Takes every batch, though the loss is tiny at first and rises later."""
    start = weights(rand) | {"bias": torch.tensor([20.0] + [0.0] * (V - 1))}
    compare(training, submission, reference, start, [repeated(token) for token in (0, 0, 1, 0, 1)])


@pytest.mark.check(skill="generality", points=2, function="train", needs=TRAINING_IS_RIGHT)
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_train_ragged(submission, reference, rand, optimizer):
    """Takes batches of different sizes, with SGD and with AdamW."""
    compare(training, submission, reference, weights(rand), text(rand, (3, 5), (2, V), (1, 2)), optimizer)


@pytest.mark.check(skill="generality", points=1, function="train", needs=TRAINING_IS_RIGHT)
def test_train_no_largest(submission, reference, rand):
    """Takes any number of batches, and has no longest row, no largest batch and no largest vocabulary."""
    vocab, shapes = rand.large(200), [(2, rand.large()), (rand.large(), 2), *[(1, 2)] * rand.sizes(1, low=8)[0]]
    compare(training, submission, reference, weights(rand, vocab=vocab), text(rand, *shapes, vocab=vocab))


@pytest.mark.check(skill="training", points=2, function="train", needs=TRAINING_IS_RIGHT, stage="when called again")
def test_train_twice(submission, reference, rand):
    """Goes on with the AdamW it was given when it is called again."""
    start, batches = weights(rand), text(rand, *TWO)

    def two_calls(subject):
        model, optimizer = learner(subject, start, "adamw")
        losses = [numbers(subject.train(model, optimizer, part), 1) for part in (batches[:1], batches[1:])]
        return losses, model.state()["state"]

    assert_matches(two_calls(submission), two_calls(reference))


@pytest.mark.check(skill="generality", points=1, function="train", needs=TRAINING_IS_RIGHT, stage="with a generator")
def test_train_generator(submission, reference, rand):
    """Takes its batches from a generator, which can be gone through once and has no length."""
    start, batches = weights(rand), text(rand, *TWO)

    def from_generator(subject):
        model, optimizer = learner(subject, start)
        stream = subject.make_model([], kind="iterator", items=batches)
        stream.shown = "a generator of batches"
        return numbers(subject.train(model, optimizer, stream), len(batches))

    assert_matches(from_generator(submission), from_generator(reference))


@pytest.mark.check(skill="generality", points=1, function="train")
def test_train_no_batch(submission, rand):
    """Returns an empty list when there is no batch, and moves nothing."""
    start = weights(rand)
    losses, parameters = training(submission, start, [])
    assert_matches(losses, [])
    assert_matches(parameters, unmoved(parameters, start), atol=0.0)


@pytest.mark.check(skill="training", points=2, function="train", needs=TRAINING_IS_RIGHT, stage="from eval mode on")
def test_train_mode(submission, reference, rand):
    """Runs the model in train mode on every batch, even one that arrives in eval mode."""
    start, batches = weights(rand), text(rand, *TWO)
    losses, _ = training(submission, start, batches, dropout=True, training=False)
    expected, _ = training(reference, start, batches, dropout=True, training=False)
    assert_matches(losses, expected, hint="The model has a dropout layer; it must be active while training.")


@pytest.mark.check(skill="hygiene", points=0.5, function="train", needs="test_train_returns_a_list")
def test_train_leaves_train_mode(submission, rand):
    """Leaves the model in train mode."""
    model, optimizer = learner(submission, weights(rand), training=False)
    submission.train(model, optimizer, text(rand, (3, 5)))
    if not model.state()["training"]:
        fail("The model is in eval mode after the training.")


@pytest.mark.check(skill="hygiene", points=0.5, function="train")
def test_train_batches_unchanged(submission, rand):
    """Leaves the batches alone."""
    model, optimizer = learner(submission, weights(rand))
    batches = text(rand, (3, 5))
    after = submission.train.observe(model, optimizer, batches).args[2]
    if not same(after, batches, 0.0):
        fail("The batches were changed by the call.")
