"""The hidden checks of `sort_numbers`: what can be seen without training, then a run with positions and one without."""

import math
from weakref import WeakKeyDictionary

import pytest
import torch

from grader.api.checks import (
    assert_descended,
    assert_learned,
    assert_matches,
    assert_moved,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    end_run,
    fail,
    is_array,
)

# --- the run ----------------------------------------------------------------------------------------------------------

V, T, ROWS, STEPS, STEPS_WITHOUT, FRESH = 16, 8, 64, 600, 150, 1000
LEAST = 0.95  # benchmarks/bands.py has these three
LEAST_ELSEWHERE = 0.5  # of the places, in 150 steps: slow rates have 63%, the reference 97%, a sort of its own 20%
MOST_WITHOUT = 0.02
BAND_WITHOUT = (1.77, 2.3)
# Who knows which ids are in a list, and nothing of places, knows 1.798 nats less than the answer at each place, and is
# right where an id is drawn that is there most often. How often each is there is binomial, so that is a sum.
FLOOR = -V * sum(math.comb(T, n) * (V - 1) ** (T - n) / V**T * (n / T) * math.log(n / T) for n in range(1, T + 1))
_runs = WeakKeyDictionary()


def draw_lists(rand, order, *shape):
    """Lists of numbers and the same in order, as ids: number k has the id order[k]."""
    numbers = rand.integers(0, V, *shape, T)
    return order[numbers], order[numbers.sort(-1).values]


def trained(submission, rand, positions=True):
    """The model, trained once for all checks that need it, its losses, the order of its ids, its state before, and all
    that was logged."""
    runs = _runs.setdefault(submission, {})
    if positions not in runs:
        order, steps = torch.argsort(rand(V)), STEPS if positions else STEPS_WITHOUT
        lists, answers = draw_lists(rand, order, steps, ROWS)
        model = submission.Sorter(V, T, positions=positions)
        before, report = model.state()["state"], submission.make_report(steps, model)
        submission.events()
        submission.fit(model, lists, answers, report)
        losses, events = end_run(submission, report)
        runs[positions] = model.eval(), losses, order, before, events
    return runs[positions]


def logits_of(model, ids):
    """The logits, which must be numbers of the right shape."""
    logits = model(ids)
    if not is_array(logits) or tuple(logits.shape) != (*ids.shape, V) or not bool(torch.isfinite(logits).all()):
        fail("The trained model gives logits that are no numbers, or of another shape.")
    return logits.double()


def judge_sorting(model, order, rand):
    """On fresh lists: the share that is right at every place, the share right at each place, and the loss."""
    lists, answers = draw_lists(rand, order, FRESH)
    logits = logits_of(model, lists)
    right = logits.argmax(-1) == answers
    loss = -logits.log_softmax(-1).gather(-1, answers[..., None]).mean().item()
    return right.all(-1).double().mean().item(), right.double().mean(0), loss


def assert_learns_places(submission, rand):
    """Fail where a new model does not learn in a short run what belongs at each place, when places are exchanged."""
    order, places = torch.argsort(rand(V)), torch.argsort(rand(T))
    lists, answers = draw_lists(rand, order, STEPS_WITHOUT, ROWS)
    model = submission.Sorter(V, T)
    submission.fit(model, lists, answers[..., places].contiguous(), submission.make_report(STEPS_WITHOUT))
    lists, answers = draw_lists(rand, order, FRESH)
    right = (logits_of(model.eval(), lists).argmax(-1) == answers[..., places]).double().mean().item()
    if right < LEAST_ELSEWHERE:
        fail(
            f"With the places of the answers in another order, {right:.0%} of them are right after {STEPS_WITHOUT} "
            f"steps; {LEAST_ELSEWHERE:.0%} are asked for. What belongs at a place is to be learned, not to be sorted."
        )


def difference_when_reordered(model, ids, order):
    """How far the logits of a reordered list are from its logits, reordered; as a share of the largest of them."""
    before, after = model(ids), model(ids[:, order])
    if not is_array(before) or tuple(before.shape[:2]) != tuple(ids.shape):
        fail("The logits have no place for each id.")
    return ((after - before[:, order]).abs().max() / before.abs().max().clamp(min=1.0)).item()


def explain(exact, places, losses):
    """What too few sorted lists say, with the evidence for it."""
    own = f" Your own losses went from {losses[0]:.3f} to {losses[-1]:.3f}." if losses else ""
    shares = " ".join(f"{share:.0%}" for share in places.tolist())
    said = (
        f"Of {FRESH} fresh lists {exact:.1%} are sorted; {LEAST:.0%} are asked for.{own} Places of the answer that are "
        f"right, from the first to the last: {shares}. "
    )
    if places.mean() > 0.22 and places.max() < 0.35:
        return f"{said}That is what can be known without positions: which numbers there are, and not which goes where."
    if places.mean() > 0.95:
        return f"{said}Nearly: let the rate fall to nothing in the second half of the steps."
    return (
        f"{said}It has not learned to sort: take AdamW, a rate near 0.003 after 50 steps of warm-up, and let it fall."
    )


# --- the model, untrained ---------------------------------------------------------------------------------------------


def ids_of(rand, rows=2):
    return rand.integers(0, 11, rows, 7)


@pytest.mark.check(skill="shape", points=1, function="Sorter", public=True, stage="in its shape")
@pytest.mark.parametrize("positions", [True, False], ids=["with positions", "without"])
def test_shape(submission, rand, positions):
    """Gives finite logits for each place, in any sizes, with positions and without."""
    rows, vocab, length = rand.sizes(3)
    logits = submission.Sorter(vocab, length, positions=positions)(rand.integers(0, vocab, rows, length))
    assert_shape(logits, (rows, length, vocab))
    if logits.dtype != torch.float32:
        fail(f"The logits are {logits.dtype}; expected torch.float32.")
    if not bool(torch.isfinite(logits).all()):
        fail("Some logits are NaN or infinite.")


SHAPED = ("test_shape[with positions]", "test_shape[without]")


@pytest.mark.check(skill="values", points=1, function="Sorter", needs=SHAPED, stage="in what it gives")
def test_logits(submission, rand):
    """Gives logits, no probabilities."""
    if torch.allclose(submission.Sorter(11, 7).eval()(ids_of(rand)).sum(-1), torch.ones(()), atol=1e-3):
        fail("At every place the outputs add up to 1: they are probabilities, and the loss takes logits.")


@pytest.mark.check(skill="masking", points=2, function="Sorter", needs=SHAPED, stage="in what it must see")
@pytest.mark.parametrize(("changed", "seen"), [(6, 0), (0, 6)], ids=["forwards", "back"])
def test_sees_all(submission, rand, changed, seen):
    """Lets each place depend on ids before it and after it."""
    model, ids = submission.Sorter(11, 7).eval(), ids_of(rand)
    other = ids.clone()
    other[:, changed] = (other[:, changed] + 1) % 11
    if torch.equal(model(ids)[:, seen], model(other)[:, seen]):
        fail(f"The id at place {changed} was changed, and the output at place {seen} is the same: it is not looked at.")


@pytest.mark.check(skill="generality", points=1, function="Sorter", needs=SHAPED, stage="in each list by itself")
def test_rows_apart(submission, rand):
    """Keeps the rows of a batch apart."""
    model, ids = submission.Sorter(11, 7).eval(), ids_of(rand, 3)
    assert_matches(model(ids)[1:2], model(ids[1:2]), hint="Expected is what the second row gives alone.")


@pytest.mark.check(skill="values", points=2, function="Sorter", needs=SHAPED, stage="with positions")
def test_knows_places(submission, rand):
    """With positions, the same ids in another order give more than reordered logits."""
    ids, model = torch.argsort(rand(3, 11), -1)[:, :7], submission.Sorter(11, 7).eval()
    if torch.allclose((logits := model(ids))[:, 0], logits[:, -1]):
        fail("The logits are the same at the first place and at the last: each place has an answer of its own.")
    if difference_when_reordered(model, ids, torch.arange(6, -1, -1)) < 1e-4:
        fail("A list was turned round, and its logits with it, unchanged: nothing tells the model where an id stands.")


@pytest.mark.check(skill="values", points=2, function="Sorter", needs=SHAPED, stage="without positions")
def test_knows_no_places(submission, rand):
    """Without positions, reordering a list reorders its logits and changes nothing else."""
    order = torch.argsort(rand(7))
    model = submission.Sorter(11, 7, positions=False).eval()
    found = difference_when_reordered(model, torch.argsort(rand(3, 11), -1)[:, :7], order)
    if not found < 1e-5:
        fail(
            f"With positions=False a list was reordered by {order.tolist()}, and its logits are not just reordered: "
            f"the largest difference is {found:.2g}. Something still tells where an id stands."
        )


@pytest.mark.check(skill="stability", points=1, function="Sorter", needs=SHAPED, stage="in its start")
def test_start(submission, rand):
    """Starts without prejudice: its loss on random ids lies near ln(vocab_size)."""
    lists, answers = rand.integers(0, V, 40, T), rand.integers(0, V, 40, T, 1)
    loss = -logits_of(submission.Sorter(V, T).eval(), lists).log_softmax(-1).gather(-1, answers).mean().item()
    if not loss < math.log(V) + 1.5:
        fail(f"Untrained, its loss on random ids is {loss:.2f}; knowing nothing is worth ln({V}) = {math.log(V):.2f}.")


@pytest.mark.check(skill="gradients", points=1, function="Sorter", needs=SHAPED, stage="in what can be trained")
def test_can_be_trained(submission, rand):
    """Has parameters, at most 150,000 numbers in all, and a gradient reaches them."""
    model = submission.Sorter(V, T)
    grads = model.gradients(rand.integers(0, V, 2, T), wrt=[], weights=rand(2, T, V)) or {}
    reached = [grad for grad in grads.values() if grad is not None]
    if not any(bool(grad.any()) for grad in reached):
        fail("No gradient reaches a parameter: nothing of it can be trained.")
    if (numbers := sum(grad.numel() for grad in reached)) > 150_000:
        fail(f"It has {numbers:,} numbers to train; at most 150,000 are allowed.")


@pytest.mark.check(skill="hygiene", points=0.5, function="Sorter", needs=SHAPED)
def test_ids_unchanged(submission, rand):
    """Leaves the ids alone."""
    ids = ids_of(rand)
    assert_unchanged(submission.Sorter(11, 7).observe(ids), ids)


@pytest.mark.check(skill="hygiene", points=0.5, function="Sorter", needs=SHAPED)
def test_repeatable(submission, rand):
    """Gives the same logits twice in eval mode, also when another model was made between."""
    model, ids = submission.Sorter(11, 7).eval(), ids_of(rand)
    assert_repeatable(model, ids)
    before = model(ids)
    submission.Sorter(11, 7, positions=False)
    assert_matches(model(ids), before, hint="Another model was made between the two calls.")


# --- the loop, on models of the judge ---------------------------------------------------------------------------------


def spied(subject, rand, **more):
    """A small model of ours that logs its calls, and its parameters."""
    state = {"layers.0.weight": rand(11, 6), "layers.1.weight": rand(11, 6), "layers.1.bias": rand(11)}
    return subject.make_model([["embedding", 11, 6], ["linear", 6, 11]], state, **more), state


def batches(rand, *shape):
    """Lists and answers that have nothing to do with each other."""
    return rand.integers(0, 11, *shape), rand.integers(0, 11, *shape)


def losses_of(subject, model, lists, answers):
    """What `fit` reports, one loss for each batch, and how it calls the model."""
    subject.events()
    subject.fit(model, lists, answers, subject.make_report(len(lists)))
    events = subject.events()
    losses = [event[1] for event in events if event[0] == "report"]
    if len(losses) != len(lists):
        fail(f"It reported {len(losses)} losses; expected {len(lists)}: one for each batch.")
    return losses, [event for event in events if event[0] == "forward"]


@pytest.mark.check(skill="shape", points=1, function="fit", public=True, stage="in what it reports")
def test_reports(submission, rand):
    """Reports one loss for each batch."""
    losses_of(submission, spied(submission, rand)[0], *batches(rand, 6, 3, 5))


@pytest.mark.check(skill="values", points=1, function="fit", needs="test_reports", stage="in its first loss")
@pytest.mark.parametrize("which", ["any sizes", "one list", "one place"])
def test_first_loss(submission, reference, rand, which):
    """Reports first the mean cross-entropy of the answers, as it is before any step."""
    rows, length = rand.sizes(2)
    lists, answers = batches(rand, 1, 1 if which == "one list" else rows, 1 if which == "one place" else length)
    drawn = rand.integers(0, 1 << 30, 1).item()
    found, expected = (
        losses_of(each, spied(each, type(rand)(drawn))[0], lists, answers)[0] for each in (submission, reference)
    )
    assert_matches(found, expected)


@pytest.mark.check(skill="training", points=1, function="fit", needs="test_reports", stage="in its steps")
def test_one_step_a_batch(submission, rand):
    """Shows the model each batch once, in train mode."""
    model, _ = spied(submission, rand, training=False)
    _, calls = losses_of(submission, model, *batches(rand, 6, 3, 5))
    if [call[2] for call in calls] != [[3, 5]] * 6:
        fail(f"For 6 batches of 3 lists the model was called {len(calls)} times, on {[tuple(c[2]) for c in calls]}.")
    if not all(call[1] for call in calls):
        fail("The model was not in train mode.")


@pytest.mark.check(skill="training", points=1, function="fit", needs="test_reports", stage="in the order of its steps")
def test_each_batch(submission, rand):
    """Takes the batches in their order, each with its own answers."""
    state = {"layers.0.weight": 3 * torch.eye(11), "layers.1.weight": 3 * torch.eye(11), "layers.1.bias": rand(11)}
    model = submission.make_model([["embedding", 11, 11], ["linear", 11, 11]], state)
    lists, _ = batches(rand, 6, 3, 5)
    known = torch.tensor([True, False] * 3)  # the model knows these answers already; of the others it is wrong
    losses, _ = losses_of(submission, model, lists, torch.where(known[:, None, None], lists, (lists + 3) % 11))
    if [loss < 4.5 for loss in losses] != known.tolist():
        shown = ", ".join(f"{loss:.1f}" for loss in losses)
        fail(f"The losses of 6 batches should be low, high, low, high and so on; they are {shown}.")


@pytest.mark.check(skill="training", points=1, function="fit", needs="test_reports", stage="in what it moves")
def test_moves(submission, rand):
    """Moves every parameter, in each step."""
    drawn, (lists, answers) = rand.integers(0, 1 << 30, 1).item(), batches(rand, 8, 9, 8)
    before = spied(submission, type(rand)(drawn))[1]
    for count in (6, 7, 8):  # few, and not 2, 4, 5 or 10: there OneCycleLR may divide by zero
        model, _ = spied(submission, type(rand)(drawn))
        losses_of(submission, model, lists[:count], answers[:count])
        after = model.state()["state"]
        assert_moved(before, after, f"{count} batches")
        before = after


@pytest.mark.check(skill="gradients", points=1, function="fit", needs="test_reports", stage="in its gradients")
def test_gradients_are_fresh(submission, rand):
    """Uses the gradient of its own batch alone: it does not pile up."""
    model, _ = spied(submission, rand)
    losses_of(submission, model, *(each.expand(12, 3, 5).contiguous() for each in batches(rand, 1, 3, 5)))
    grad = model.state()["grads"]["layers.1.bias"]
    if grad is not None and grad.abs().sum() > 2.1:  # of a mean of p - y over places it is 2 at most
        fail(f"After 12 steps the gradient of a bias has {grad.abs().sum():.1f} in it; one batch can give 2 at most.")


@pytest.mark.check(skill="hygiene", points=0.5, function="fit", needs="test_reports")
def test_data_unchanged(submission, rand):
    """Leaves lists and answers alone."""
    lists, answers = batches(rand, 3, 3, 5)
    after = submission.fit.observe(spied(submission, rand)[0], lists, answers, submission.make_report(3)).args
    if not torch.equal(after[1], lists) or not torch.equal(after[2], answers):
        fail("The lists or the answers were changed by the call.")


# --- the runs, and what became of them --------------------------------------------------------------------------------

# fmt: off
CHEAP = (
    "test_sees_all[forwards]", "test_sees_all[back]", "test_knows_places", "test_knows_no_places", "test_start",
    "test_can_be_trained", "test_first_loss[any sizes]", "test_one_step_a_batch", "test_each_batch", "test_moves",
    "test_gradients_are_fresh",
)
# fmt: on


@pytest.mark.check(skill="training", points=20, function="fit", needs=CHEAP, run=True, stage="in a run of 600 steps")
def test_run(submission, rand):
    """Trains your model in 600 steps to sort 95% of fresh lists, each without a mistake."""
    model, losses, order, before, events = trained(submission, rand)
    exact, places, _ = judge_sorting(model, order, rand)
    if exact < LEAST:
        fail(explain(exact, places, losses))
    twin = submission.Sorter(V, T, state=model.state()["state"]).eval()
    assert_learned(model, twin, before, rand.integers(0, V, ROWS, T))
    assert_learns_places(submission, rand)
    assert_descended(events, STEPS)


@pytest.mark.check(
    skill="values", points=10, function="Sorter", needs=CHEAP, run=True, stage="in a run without positions"
)
def test_run_without_positions(submission, rand):
    """Trains your model without positions in 150 steps: it learns which numbers there are, and no order."""
    model, _, order, _, events = trained(submission, rand, positions=False)
    lists, _ = draw_lists(rand, order, 64)
    if not (found := difference_when_reordered(model, lists, torch.argsort(rand(T)))) < 1e-5:
        fail(
            "With positions=False, after training, the logits of a reordered list are not just reordered: the largest "
            f"difference is {found:.2g}. The places are trained: a table of zeros must be a constant."
        )
    exact, places, loss = judge_sorting(model, order, rand)
    if exact > MOST_WITHOUT or not BAND_WITHOUT[0] <= loss <= BAND_WITHOUT[1]:
        fail(
            f"With positions=False its loss on fresh lists is {loss:.3f} nats after {STEPS_WITHOUT} steps, and "
            f"{places.mean().item():.0%} of the places are right; {BAND_WITHOUT[0]} to {BAND_WITHOUT[1]} is the band, "
            f"{FLOOR:.3f} the floor. Without places it should learn as the other one does which numbers there are."
        )
    assert_descended(events, STEPS_WITHOUT)


# --- `learn build`: what there is to see of a run ---------------------------------------------------------------------


def build(submission, rand):
    """Train the model with positions and without, and yield what there is to see: how well it sorts, and what."""
    for positions, title in ((True, "With positions"), (False, "Without positions")):
        model, losses, order, *_ = trained(submission, rand, positions)
        exact, places, loss = judge_sorting(model, order, rand)
        shares = f"{exact:.1%} of {FRESH} fresh lists are sorted, {places.mean():.1%} of all places are right"
        floor = f"{FLOOR:.3f} can be had without knowing any place"
        yield f"{title}, after {len(losses)} steps: {shares}. The loss is {loss:.3f}; {floor}."
        numbers = torch.argsort(order)
        lists, _ = draw_lists(rand, order, 5)
        given = zip(numbers[lists].tolist(), numbers[logits_of(model, lists).argmax(-1)].tolist(), strict=True)
        shown = [" → ".join("".join(f"{number:3}" for number in row) for row in pair) for pair in given]
        yield "\n".join(["It makes of five of them:", *shown])
