"""The hidden checks of `evaluation`: batches of different sizes, a model whose dropout hides everything in train mode.

What the model is left in shows in what it says afterwards.
"""

import pytest
import torch

from grader.api.checks import assert_matches, assert_unchanged, fail, is_array, kind_of

V, D = 7, 4
RAGGED = [(3, 5), (1, 2), (2, 7)]


def text(rand, *shapes, hidden=0.0, vocab=V):
    """For each shape a batch: tokens, and what follows them; a share of the targets does not count."""
    found = []
    for rows, length in shapes:
        ids = rand.integers(0, vocab, rows, length + 1)
        counts = rand.integers(0, 100, rows, length) >= 100 * hidden
        counts[0, 0] = True
        found.append((ids[:, :-1], ids[:, 1:].where(counts, torch.tensor(-100))))
    return found


def weights(rand, bias=None, vocab=V):
    """Parameters of an embedding and of a linear head behind a dropout."""
    bias = rand(vocab) if bias is None else bias
    return {"layers.0.weight": rand(vocab, D) * 2, "layers.2.weight": rand(vocab, D) * 2, "layers.2.bias": bias}


def learner(subject, state, **more):
    """A small model; its dropout hides everything in train mode and nothing in eval mode: no luck is in it."""
    vocab = len(state["layers.2.bias"])
    return subject.make_model([["embedding", vocab, D], ["dropout", 1.0], ["linear", D, vocab]], state, **more)


def number(value):
    """The loss as a float, in whatever form it came."""
    if isinstance(value, float):
        return value
    if is_array(value) and value.ndim == 0:
        return float(value.item())
    return fail(f"It returned {kind_of(value)}; expected the loss, one float.")


def compare(submission, reference, state, batches, **more):
    """The loss is the reference's."""
    found, expected = (
        number(subject.evaluate(learner(subject, state, **more), batches)) for subject in (submission, reference)
    )
    assert_matches(found, expected)


# --- evaluate ---------------------------------------------------------------------------------------------------------


@pytest.mark.check(function="evaluate", skill="shape", points=1, public=True)
def test_evaluate_gives_a_float(submission, rand):
    """Returns a Python float."""
    value = submission.evaluate(learner(submission, weights(rand)), text(rand, (3, 5)))
    if not isinstance(value, float):
        fail(f"It returned {kind_of(value)}; expected a Python float, as `.item()` gives.")


@pytest.mark.check(function="evaluate", skill="values", points=3, public=True, stage="on one batch, in eval mode")
def test_evaluate_one_batch(submission, reference, rand):
    """Gives the mean cross-entropy of a batch."""
    compare(submission, reference, weights(rand), text(rand, (3, 5)), training=False)


@pytest.mark.check(function="evaluate", skill="values", points=3, needs="test_evaluate_one_batch",
                   stage="on batches of different sizes")  # fmt: skip
@pytest.mark.parametrize("shapes", [RAGGED, RAGGED[::-1]], ids=["small last", "large last"])
def test_evaluate_by_tokens(submission, reference, rand, shapes):
    """Counts every token alike, however the tokens are spread over batches."""
    compare(submission, reference, weights(rand), text(rand, *shapes), training=False)


@pytest.mark.check(function="evaluate", skill="masking", points=2, needs="test_evaluate_one_batch",
                   stage="where some targets do not count")  # fmt: skip
def test_evaluate_ignored(submission, reference, rand):
    """Leaves out targets of -100, from the sum and from the count."""
    compare(submission, reference, weights(rand), text(rand, *RAGGED, hidden=0.5), training=False)


@pytest.mark.check(function="evaluate", skill="stability", points=1, needs="test_evaluate_one_batch",
                   stage="where nothing in a batch counts")  # fmt: skip
def test_evaluate_empty_batch(submission, reference, rand):
    """Survives a batch in which nothing counts."""
    batches = text(rand, (2, 3), (3, 2))
    empty = (rand.integers(0, V, 2, 4), torch.full((2, 4), -100))
    compare(submission, reference, weights(rand), [batches[0], empty, batches[1]], training=False)


@pytest.mark.check(function="evaluate", skill="training", points=3, stage="on a model that arrives in train mode")
def test_evaluate_eval_mode(submission, reference, rand):
    """Runs the model in eval mode, though it arrives in train mode."""
    compare(submission, reference, weights(rand), text(rand, *RAGGED), training=True)


@pytest.mark.check(function="evaluate", skill="training", points=0.4, needs="test_evaluate_gives_a_float",
                   stage="in the mode in which the model runs")  # fmt: skip
def test_evaluate_runs_in_eval_mode(submission, rand):
    """Runs the model in eval mode: dropout is not all that train mode changes."""
    model = learner(submission, weights(rand), training=True)
    submission.events()
    submission.evaluate(model, text(rand, *RAGGED))
    if any(event[0] == "forward" and event[1] for event in submission.events()):
        fail("The model ran in train mode.")


@pytest.mark.check(function="evaluate", skill="training", points=1, needs="test_evaluate_gives_a_float",
                   stage="in the mode of the model afterwards")  # fmt: skip
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_evaluate_mode_restored(submission, reference, rand, training):
    """Leaves the model in the mode in which it came: what it says afterwards shows it."""
    state, batches, said = weights(rand), text(rand, (3, 5)), []
    for subject in (submission, reference):
        model = learner(subject, state, training=training)
        subject.evaluate(model, batches)
        said.append(model(batches[0][0]))
    assert_matches(*said, hint=f"This is what the model says after `evaluate`: it came in "
                   f"{'train' if training else 'eval'} mode.")  # fmt: skip


@pytest.mark.check(function="evaluate", skill="training", points=1, needs="test_evaluate_gives_a_float",
                   stage="in what becomes of the model")  # fmt: skip
def test_evaluate_changes_nothing(submission, rand):
    """Changes neither the parameters nor their gradients."""
    for has_gradients in (False, True):
        model = learner(submission, weights(rand), grads=has_gradients)
        before = model.state()
        submission.evaluate(model, text(rand, *RAGGED))
        after = model.state()
        assert_matches(after["state"], before["state"], hint="These are the parameters afterwards.")
        if has_gradients:
            assert_matches(after["grads"], before["grads"], hint="These are the gradients, which were 1 before.")
        elif any(gradient is not None for gradient in after["grads"].values()):
            fail("Parameters have gradients afterwards: `backward` was called.")


@pytest.mark.check(function="evaluate", skill="training", points=0.4, needs="test_evaluate_gives_a_float",
                   stage="in what autograd records")  # fmt: skip
def test_evaluate_no_gradient(submission, rand):
    """Records no gradient while the model runs, and lets autograd record again afterwards."""
    model = learner(submission, weights(rand))
    submission.events()
    submission.evaluate(model, text(rand, (3, 5)))
    if any(event[0] == "forward" and event[3] for event in submission.events()):
        fail("Autograd recorded the model's run: the memory of a whole step, for nothing.")
    model(rand.integers(0, V, 2, 3))
    if not all(event[3] for event in submission.events() if event[0] == "forward"):
        fail("Autograd records nothing afterwards where the model runs: no training could go on.")


@pytest.mark.check(function="evaluate", skill="generality", points=1, needs="test_evaluate_one_batch",
                   stage="on batches from a generator")  # fmt: skip
def test_evaluate_generator(submission, reference, rand):
    """Goes through a generator once."""
    state, batches = weights(rand), text(rand, *RAGGED)
    found, expected = (
        number(subject.evaluate(learner(subject, state, training=False),
                                subject.make_model([], kind="iterator", items=batches)))
        for subject in (submission, reference)
    )  # fmt: skip
    assert_matches(found, expected)


@pytest.mark.check(function="evaluate", skill="stability", points=1, needs="test_evaluate_one_batch",
                   stage="on scores that lie hundreds apart")  # fmt: skip
def test_evaluate_unlikely_tokens(submission, reference, rand):
    """Survives tokens that the model holds to be almost impossible."""
    state = weights(rand, torch.linspace(-100.0, 100.0, V))
    compare(submission, reference, state, text(rand, (3, 5)), training=False)


@pytest.mark.check(function="evaluate", skill="generality", points=1, needs="test_evaluate_one_batch",
                   stage="in other sizes")  # fmt: skip
def test_evaluate_other_sizes(submission, reference, rand):
    """Takes any number of batches of any size, also a single token."""
    batches = text(rand, *(rand.sizes(2) for _ in range(4)), (1, 1))
    compare(submission, reference, weights(rand), batches, training=False)


@pytest.mark.check(function="evaluate", skill="generality", points=1, needs="test_evaluate_one_batch",
                   stage="on large batches, or many")  # fmt: skip
def test_evaluate_no_largest(submission, reference, rand):
    """Takes any number of batches, and has no longest row, no largest batch and no largest vocabulary."""
    vocab, shapes = rand.large(200), [(2, rand.large(200)), (rand.large(200), 2)]
    batches = text(rand, *shapes, *[(1, 2)] * rand.sizes(1, low=50)[0], vocab=vocab)
    compare(submission, reference, weights(rand, vocab=vocab), batches, training=False)


@pytest.mark.check(function="evaluate", skill="hygiene", points=0.5)
def test_evaluate_batches_unchanged(submission, rand):
    """Leaves the batches alone, and takes slices such as `ids[:, :-1]`."""
    batches = text(rand, *RAGGED, hidden=0.4)
    assert_unchanged(submission.evaluate.observe(learner(submission, weights(rand)), batches), None, batches)


# --- should_stop ------------------------------------------------------------------------------------------------------


def decide(submission, reference, losses, patience):
    """Both decide alike."""
    found, expected = (subject.should_stop(losses, patience) for subject in (submission, reference))
    if not isinstance(found, bool):
        fail(f"It returned {kind_of(found)}; expected True or False.")
    if found != expected:
        fail(f"should_stop({losses}, {patience}) is {found}; expected {expected}.")


@pytest.mark.check(function="should_stop", skill="values", points=1, public=True, stage="{name}")
@pytest.mark.parametrize(("name", "losses", "patience"), [
    ("on the example", [2.5, 2.1, 2.3, 2.1], 2), ("on the example with more patience", [2.5, 2.1, 2.3, 2.1], 3),
    ("while it gets better", [3.0, 2.5, 2.2, 2.1], 1),
    ("after a rise above the best, and a new best", [3.0, 2.0, 2.6, 1.9], 2),
    ("while it falls, but not below the best", [3.0, 1.5, 2.5, 2.2, 2.0], 3),
    ("where a tie brings nothing", [2.0, 2.0], 1), ("where the last is a new best", [3.0, 2.0, 2.5, 2.6, 1.999999], 3),
    ("where one of the last was a new best", [3.0, 2.5, 2.0, 2.7, 2.6], 3),
    ("where losses are huge", [3e10, 2.5e10, 2.4e10], 1),
    ("where the first was the best", [1.0, 2.0, 1.9, 1.8], 3),
    ("where bad ones do not follow each other", [3.0, 3.1, 2.5, 2.6, 2.0, 2.1], 3),
])  # fmt: skip
def test_stop_values(submission, reference, name, losses, patience):
    """Decides as the reference does."""
    decide(submission, reference, losses, patience)


@pytest.mark.check(function="should_stop", skill="generality", points=1, stage="on {losses} with patience {patience}")
@pytest.mark.parametrize(("losses", "patience"), [([], 1), ([], 3), ([2.0], 1), ([2.0, 3.0], 2), ([2.0, 3.0, 4.0], 5)])
def test_stop_short(submission, reference, losses, patience):
    """Does not stop before there are more losses than patience."""
    decide(submission, reference, losses, patience)


@pytest.mark.check(function="should_stop", skill="generality", points=2, stage="on losses at random")
def test_stop_random(submission, reference, rand):
    """Decides as the reference does, evaluation by evaluation, on losses that nobody knows by heart."""
    for patience, most in ((1, 8), (2, 8), rand.sizes(4)[::3], rand.sizes(4)[::3]):
        losses = [each / 10 for each in rand.integers(10, 30, most).tolist()]
        for length in range(most - 5, most + 1):
            decide(submission, reference, losses[:length], patience)


@pytest.mark.check(function="should_stop", skill="generality", points=1, stage="after many losses")
def test_stop_no_largest(submission, reference, rand):
    """Has no largest number of losses and no largest patience."""
    losses = [each / 1000 for each in rand.integers(1000, 3000, rand.large()).tolist()]
    since = len(losses) - 1 - losses.index(min(losses))
    for patience in (max(since, 1), since + 1):
        decide(submission, reference, losses, patience)


@pytest.mark.check(function="should_stop", skill="hygiene", points=0.2)
def test_stop_unchanged(submission):
    """Leaves the list alone."""
    losses = [2.5, 2.1, 2.3, 2.4]
    assert_unchanged(submission.should_stop.observe(losses, 2), losses, 2)
