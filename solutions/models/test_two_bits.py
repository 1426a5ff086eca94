"""The hidden checks of `two_bits`: what can be seen without training first, then one run and what became of it."""

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

# --- the language: 2 bits a word, exactly -----------------------------------------------------------------------------

# fmt: off
WORDS = [
    "the", "these", "red", "old", "big", "shy", "dog", "cat", "owl", "fox", "dogs", "cats", "owls", "foxes",
    "sees", "likes", "bites", "calls", "see", "like", "bite", "call", ".",
]
# fmt: on
STOP = WORDS.index(".")
FLOOR = 2 * math.log(2)  # nats a word
BIGRAM = 1.646  # the loss of the best table of pairs of words, and of a model that never looks back
FROM = 8  # places of a window: those before know too little of their sentence


def text(rand, count):
    """The first `count` words of sentences without end, as ids."""
    draws, ids = iter(rand.integers(0, 8, count).tolist()), []
    while len(ids) < count:
        for part in ("subject", "object"):
            plural = next(draws) % 2
            ids.append(plural)
            while (drawn := next(draws)) < 4:  # an adjective with probability one half
                ids.append(2 + drawn)
            ids.append(2 + drawn + 4 * plural)
            if part == "subject":
                ids.append(14 + next(draws) % 4 + 4 * plural)
        ids.append(STOP)
    return torch.tensor(ids[:count])


def next_words(ids):
    """The chances of what comes behind each word of a text that begins with a sentence: (N, V)."""
    chances, plural, has_verb = torch.zeros(len(ids), len(WORDS)), 0, False
    for row, word in zip(chances, ids.tolist(), strict=True):
        plural = word if word < 2 else plural
        has_verb = word != STOP and (has_verb or word >= 14)
        if word < 6:
            row[2:6] = row[6 + 4 * plural : 10 + 4 * plural] = 1 / 8
        elif word >= 14:
            row[:2] = 1 / 2
        elif has_verb:
            row[STOP] = 1
        else:
            row[14 + 4 * plural : 18 + 4 * plural] = 1 / 4
    return chances


def is_sentence(ids):
    """The ids are one whole sentence whose determiners, nouns and verb agree."""
    rest = list(ids)

    def take(low, high):
        return rest.pop(0) if rest and low <= rest[0] < high else None

    def phrase():
        plural = take(0, 2)
        while take(2, 6) is not None:
            pass
        known = plural is not None and take(6 + 4 * plural, 10 + 4 * plural) is not None
        return plural if known else None

    plural = phrase()
    verb = plural is not None and take(14 + 4 * plural, 18 + 4 * plural) is not None
    return verb and phrase() is not None and rest == [STOP]


# --- the run ----------------------------------------------------------------------------------------------------------

V, T, STEPS, ROWS, LENGTH = len(WORDS), 32, 800, 32, 60_000
BAND = (1.366, 1.43)  # benchmarks/bands.py
MIN_SENTENCES = 0.95  # the share that is to be grammatical
_runs = WeakKeyDictionary()


class Renumbered:
    """A model that was trained with other numbers for the words, so that no grammar written down beforehand fits."""

    def __init__(self, model, numbers, before=None, events=()):
        self.model, self.numbers, self.before, self.events = model, numbers, before, events

    def __call__(self, ids):
        logits = self.model(self.numbers[ids])
        return logits[..., self.numbers] if is_array(logits) and logits.shape[-1:] == (V,) else logits

    def method(self, name):
        return lambda ids, *rest: self.model.method(name)(self.numbers[ids], *rest)


def trained(submission, rand):
    """The model, trained once for all checks that ask for it, and the losses that it reported."""
    if submission not in _runs:
        data, starts = text(rand, LENGTH), rand.integers(0, LENGTH - T, STEPS, ROWS)
        model, numbers = submission.TwoBits(V, T), torch.argsort(rand(V))
        before, report = model.state()["state"], submission.make_report(STEPS, model)
        submission.events()
        submission.fit(model, numbers[data], starts, T, report)
        losses, events = end_run(submission, report)
        _runs[submission] = Renumbered(model.eval(), numbers, before, events), losses
    return _runs[submission]


def logits_of(model, ids):
    """The logits, which must be numbers of the right shape."""
    logits = model(ids)
    if not is_array(logits) or tuple(logits.shape) != (*ids.shape, V) or not bool(torch.isfinite(logits).all()):
        fail("The trained model gives logits that are no numbers, or of another shape.")
    return logits.double()


def fresh_losses(model, rand, windows=840):
    """The mean loss on text that was drawn for this, from place 8 of each window on, and what could come there costs.

    The second is the mean over all words that could have come, by their chances: whoever looks ahead sees the one that
    did come, and is sure of it in vain.
    """
    ids = text(rand, windows * (T + 1))
    rows, chances = ids.view(windows, T + 1), next_words(ids).view(windows, T + 1, V)[:, FROM:-1]
    logs = torch.cat([logits_of(model, part[:, :-1]).log_softmax(-1) for part in rows.split(210)])[:, FROM:]
    came = logs.gather(-1, rows[:, FROM + 1 :, None])
    return -came.mean().item(), -(chances * logs).sum(-1).mean().item()


def fresh_loss(model, rand):
    """The mean loss on fresh text."""
    return fresh_losses(model, rand)[0]


def write(model, rand, rows=60, length=T):
    """Sentences that the model writes, at half the temperature."""
    ids = torch.full((rows, 1), STOP)
    while ids.size(1) < length:
        chances = (2 * logits_of(model, ids)[:, -1]).softmax(-1).cumsum(-1)
        draws = rand.integers(0, 1 << 30, rows, 1) / (1 << 30)
        ids = torch.cat([ids, (chances < draws).sum(-1, keepdim=True).clamp(max=V - 1)], 1)
    return cut_sentences(ids[:, 1:])


def cut_sentences(ids):
    """The sentences in each row, cut at each full stop; what has none at the end is left out."""
    written = []
    for row in ids.tolist():
        ends = [place + 1 for place, word in enumerate(row) if word == STOP]
        written += [row[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    return written


def size_of_steps(submission, rand, steps):
    """How far a step of its loop moves what has a gradient, on average: the largest, and whether all are alike."""
    state = {"layers.0.weight": rand(V, 8), "layers.1.weight": rand(V, 8), "layers.1.bias": torch.zeros(V)}
    model = submission.make_model([["embedding", V, 8], ["linear", 8, V]], state)
    starts = rand.integers(0, 80 - T, steps, ROWS)  # far from the end, which a loop may read past by mistake
    submission.fit(model, text(rand, 90), starts, T, submission.make_report(steps))
    changes = model.state()["state"]["layers.1.weight"] - state["layers.1.weight"]
    sizes = changes.abs().flatten().sort().values / steps
    return sizes[-1].item(), bool(sizes[len(sizes) // 4] >= 0.5 * sizes[-1])  # a schedule may end with no step at all


def explain(loss, losses, submission, rand):
    """What a loss outside the band says, with the evidence for it."""
    own = f"Your own losses went from {losses[0]:.3f} to {losses[-1]:.3f}. " if losses else ""
    said = (
        f"On fresh text its loss is {loss:.3f} nats a word; {BAND[0]} to {BAND[1]} is the band, the floor 1.386. {own}"
    )
    if loss < BAND[0]:
        return f"{said}Nothing can be below the floor that does not see its answers."
    if loss > BAND[1] and not size_of_steps(submission, rand, 1)[1]:
        return (
            f"{said}One step of your optimiser moves each number in proportion to its gradient, as SGD does: most "
            "numbers of a transformer hardly move so. Take AdamW."
        )
    largest, _ = size_of_steps(submission, rand, 100)
    if largest > 0.012:  # AdamW moves them by its rate, and by less where it has overshot
        return f"{said}In 100 steps numbers move by {largest:.2g} a step: the rate is too high. Try 0.001."
    if largest < 1e-4:
        return f"{said}In 100 steps numbers move by {largest:.1g} a step only: the rate is too low. Try 0.001."
    if abs(loss - BIGRAM) < 0.03:
        return f"{said}1.646 is what pairs of words tell: your model does not use what stands further back."
    return (
        f"{said}It has not learned all that there is. Two blocks and AdamW with a rate of 0.001 to 0.003 are enough: "
        "does yours have both, and is each target the word that comes next?"
    )


# --- the model, untrained ---------------------------------------------------------------------------------------------


def ids_of(rand, rows=2, length=7, vocab=11):
    return rand.integers(0, vocab, rows, length)


def changed(ids, place, vocab=11):
    """The ids with another id at one place."""
    other = ids.clone()
    other[:, place] = (other[:, place] + 1) % vocab
    return other


@pytest.mark.check(skill="shape", points=1, function="TwoBits", public=True, stage="in its shape")
def test_shape(submission, rand):
    """Gives logits for each place, in any sizes."""
    rows, vocab, length = rand.sizes(3)
    logits = submission.TwoBits(vocab, length)(ids_of(rand, rows, length, vocab))
    assert_shape(logits, (rows, length, vocab))
    if logits.dtype != torch.float32:
        fail(f"The logits are {logits.dtype}; expected torch.float32.")


@pytest.mark.check(skill="shape", points=1, function="TwoBits", needs="test_shape", stage="with shorter texts")
@pytest.mark.parametrize("length", [7, 1])
def test_lengths(submission, rand, length):
    """Takes texts that are shorter than max_len, and gives finite numbers."""
    logits = submission.TwoBits(11, 9)(ids_of(rand, 2, length))
    assert_shape(logits, (2, length, 11))
    if not bool(torch.isfinite(logits).all()):
        fail("Some logits are NaN or infinite.")


@pytest.mark.check(skill="values", points=1, function="TwoBits", needs="test_lengths[7]", stage="in what it gives")
def test_logits(submission, rand):
    """Gives logits, no probabilities."""
    if torch.allclose(submission.TwoBits(11, 9).eval()(ids_of(rand)).sum(-1), torch.ones(()), atol=1e-3):
        fail("At every place the outputs add up to 1: they are probabilities, and the loss takes logits.")


@pytest.mark.check(skill="masking", points=2, function="TwoBits", needs="test_lengths[7]", stage="in what it may see")
@pytest.mark.parametrize("place", [1, 4, 6])
def test_no_leak(submission, rand, place):
    """Lets no output depend on a later word."""
    model, ids = submission.TwoBits(11, 9).eval(), ids_of(rand)
    before, after = model(ids), model(changed(ids, place))
    if not torch.equal(before[:, :place], after[:, :place]):
        fail(f"The word at place {place} was changed, and outputs before it changed with it: they see what comes.")


@pytest.mark.check(skill="masking", points=2, function="TwoBits", needs="test_lengths[7]", stage="in what it must see")
@pytest.mark.parametrize("place", [6, 2])
def test_looks_back(submission, rand, place):
    """Lets the last output depend on its own word and on one four places before."""
    model, ids = submission.TwoBits(11, 9).eval(), ids_of(rand)
    if torch.equal(model(ids)[:, -1], model(changed(ids, place))[:, -1]):
        fail(f"The word at place {place} was changed, and the output at place 6 is the same: it is not looked at.")


@pytest.mark.check(
    skill="generality", points=1, function="TwoBits", needs="test_lengths[7]", stage="in each row by itself"
)
def test_rows_apart(submission, rand):
    """Keeps the rows of a batch apart."""
    model, ids = submission.TwoBits(11, 9).eval(), ids_of(rand, 3)
    assert_matches(model(ids)[1:2], model(ids[1:2]), hint="Expected is what the second row gives alone.")


@pytest.mark.check(skill="stability", points=1, function="TwoBits", needs="test_lengths[7]", stage="in its start")
def test_start(submission, rand):
    """Starts without prejudice: its loss on random ids lies near ln(vocab_size)."""
    ids, model = ids_of(rand, 8, T + 1, V), submission.TwoBits(V, T).eval()
    loss = -logits_of(model, ids[:, :-1]).log_softmax(-1).gather(-1, ids[:, 1:, None]).mean().item()
    if not loss < math.log(V) + 1.5:
        fail(f"Untrained, its loss on random ids is {loss:.2f}; knowing nothing is worth ln({V}) = {math.log(V):.2f}.")


@pytest.mark.check(
    skill="gradients", points=1, function="TwoBits", needs="test_lengths[7]", stage="in what can be trained"
)
def test_can_be_trained(submission, rand):
    """Has parameters, at most 100,000 numbers in all, and a gradient reaches them."""
    model, ids = submission.TwoBits(V, T), ids_of(rand, 2, 7, V)
    grads = [grad for grad in (model.gradients(ids, wrt=[], weights=rand(2, 7, V)) or {}).values() if grad is not None]
    if not any(bool(grad.any()) for grad in grads):
        fail("No gradient reaches a parameter: nothing of it can be trained.")
    if sum(grad.numel() for grad in grads) > 100_000:
        fail(f"It has {sum(grad.numel() for grad in grads):,} numbers to train; at most 100,000 are allowed.")


@pytest.mark.check(skill="hygiene", points=0.5, function="TwoBits", needs="test_lengths[7]")
def test_ids_unchanged(submission, rand):
    """Leaves the ids alone."""
    ids = ids_of(rand)
    assert_unchanged(submission.TwoBits(11, 9).observe(ids), ids)


@pytest.mark.check(skill="hygiene", points=0.5, function="TwoBits", needs="test_lengths[7]")
def test_repeatable(submission, rand):
    """Gives the same logits twice in eval mode, also when another model was made between."""
    model, ids = submission.TwoBits(11, 9).eval(), ids_of(rand)
    assert_repeatable(model, ids)
    before = model(ids)
    submission.TwoBits(13, 5)
    assert_matches(model(ids), before, hint="Another model was made between the two calls.")


# --- the loop, on models of the judge ---------------------------------------------------------------------------------

# torch's OneCycleLR divides by zero where pct_start times the steps is 1: no 2, 4, 5, 10 or 20 steps are asked for


def spied(subject, rand, **more):
    """A small model of ours that logs its calls, and its parameters."""
    state = {"layers.0.weight": rand(11, 6), "layers.1.weight": rand(11, 6), "layers.1.bias": rand(11)}
    return subject.make_model([["embedding", 11, 6], ["linear", 6, 11]], state, **more), state


def losses_of(subject, model, data, starts, block_size):
    """What `fit` reports, one loss for each row of starts, and how it calls the model."""
    subject.events()
    subject.fit(model, data, starts, block_size, subject.make_report(len(starts)))
    events = subject.events()
    losses = [event[1] for event in events if event[0] == "report"]
    if len(losses) != len(starts):
        fail(f"It reported {len(losses)} losses; expected {len(starts)}: one for each row of starts.")
    return losses, [event for event in events if event[0] == "forward"]


@pytest.mark.check(skill="shape", points=1, function="fit", public=True, stage="in what it reports")
def test_reports(submission, rand):
    """Reports one loss for each row of starts."""
    losses_of(submission, spied(submission, rand)[0], rand.integers(0, 11, 40), rand.integers(0, 35, 6, 3), 5)


@pytest.mark.check(skill="values", points=1, function="fit", needs="test_reports", stage="in its first loss")
@pytest.mark.parametrize("sizes", [(3, 5), (1, 5), (4, 1)], ids=["windows", "one window", "one place"])
def test_first_loss(submission, reference, rand, sizes):
    """Reports first the mean cross-entropy of the next word, as it is before any step."""
    rows, block_size = sizes
    data, starts = rand.integers(0, 11, 40), rand.integers(0, 40 - block_size, 1, rows)
    drawn = rand.integers(0, 1 << 30, 1).item()
    found, expected = (
        losses_of(each, spied(each, type(rand)(drawn))[0], data, starts, block_size)[0]
        for each in (submission, reference)
    )
    assert_matches(found, expected)


@pytest.mark.check(skill="generality", points=1, function="fit", needs="test_reports", stage="at the end of the text")
def test_last_start(submission, reference, rand):
    """Cuts windows at the first start and at the last one, in any size."""
    block_size, rows, length = rand.sizes(3)
    data, starts = rand.integers(0, 11, length), torch.tensor([[0, length - block_size - 1] * rows])
    drawn = rand.integers(0, 1 << 30, 1).item()
    found, expected = (
        losses_of(each, spied(each, type(rand)(drawn))[0], data, starts, block_size)[0]
        for each in (submission, reference)
    )
    assert_matches(found, expected)


@pytest.mark.check(skill="training", points=1, function="fit", needs="test_reports", stage="in its steps")
def test_one_step_a_row(submission, rand):
    """Shows the model the windows of each row once, in train mode."""
    model, _ = spied(submission, rand, training=False)
    _, calls = losses_of(submission, model, rand.integers(0, 11, 40), rand.integers(0, 35, 6, 3), 5)
    if [call[2] for call in calls] != [[3, 5]] * 6:
        fail(
            f"For 6 rows of 3 starts the model was called {len(calls)} times, on {[tuple(call[2]) for call in calls]}."
        )
    if not all(call[1] for call in calls):
        fail("The model was not in train mode.")


@pytest.mark.check(skill="training", points=1, function="fit", needs="test_reports", stage="in what it moves")
def test_moves(submission, rand):
    """Moves every parameter, in each step."""
    drawn, data, starts = rand.integers(0, 1 << 30, 1).item(), rand.integers(0, 11, 60), rand.integers(0, 50, 8, 9)
    before = spied(submission, type(rand)(drawn))[1]
    for rows in (6, 7, 8):  # the first step of a warm-up may be none
        model, _ = spied(submission, type(rand)(drawn))
        losses_of(submission, model, data, starts[:rows], 8)
        after = model.state()["state"]
        assert_moved(before, after, f"{rows} rows")
        before = after


@pytest.mark.check(skill="gradients", points=1, function="fit", needs="test_reports", stage="in its gradients")
def test_gradients_are_fresh(submission, rand):
    """Uses the gradient of its own windows alone: it does not pile up."""
    model, _ = spied(submission, rand)
    starts = rand.integers(0, 35, 1, 3).expand(12, 3).contiguous()
    losses_of(submission, model, rand.integers(0, 11, 40), starts, 5)
    grad = model.state()["grads"]["layers.1.bias"]
    if grad is not None and grad.abs().sum() > 2.1:  # of a mean of p - y over places it is 2 at most
        fail(f"After 12 steps the gradient of a bias has {grad.abs().sum():.1f} in it; one batch can give 2 at most.")


@pytest.mark.check(skill="hygiene", points=0.5, function="fit", needs="test_reports")
def test_data_unchanged(submission, rand):
    """Leaves the text and the starts alone."""
    model, _ = spied(submission, rand)
    data, starts = rand.integers(0, 11, 40), rand.integers(0, 35, 3, 3)
    report = submission.make_report(3)
    after = submission.fit.observe(model, data, starts, 5, report).args
    if not torch.equal(after[1], data) or not torch.equal(after[2], starts):
        fail("The text or the starts were changed by the call.")


# --- the run, and what became of it -----------------------------------------------------------------------------------

# fmt: off
CHEAP = (
    "test_no_leak[1]", "test_no_leak[4]", "test_no_leak[6]", "test_looks_back[6]", "test_looks_back[2]", "test_start",
    "test_can_be_trained", "test_first_loss[windows]", "test_last_start", "test_one_step_a_row", "test_moves",
    "test_gradients_are_fresh",
)
# fmt: on


@pytest.mark.check(skill="training", points=20, function="fit", needs=CHEAP, run=True, stage="in a run of 800 steps")
def test_run(submission, rand):
    """Trains your model in 800 steps to the floor of its language: 2 bits a word on fresh text."""
    model, losses = trained(submission, rand)
    loss, of_all = fresh_losses(model, rand)
    if not BAND[0] <= loss <= BAND[1]:
        fail(explain(loss, losses, submission, rand))
    if of_all > BAND[1]:
        fail(
            f"The words that came cost {loss:.3f} nats, and those that could have come {of_all:.3f} by their chances: "
            "it is sure of what nobody can know, so it sees its answers."
        )
    if len(losses) != STEPS:
        fail(f"It reported {len(losses)} losses in {STEPS} steps: the language is to be learned by steps of descent.")
    own = model.model
    twin = submission.TwoBits(V, T, state=own.state()["state"]).eval()
    assert_learned(own, twin, model.before, model.numbers[text(rand, 4 * T).view(4, T)])
    assert_descended(model.events, STEPS)


@pytest.mark.check(skill="masking", points=4, function="fit", needs="test_run", run=True, stage="in a leak, trained")
def test_run_no_leak(submission, rand):
    """Lets no output of the trained model depend on a later word."""
    model, _ = trained(submission, rand)
    ids = text(rand, 4 * T).view(4, T)
    for place in (1, 11, T - 1):
        if not torch.equal(logits_of(model, ids)[:, :place], logits_of(model, changed(ids, place, V))[:, :place]):
            fail(f"After training, outputs before place {place} depend on the word there: they see what comes.")


@pytest.mark.check(skill="training", points=8, function="fit", needs="test_run", run=True, stage="in what it writes")
def test_run_sentences(submission, rand):
    """Writes sentences of which at least 95% are grammatical."""
    model, _ = trained(submission, rand)
    written = write(model, rand)
    share = sum(map(is_sentence, written)) / max(1, len(written))
    if share < MIN_SENTENCES:
        wrong = next((each for each in written if not is_sentence(each)), [])
        shown = " ".join(WORDS[word] for word in wrong) or "nothing"
        fail(f"Of {len(written)} sentences {share:.0%} are grammatical; 95% are asked for. This one is not: {shown}")


# --- `learn build`: what there is to see of a run ---------------------------------------------------------------------

SHADES = " ░▒▓█"
SHOWN = "the old dog sees these red foxes ."


def build(submission, rand):
    """Train the model, and yield what there is to see: its loss, what it writes, where its heads look."""
    model, losses = trained(submission, rand)
    yield plot(losses)
    yield f"On fresh text: {fresh_loss(model, rand):.3f} nats a word. The floor is {FLOOR:.3f}, 2 bits."
    draws = rand.integers(0, 1 << 30, T - 1, 8) / (1 << 30)
    numbered = model.method("write")(torch.full((8, 1), STOP), draws, T)
    written = cut_sentences(torch.argsort(model.numbers)[numbered][:, 1:])
    right = sum(map(is_sentence, written))
    sentences = [" ".join(WORDS[word] for word in each) for each in written[:5]]
    yield "\n".join([f"It writes, and {right} of {len(written)} sentences are right:", "", *sentences])
    words = SHOWN.split()
    maps = model.method("maps")(torch.tensor([[WORDS.index(word) for word in words]]))
    for layer, heads in enumerate(maps[:, 0], 1):
        for head, weights in enumerate(heads, 1):
            rows = ["".join(2 * SHADES[round(4 * weight)] for weight in row) for row in weights.tolist()]
            looks = [f"{word:>6} {row}".rstrip() for word, row in zip(words, rows, strict=True)]
            yield "\n".join([f"Layer {layer}, head {head}: where each word looks", *looks])


def plot(losses, every=40, columns=40):
    """The losses as bars, with the floor as a line."""
    rows, place = [], round(columns * FLOOR / 4)
    for step in range(every, len(losses) + 1, every):
        loss = sum(losses[step - every : step]) / every
        bar = ("█" * round(columns * min(loss, 4) / 4)).ljust(place + 1)
        rows.append(f"step {step:3}  {loss:.2f}  {bar[:place]}│{bar[place + 1 :]}".rstrip())
    return "\n".join([*rows, f"{'':{16 + place}}│ the floor"])
