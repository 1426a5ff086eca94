"""The hidden checks of `induction`: texts, the model, its training, two scores, a report on heads; and a run."""

from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
import torch
from safetensors.torch import load_file

from grader.api.checks import (
    assert_descended,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    end_run,
    fail,
)

# --- repeat_runs ------------------------------------------------------------------------------------------------------


def compare_runs(submission, reference, rand, rows, tokens, low=1):
    """Both repeat the same rows, each with a period of its own."""
    given = rand.integers(0, 99, rows, tokens), rand.integers(low, tokens + 1, rows)
    assert_matches(submission.repeat_runs(*given), reference.repeat_runs(*given))


@pytest.mark.check(skill="shape", points=0.5, public=True, function="repeat_runs")
def test_runs_shape(submission, rand):
    """Gives a row of ids for each row of tokens."""
    assert_shape(submission.repeat_runs(rand.integers(0, 99, 3, 7), torch.tensor([2, 4, 7])), (3, 7))


@pytest.mark.check(skill="values", points=0.5, needs="test_runs_shape", public=True, function="repeat_runs",
                   stage="for a single row")  # fmt: skip
@pytest.mark.parametrize("period", [1, 3, 4, 8])
def test_one_run(submission, reference, rand, period):
    """Repeats a row with any period: whole copies, a part of one at the end, no copy at all."""
    given = rand.integers(0, 99, 1, 8), torch.tensor([period])
    assert_matches(submission.repeat_runs(*given), reference.repeat_runs(*given))


@pytest.mark.check(skill="values", points=1, needs="test_runs_shape", function="repeat_runs",
                   stage="with another period in each row")  # fmt: skip
def test_own_periods(submission, reference, rand):
    """Gives each row a period of its own: with one for all, the place alone would tell the answer."""
    given = rand.integers(0, 99, 6, 9), torch.tensor([4, 2, 9, 3, 7, 1])
    assert_matches(submission.repeat_runs(*given), reference.repeat_runs(*given))


@pytest.mark.check(skill="generality", points=0.5, needs="test_runs_shape", function="repeat_runs",
                   stage="in other sizes")  # fmt: skip
@pytest.mark.parametrize("case", range(2))
def test_runs_sizes(submission, reference, rand, case):
    """Takes any number of rows and tokens, also as many of both."""
    rows, tokens = rand.sizes(2)
    compare_runs(submission, reference, rand, rows, tokens if case else rows)


@pytest.mark.check(skill="generality", points=0.5, needs="test_runs_shape", function="repeat_runs",
                   stage="in large sizes")  # fmt: skip
def test_runs_no_largest(submission, reference, rand):
    """Has no largest number of rows or tokens."""
    compare_runs(submission, reference, rand, 2, rand.large())
    compare_runs(submission, reference, rand, rand.large(), 3)


@pytest.mark.check(skill="hygiene", points=0.3, needs="test_runs_shape", function="repeat_runs")
def test_runs_manners(submission, rand):
    """Leaves its arguments alone, and works where they are: names no device."""
    given = rand.integers(0, 99, 3, 7), torch.tensor([2, 4, 7])
    assert_unchanged(submission.repeat_runs.observe(*given), *given)
    assert_portable(submission.repeat_runs, *given)


# --- AttentionOnly ----------------------------------------------------------------------------------------------------

SIZES = (11, 9, 12, 3, 1)  # V, max_len, D, H, L: different from each other, and from T = 5
DEEP = (11, 9, 12, 3, 2)
V, LONGEST, D = SIZES[:3]


def numbers(rand, sizes=SIZES, sharp=1.0):
    """A state dict of random numbers under the names of the statement."""
    vocab, longest, width, _, layers = sizes
    shapes = {"tok.weight": (vocab, width), "pos.weight": (longest, width)}
    shapes |= {f"layers.{i}.w{letter}.weight": (width, width) for i in range(layers) for letter in "qkvo"}
    drawn = {name: rand(*shape, scale=shape[1] ** -0.5) for name, shape in shapes.items()}
    for name in shapes:
        if name[:3] in ("tok", "pos"):
            drawn[name] = drawn[name] * width**0.5
        elif ".wq." in name:
            drawn[name] = drawn[name] * sharp
    return drawn | {"out.weight": rand(vocab, width, scale=width**-0.5)}


def built(subject, state, sizes=SIZES):
    """A model in evaluation mode that holds these numbers."""
    return subject.AttentionOnly(*sizes, state=state).eval()


def require_pair(found):
    """Fail unless a model gave logits and weights."""
    if not isinstance(found, tuple) or len(found) != 2:
        assert_matches(found, (torch.zeros(()), torch.zeros(())), hint="Return the tuple (logits, weights).")
    return found


def compare_models(submission, reference, rand, batch, tokens, sizes=SIZES, part=None):
    """Both models give the same logits (0) and weights (1) for random ids."""
    compare_pair(pair(submission, reference, rand, sizes), rand.integers(0, sizes[0], batch, tokens), part)


def pair(submission, reference, rand, sizes):
    """The learner's model and the reference's, holding the same numbers."""
    state = numbers(rand, sizes)
    return [built(subject, state, sizes) for subject in (submission, reference)]


def compare_pair(models, ids, part=None):
    """Both models give the same logits (0) and weights (1) for these ids."""
    mine, theirs = (require_pair(model(ids)) for model in models)
    for place, what in enumerate(("logits", "weights")):
        if part in (None, place):
            assert_matches(mine[place], theirs[place], hint=f"These are the {what}.")


def listed(names):
    """Names in backticks, the first eight of them."""
    return ", ".join(f"`{name}`" for name in sorted(names)[:8]) + (", ..." if len(names) > 8 else "")


@pytest.mark.check(skill="shape", points=0.5, public=True, function="AttentionOnly")
def test_names(submission, rand):
    """Has exactly the names of the statement in its state dict."""
    model = submission.AttentionOnly(*DEEP, state=numbers(rand, DEEP))
    if model.unexpected or model.missing:
        found = f"missing {listed(model.unexpected) or 'none'}; unexpected {listed(model.missing) or 'none'}"
        fail(f"The state dict must have exactly the names of the statement: {found}.")


@pytest.mark.check(skill="training", points=0.5, needs="test_names", function="AttentionOnly")
def test_parameters(submission, rand):
    """Makes every weight a parameter, so that an optimizer finds it."""
    hidden = numbers(rand, DEEP).keys() - set(submission.AttentionOnly(*DEEP).state()["parameters"])
    if hidden:
        fail(f"Not among `parameters()`: {listed(hidden)}. No optimizer would ever move them.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True, function="AttentionOnly")
def test_model_shapes(submission, rand):
    """Gives logits (B, T, V) and weights (L, B, H, T, T)."""
    logits, weights = require_pair(built(submission, numbers(rand, DEEP), DEEP)(rand.integers(0, V, 4, 5)))
    assert_shape(logits, (4, 5, V))
    assert_shape(weights, (2, 4, 3, 5, 5))


@pytest.mark.check(skill="values", points=1, needs="test_model_shapes", public=True, function="AttentionOnly",
                   stage="for texts of one token")  # fmt: skip
def test_one_token(submission, reference, rand):
    """Gives the reference's logits for texts of one token: tables, values, output."""
    compare_models(submission, reference, rand, 4, 1, part=0)


@pytest.mark.check(skill="values", points=1, needs="test_model_shapes", public=True, function="AttentionOnly",
                   stage="in its weights")  # fmt: skip
def test_weights(submission, reference, rand):
    """Gives the reference's weights, where query and key are told apart."""
    compare_models(submission, reference, rand, 2, 5, part=1)


@pytest.mark.check(skill="values", points=1, needs="test_weights", function="AttentionOnly",
                   stage="through two layers")  # fmt: skip
def test_two_layers(submission, reference, rand):
    """Gives the reference's logits and weights where a layer reads what the one before it wrote."""
    compare_models(submission, reference, rand, 2, 5, DEEP)


@pytest.mark.check(skill="masking", points=1, needs="test_model_shapes", public=True, function="AttentionOnly")
def test_future_hidden(submission, rand):
    """Keeps the future out: a changed token changes nothing before its place."""
    model, ids = built(submission, numbers(rand)), rand.integers(0, V, 2, 6)
    changed = ids.clone()
    changed[:, 4] = (ids[:, 4] + 3) % V
    before, after = (require_pair(model(each))[0] for each in (ids, changed))
    assert_shape(after, (2, 6, V))
    assert_matches(after[:, :4], before[:, :4], hint="Token 4 was changed, and logits before it noticed.")


@pytest.mark.check(skill="generality", points=1, needs="test_model_shapes", function="AttentionOnly",
                   stage="in other sizes")  # fmt: skip
def test_model_sizes(submission, reference, rand):
    """Works for any sizes, through three layers, and for the longest text."""
    batch, head, tokens, vocab = rand.sizes(4)
    compare_models(submission, reference, rand, batch, tokens, (vocab, tokens, 2 * head, 2, 3))


@pytest.mark.check(skill="generality", points=1, needs="test_model_shapes", function="AttentionOnly",
                   stage="where one size is large")  # fmt: skip
def test_model_no_largest(submission, reference, rand):
    """Has no longest text, largest batch or vocabulary, and leaves other models as they are."""
    tokens, large = rand.sizes(1, low=50)[0], rand.large()
    sizes = (5, tokens, 4, 2, 1), (5, tokens, 4, 1, 1), (large, tokens, 4, 4, 1)
    pairs = [pair(submission, reference, rand, each) for each in sizes]  # all of them before the first is asked
    shapes = (1, tokens), (large, 2), (2, 2)
    for models, (vocab, *_), shape in zip(pairs, sizes, shapes, strict=True):
        compare_pair(models, rand.integers(0, vocab, *shape))


@pytest.mark.check(skill="gradients", points=1, needs="test_two_layers", function="AttentionOnly",
                   stage="in its gradients")  # fmt: skip
def test_model_gradient(submission, reference, rand):
    """Lets the right gradient through the logits to every parameter."""
    state = numbers(rand, DEEP)
    mine, theirs = (built(subject, state, DEEP) for subject in (submission, reference))
    ids, weights = rand.integers(0, V, 2, 4), rand(2, 4, V, scale=0.2)
    found, expected = (each.gradients(ids, wrt=[], weights=weights, item=0) for each in (mine, theirs))
    if found is None:
        fail("No gradient comes back from the logits: something is detached on the way.")
    for name, grad in expected.items():
        if found.get(name) is None:
            fail(f"No gradient reaches {name}.")
        assert_matches(found[name], grad, hint=f"This is the gradient of {name}.")


@pytest.mark.check(skill="hygiene", points=0.3, needs="test_model_shapes", function="AttentionOnly")
def test_model_manners(submission, rand):
    """Leaves the ids alone, gives the same twice, and works on the device where they are."""
    model, ids = built(submission, numbers(rand)), rand.integers(0, V, 2, 5)
    assert_unchanged(model.observe(ids), ids)
    assert_repeatable(model, ids)
    assert_portable(model, ids)


# --- the loop, on models of the judge ---------------------------------------------------------------------------------

WIDE = 12  # ids of these models, and features: those of 2 layers of 3 heads
HIDES = ["dropout", 1.0]  # everything in train mode and nothing in eval mode, so that no luck is in it


def fitted(subject, state, texts, rate=0.05, middle=(), **more):
    """The losses that are reported for a model with these numbers, and its parameters at the end."""
    names = "layers.0.weight", f"layers.{1 + len(middle)}.weight", f"layers.{1 + len(middle)}.bias"
    layers = [["embedding", WIDE, 4], *middle, ["linear", 4, WIDE]]
    model = subject.make_model(layers, dict(zip(names, state, strict=True)), heads=(2, 3), **more)
    subject.events()
    subject.fit(model, texts, rate, subject.make_report(len(texts)))
    losses = [event[1] for event in subject.events() if event[0] == "report"]
    if len(losses) != len(texts):
        fail(f"It reported {len(losses)} losses; expected {len(texts)}: one for each batch.")
    return losses, model.state()["state"]


def compare_fits(submission, reference, rand, *shape, part=None, **how):
    """Both report the same losses (0), and leave the same parameters (1)."""
    state, texts = (rand(WIDE, 4), rand(WIDE, 4), rand(WIDE)), rand.integers(0, WIDE, *shape)
    mine, theirs = (fitted(subject, state, texts, **how) for subject in (submission, reference))
    for place, what in enumerate(("losses, batch by batch", "parameters after the last step")):
        if part in (None, place):
            assert_matches(mine[place], theirs[place], hint=f"These are the {what}.")


@pytest.mark.check(skill="shape", points=0.5, public=True, function="fit", stage="in what it reports")
def test_fit_reports(submission, rand):
    """Reports one loss for each batch."""
    fitted(submission, (rand(WIDE, 4), rand(WIDE, 4), rand(WIDE)), rand.integers(0, WIDE, 4, 3, 5))


@pytest.mark.check(skill="values", points=0.5, needs="test_fit_reports", public=True, function="fit",
                   stage="in its loss")  # fmt: skip
@pytest.mark.parametrize("shape", [(3, 5), (1, 4), (4, 2)], ids=["texts", "one text", "two tokens"])
def test_fit_loss(submission, reference, rand, shape):
    """Reports the mean cross-entropy of the next token, as it is before the step."""
    compare_fits(submission, reference, rand, 1, *shape, part=0)


FIT_IS_RIGHT = ("test_fit_loss[texts]", "test_fit_step")


@pytest.mark.check(skill="gradients", points=1, needs="test_fit_reports", function="fit", stage="in its step")
def test_fit_step(submission, reference, rand):
    """Moves every parameter one step of AdamW, at the rate that is given."""
    compare_fits(submission, reference, rand, 1, 3, 5, part=1)


@pytest.mark.check(skill="training", points=1, needs=FIT_IS_RIGHT, function="fit", stage="over several batches")
@pytest.mark.parametrize("rate", [0.05, 0.01])
def test_fit_steps(submission, reference, rand, rate):
    """Takes each batch once, in order, by its own gradient alone, in any sizes."""
    compare_fits(submission, reference, rand, 4, *rand.sizes(2), rate=rate)


@pytest.mark.check(
    skill="training", points=0.5, needs=FIT_IS_RIGHT, function="fit", stage="on many texts, or long ones"
)
def test_fit_no_largest(submission, reference, rand):
    """Has no largest batch and no longest text."""
    for rows, tokens in ((rand.large(), 3), (2, rand.sizes(1, low=50)[0])):
        compare_fits(submission, reference, rand, 2, rows, tokens)


@pytest.mark.check(skill="training", points=0.5, needs=FIT_IS_RIGHT, function="fit", stage="in train mode")
def test_fit_train_mode(submission, reference, rand):
    """Trains in train mode a model that arrives in eval mode."""
    compare_fits(submission, reference, rand, 2, 3, 5, middle=[HIDES], training=False)


@pytest.mark.check(skill="hygiene", points=0.3, needs="test_fit_reports", function="fit")
def test_fit_manners(submission, rand):
    """Leaves the texts alone."""
    texts = rand.integers(0, WIDE, 4, 3, 5)
    model = submission.make_model([["embedding", WIDE, WIDE]], {"layers.0.weight": rand(WIDE, WIDE)}, heads=(2, 3))
    after = submission.fit.observe(model, texts, 0.05, submission.make_report(4)).args[1]
    assert_matches(after, texts, hint="These are the texts after the call.")


# --- the two scores ---------------------------------------------------------------------------------------------------


def maps(rand, *shape, dtype=torch.float32):
    """Rows of weights, some of them quite sure; not causal, so that rows and columns differ everywhere."""
    return (1.5 * rand(*shape, dtype=dtype)).softmax(-1)


def compare_previous(submission, reference, weights):
    assert_matches(submission.previous_token_score(weights), reference.previous_token_score(weights))


@pytest.mark.check(skill="shape", points=0.5, public=True, function="previous_token_score")
def test_previous_shape(submission, rand):
    """Gives one number for each head of each text."""
    assert_shape(submission.previous_token_score(maps(rand, 2, 3, 5, 5)), (2, 3))


@pytest.mark.check(skill="values", points=1, needs="test_previous_shape", public=True, function="previous_token_score",
                   stage="on one map")  # fmt: skip
@pytest.mark.parametrize("tokens", [2, 3, 6])
def test_previous(submission, reference, rand, tokens):
    """Equals the reference on a single map, also for two tokens."""
    compare_previous(submission, reference, maps(rand, tokens, tokens))


@pytest.mark.check(skill="values", points=1, needs="test_previous_shape", function="previous_token_score",
                   stage="on causal maps")  # fmt: skip
def test_previous_causal(submission, reference, rand):
    """Equals the reference on causal maps."""
    scores = rand(2, 4, 6, 6).masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), float("-inf"))
    compare_previous(submission, reference, scores.softmax(-1))


@pytest.mark.check(skill="generality", points=0.5, needs="test_previous_shape", function="previous_token_score",
                   stage="with {axes} axes in front")  # fmt: skip
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_previous_axes(submission, reference, rand, axes):
    """Takes any number of axes in front, in sizes that nobody knows by heart; of three, the first has the size 1."""
    *front, tokens = rand.sizes(axes + 1)
    front[:1] = [1] if axes == 3 else front[:1]
    compare_previous(submission, reference, maps(rand, *front, tokens, tokens))


@pytest.mark.check(skill="generality", points=0.5, needs="test_previous_shape", function="previous_token_score",
                   stage="on large maps, or many")  # fmt: skip
def test_previous_no_largest(submission, reference, rand):
    """Has no largest map and no largest number of them."""
    for shape in ((rand.large(), 4), rand.sizes(1, low=50), [2] * int(rand.integers(5, 7, 1)) + [4]):
        compare_previous(submission, reference, maps(rand, *shape, shape[-1]))


@pytest.mark.check(skill="hygiene", points=0.3, needs="test_previous_shape", function="previous_token_score",
                   stage="with float64")  # fmt: skip
def test_previous_manners(submission, reference, rand):
    """Leaves the weights alone, keeps float64, and names no device."""
    weights = maps(rand, 3, 5, 5)
    assert_unchanged(submission.previous_token_score.observe(weights), weights)
    assert_portable(submission.previous_token_score, weights)
    compare_previous(submission, reference, maps(rand, 3, 5, 5, dtype=torch.float64))


def compare_induction(submission, reference, weights, period):
    assert_matches(submission.induction_score(weights, period), reference.induction_score(weights, period))


@pytest.mark.check(skill="shape", points=0.5, public=True, function="induction_score")
def test_induction_shape(submission, rand):
    """Gives one number for each head of each text."""
    assert_shape(submission.induction_score(maps(rand, 2, 3, 6, 6), 3), (2, 3))


@pytest.mark.check(skill="values", points=1, needs="test_induction_shape", public=True, function="induction_score",
                   stage="where T = {tokens} and the period is {period}")  # fmt: skip
@pytest.mark.parametrize(("tokens", "period"), [(8, 4), (7, 5), (6, 5), (9, 3)])
def test_induction(submission, reference, rand, tokens, period):
    """Equals the reference for two whole copies, for part of a second one, and for three."""
    compare_induction(submission, reference, maps(rand, tokens, tokens), period)


@pytest.mark.check(skill="values", points=1, needs="test_induction_shape", function="induction_score",
                   stage="on causal maps")  # fmt: skip
def test_induction_causal(submission, reference, rand):
    """Equals the reference on causal maps, where most of a first copy's weight is elsewhere."""
    scores = rand(2, 4, 8, 8).masked_fill(torch.ones(8, 8, dtype=torch.bool).triu(1), float("-inf"))
    compare_induction(submission, reference, scores.softmax(-1), 5)


@pytest.mark.check(skill="generality", points=0.5, needs="test_induction_shape", function="induction_score",
                   stage="with {axes} axes in front")  # fmt: skip
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_induction_axes(submission, reference, rand, axes):
    """Takes any number of axes in front, of three the first is 1, and any period, in sizes nobody knows by heart."""
    *front, tokens = rand.sizes(axes + 1)
    front[:1] = [1] if axes == 3 else front[:1]
    tokens += 3
    period = rand.integers(2, tokens, 1).item()
    compare_induction(submission, reference, maps(rand, *front, tokens, tokens), period)


@pytest.mark.check(skill="generality", points=0.5, needs="test_induction_shape", function="induction_score",
                   stage="on large maps, or many")  # fmt: skip
def test_induction_no_largest(submission, reference, rand):
    """Has no largest map and no largest number of them."""
    for shape in ((rand.large(), 4), rand.sizes(1, low=50), [2] * int(rand.integers(5, 7, 1)) + [4]):
        compare_induction(submission, reference, maps(rand, *shape, shape[-1]), shape[-1] - 2)


@pytest.mark.check(skill="hygiene", points=0.3, needs="test_induction_shape", function="induction_score",
                   stage="with float64")  # fmt: skip
def test_induction_manners(submission, reference, rand):
    """Leaves the weights alone, keeps float64, and names no device."""
    weights = maps(rand, 3, 6, 6)
    assert_unchanged(submission.induction_score.observe(weights, 3), weights, 3)
    assert_portable(submission.induction_score, weights, 3)
    compare_induction(submission, reference, maps(rand, 3, 7, 7, dtype=torch.float64), 4)


# --- the report -------------------------------------------------------------------------------------------------------

BELOW = ("test_previous_causal", "test_induction_causal")
NAMES = ("previous", "induction", "previous_head", "induction_head")


def repeated(rand, vocab, tokens, periods):
    """Texts that repeat with these periods, each of which is the smallest one: no token stands twice in a run."""
    rows = [rand(vocab).argsort()[:period].repeat(tokens)[:tokens] for period in periods]
    return torch.stack(rows)


def watched(subject, numbers, layers, heads):
    """A model of ours in the learner's process that gives weights of so many heads."""
    return subject.make_model([["embedding", *numbers.shape]], {"layers.0.weight": numbers}, heads=(layers, heads),
                              training=False)  # fmt: skip


def report_on(subject, ids, numbers, layers=2, heads=3):
    """What is said of a model of ours."""
    return subject.head_report(watched(subject, numbers, layers, heads), ids)


def compare_reports(found, expected, names=NAMES):
    """Both say the same, by name."""
    if not isinstance(found, dict) or found.keys() != expected.keys():
        assert_matches(found, expected, hint=f"Return a dict with the keys {', '.join(NAMES)}.")
    for name in names:
        assert_matches(found[name], expected[name], hint=f'This is "{name}".')


@pytest.mark.check(skill="shape", points=0.5, needs=BELOW, public=True, function="head_report")
def test_report_shape(submission, reference, rand):
    """Gives a dict of two tables (L, H) and two pairs."""
    given = repeated(rand, V, 8, (4, 5)), rand(V, 24)
    found = report_on(submission, *given)
    compare_reports(found, report_on(reference, *given), ())
    for name in NAMES[:2]:
        assert_shape(found[name], (2, 3))


@pytest.mark.check(skill="values", points=0.5, needs="test_report_shape", public=True, function="head_report",
                   stage="in {name} for a single text")  # fmt: skip
@pytest.mark.parametrize("name", NAMES)
def test_one_text(submission, reference, rand, name):
    """Reports on one text what the reference does."""
    given = repeated(rand, V, 9, (6,)), rand(V, 24)
    compare_reports(report_on(submission, *given), report_on(reference, *given), [name])


@pytest.mark.check(skill="values", points=1, needs="test_report_shape", function="head_report",
                   stage="where texts have other periods")  # fmt: skip
def test_own_period(submission, reference, rand):
    """Finds each text's own period, also where a run holds its own beginning once more."""
    ids = repeated(rand, V, 9, (3, 7, 4, 5, 6, 2))
    ids[2] = torch.cat([ids[2, :2], ids[2, :1], ids[2, 2:3]]).repeat(3)[:9]  # a b a c a b a c a
    ids[3] = torch.cat([ids[3, :2], ids[3, :1], ids[3, 3:5]]).repeat(2)[:9]  # a b a c e, twice
    few = rand.integers(0, 3, 12, 7)
    few[:, :2] = torch.tensor([0, 1])  # 0 1 and three tokens that often stand in a run once more
    for texts in (ids, few.repeat(1, 2)):
        given = texts, rand(V, 24)
        compare_reports(report_on(submission, *given), report_on(reference, *given))


@pytest.mark.check(skill="generality", points=1, needs="test_report_shape", function="head_report",
                   stage="in other sizes")  # fmt: skip
@pytest.mark.parametrize("layers", [1, 3])
def test_report_sizes(submission, reference, rand, layers):
    """Takes any number of layers, heads, texts and tokens."""
    batch, heads, tokens = rand.sizes(3)
    periods = rand.integers(2, tokens + 4, batch).tolist()
    given = repeated(rand, tokens + 6, tokens + 5, periods), rand(tokens + 6, 4 * layers * heads), layers, heads
    compare_reports(report_on(submission, *given), report_on(reference, *given))


@pytest.mark.check(skill="generality", points=0.5, needs="test_report_shape", function="head_report",
                   stage="for many texts, or long ones")  # fmt: skip
def test_report_no_largest(submission, reference, rand):
    """Has no largest number of texts and no longest text."""
    for batch, tokens in ((rand.large(), 8), (3, rand.sizes(1, low=50)[0])):
        given = repeated(rand, V, tokens, rand.integers(3, 6, batch).tolist()), rand(V, 24)
        compare_reports(report_on(submission, *given), report_on(reference, *given))


@pytest.mark.check(skill="hygiene", points=0.3, needs="test_report_shape", function="head_report")
def test_report_manners(submission, rand):
    """Leaves the ids alone."""
    ids = repeated(rand, V, 8, (4, 5))
    after = submission.head_report.observe(watched(submission, rand(V, 24), 2, 3), ids).args[1]
    assert_matches(after, ids, hint="These are the ids after the call.")


# --- the reading ------------------------------------------------------------------------------------------------------

FROZEN = Path(__file__).parents[2] / "lessons/analysis/induction.safetensors"  # benchmarks/induction.py wrote it
TRAINED = (40, 20, 64, 4, 2)  # its sizes: V, max_len, D, H, L


def moved(state, rand, heads=TRAINED[3]):
    """The trained model with the heads of each layer in another order: the same function of ids."""
    state, orders = dict(state), [rand(heads).argsort() for _ in range(TRAINED[4])]
    for number, order in enumerate(orders):
        for letter in "qkvo":
            name = f"layers.{number}.w{letter}.weight"
            axis = int(letter == "o")  # a head is rows of wq, wk, wv, and columns of wo
            state[name] = state[name].unflatten(axis, (heads, -1)).index_select(axis, order).flatten(axis, axis + 1)
    return state


def in_words(name, found):
    """What was read, for the learner."""
    layer, head = found[f"{name}_head"]
    return f"layer {layer}, head {head} ({found[name][layer, head]:.2f})"


@pytest.mark.check(skill="values", points=2, needs=("test_two_layers", "test_own_period"), function="head_report",
                   stage="on the trained model")  # fmt: skip
def test_reading(submission, reference, rand):
    """Reads off a trained model what the judge reads; its heads stand in another order each time."""
    ids = repeated(rand, TRAINED[0], TRAINED[1], rand.integers(10, 16, 24).tolist())
    state = moved(load_file(FROZEN), rand)
    found, expected = (each.head_report(built(each, state, TRAINED), ids) for each in (submission, reference))
    compare_reports(found, expected)
    heads = f"the previous-token head is {in_words('previous', expected)}"
    submission.tell(f"In the trained model {heads}, the best induction head {in_words('induction', expected)}.")


# --- the run, and what became of the heads ----------------------------------------------------------------------------

ROWS, STEPS, FIRST, RATE, FRESH = 64, 400, 10, 5e-3, 500
RIGHT, LOOKS_AHEAD, NOT_BELOW, LOOKS_BACK = 0.7, 0.5, 0.3, 0.4  # benchmarks/bands.py
START = 0.56  # of the numbers above: as torch starts a linear layer
_runs = WeakKeyDictionary()


def draw_texts(rand, rows):
    """Texts that repeat with periods from 10 to 15, and those periods."""
    periods = rand.integers(10, 16, rows)
    tokens = rand.integers(0, TRAINED[0], rows, TRAINED[1])
    return tokens.gather(1, torch.arange(TRAINED[1]) % periods[:, None]), periods


def trained(submission, reference, rand):
    """The losses of a run, how often its model is right where it can be, the report on its heads, the first losses, and
    all that was logged.

    The numbers that were trained are measured in the reference's model, with the reference's instruments; the first
    losses are the reference's.
    """
    if submission not in _runs:
        start = numbers(rand, TRAINED)
        start |= {name: START * held for name, held in start.items() if name[:3] not in ("tok", "pos")}
        texts = draw_texts(rand, STEPS * ROWS)[0].view(STEPS, ROWS, -1)
        losses, model, events = reported(submission, start, texts)
        first, *_ = reported(reference, start, texts[:FIRST])
        ours, (ids, periods) = built(reference, model.state()["state"], TRAINED), draw_texts(rand, FRESH)
        known = torch.arange(TRAINED[1] - 1) >= periods[:, None]
        right = (ours(ids)[0][:, :-1].argmax(-1) == ids[:, 1:])[known].float().mean().item()
        _runs[submission] = losses, right, reference.head_report(ours, ids), first, events
    return _runs[submission]


def reported(subject, start, texts):
    """The losses that a run on these texts reports, its model, and all that was logged."""
    model = subject.AttentionOnly(*TRAINED, state=start)
    report = subject.make_report(len(texts), model)
    subject.events()
    subject.fit(model, texts, RATE, report)
    losses, events = end_run(subject, report)
    return losses, model, events


CHEAP = ("test_parameters", "test_two_layers", "test_model_gradient", "test_fit_steps[0.05]", "test_fit_steps[0.01]",
         "test_fit_train_mode")  # fmt: skip


@pytest.mark.check(skill="training", points=4, needs=CHEAP, run=True, function="fit", stage="in a run of 400 steps")
def test_run(submission, reference, rand):
    """Trains your model in 400 steps until 70% of the tokens that can be known are right."""
    losses, right, _, first, events = trained(submission, reference, rand)
    if len(losses) != STEPS:
        fail(f"It reported {len(losses)} losses in {STEPS} steps: the heads are to be found by steps of descent.")
    hint = f"These are the losses of its first {FIRST} steps, from the start and on the texts that it was given."
    assert_matches([float(loss) for loss in losses[:FIRST]], first, atol=0.01, hint=hint)
    if not right >= RIGHT:
        own = f" Your own losses went from {losses[0]:.2f} to {losses[-1]:.2f}." if losses else ""
        fail(
            f"Where the answer has been seen it is right in {right:.0%} of {FRESH} fresh texts; {RIGHT:.0%} are asked "
            f"for.{own} About a quarter is what looking at all six distances gives: no head looks for a token."
        )
    assert_descended(events, STEPS)
    submission.tell(f"Your model, after {STEPS} steps: {right:.0%} are right where the answer has been seen.")


@pytest.mark.check(skill="values", points=4, needs="test_run", run=True, function="fit", stage="in its heads, trained")
def test_run_heads(submission, reference, rand):
    """Has then a head in layer 0 that looks one back, and one in layer 1, not below, that looks for what came next."""
    report = trained(submission, reference, rand)[2]
    back, (below, above) = report["previous"][0].max().item(), report["induction"].amax(-1).tolist()
    said = (f"the best previous-token score of layer 0 is {back:.2f}, the best induction score {below:.2f} in layer 0 "
            f"and {above:.2f} in layer 1")  # fmt: skip
    if not (back >= LOOKS_BACK and above >= LOOKS_AHEAD and below <= NOT_BELOW):
        fail(f"In your model {said}; asked for are {LOOKS_BACK}, at most {NOT_BELOW}, and {LOOKS_AHEAD}.")
    submission.tell(f"Nobody told it to: {said}.")
