"""The hidden checks of `tiny_gpt`: the class with numbers of ours, then the weights that were trained with it.

Weights are judged on text that they were not trained on, beside tables of characters that count the same text.
"""

import math
from functools import cache
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F  # noqa: N812  the field's name

from grader.api.checks import (
    ATOL,
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_repeatable,
    assert_shape,
    assert_unchanged,
    fail,
    read_tensors,
    shown_name,
)

# --- the text, and the tables of characters ---------------------------------------------------------------------------

TEXT = Path(__file__).parents[2] / "lessons/models/tiny_gpt.txt"  # scripts/freeze_text.py wrote it
LONGEST_TABLE = 5
NAMES = ("single characters", "bigrams", "trigrams", "4-grams", "5-grams")
LEVELS = {"trigrams": "passed", "4-grams": "good", "5-grams": "excellent"}


@cache
def corpus():
    """The alphabet, the ids of the first nine tenths of the text, and those of the last."""
    text = TEXT.read_text(encoding="utf-8")
    alphabet = sorted(set(text))
    ids = torch.tensor([alphabet.index(char) for char in text])
    cut = round(0.9 * len(ids))
    return alphabet, ids[:cut], ids[cut:]


@cache
def tables():
    """The mean loss on the last tenth of tables of 1 to 5 characters, counted on the rest, by their names.

    Witten and Bell's smoothing: behind a context of n characters with k different followers, a character that came c
    times has the probability (c + k·p) / (n + k), where p is that of the context without its first character.
    """
    alphabet, train, held_out = corpus()
    chances = torch.full((len(held_out),), 1 / len(alphabet), dtype=torch.float64)
    text, losses = torch.cat([train[1 - LONGEST_TABLE :], held_out]), {}
    for size, name in enumerate(NAMES, 1):
        digits = len(alphabet) ** torch.arange(size).flip(0)
        seen, times = (train.unfold(0, size, 1) * digits).sum(-1).unique(return_counts=True)
        contexts, of = (seen // len(alphabet)).unique(return_inverse=True)
        asked = (text[LONGEST_TABLE - size :].unfold(0, size, 1) * digits).sum(-1)
        c, before = look_up(seen, times, asked), asked // len(alphabet)
        n = look_up(contexts, torch.zeros(len(contexts)).index_add(0, of, times.float()), before)
        k = look_up(contexts, of.bincount(), before)
        chances = torch.where(n > 0, (c + k * chances) / (n + k).clamp(min=1), chances)
        losses[name] = -chances.log().mean().item()
    return losses


def look_up(keys, values, asked):
    """The values of the keys that are asked for, 0 for those that are not there."""
    places = torch.searchsorted(keys, asked).clamp(max=len(keys) - 1)
    return values[places].double() * (keys[places] == asked)


# --- the weights ------------------------------------------------------------------------------------------------------

D_MODEL, HEADS, LAYERS, D_FF, T = 64, 4, 2, 256, 64
UNREAD = 0.05  # nats: how much worse a run must know what it has not read; benchmarks/tiny_gpt.md
LARGE = (
    0.25  # the mean size of the numbers of a matrix in a block: at the start 0.06, after a run 0.10, a wild one 0.58
)
SAMPLE = 300  # characters


def shapes(vocab=None):
    """The names of the weights and their shapes."""
    pair, wide = (D_MODEL,), {"weight": (D_FF, D_MODEL), "bias": (D_FF,)}
    block = {f"attn.w{letter}.weight": (D_MODEL, D_MODEL) for letter in "qkvo"}
    block |= {f"ffn.w1.{name}": shape for name, shape in wide.items()}
    block |= {"ffn.w2.weight": (D_MODEL, D_FF), "ffn.w2.bias": pair}
    block |= {f"norm{n}.{name}": pair for n in (1, 2) for name in ("weight", "bias")}
    found = {"tok.weight": (vocab or len(corpus()[0]), D_MODEL), "norm.weight": pair, "norm.bias": pair}
    return found | {f"blocks.{n}.{name}": shape for n in range(LAYERS) for name, shape in block.items()}


def require_shapes(state):
    """Fail unless the tensors are those of the model."""
    expected = shapes()
    for what, names in (("lack", expected.keys() - state.keys()), ("also have", state.keys() - expected.keys())):
        if names:
            more = f" and {len(names) - 4} more" if len(names) > 4 else ""
            fail(f"The weights {what} {', '.join(map(shown_name, sorted(names)[:4]))}{more}: it is another model.")
    for name, shape in expected.items():
        if tuple(state[name].shape) != shape:
            fail(f"{shown_name(name)} has the shape {tuple(state[name].shape)}; expected {shape}: another model.")


def turned(x):
    """The pairs of features, turned by their places."""
    rates = 10000.0 ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))
    angles = torch.arange(x.size(-2))[:, None] * rates
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def scores(state, ids, causal=True, attends=True):
    """The logits of the model of the statement with these weights; without its mask or its attention on demand."""
    x = state["tok.weight"][ids]
    for number in range(LAYERS):
        block = {name[9:]: each for name, each in state.items() if name.startswith(f"blocks.{number}.")}
        y = F.layer_norm(x, (D_MODEL,), block["norm1.weight"], block["norm1.bias"])
        q, k, v = ((y @ block[f"attn.w{each}.weight"].T).unflatten(-1, (HEADS, -1)).transpose(1, 2) for each in "qkv")
        seen = F.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=causal)
        x = x + attends * (seen.transpose(1, 2).flatten(2) @ block["attn.wo.weight"].T)
        y = F.layer_norm(x, (D_MODEL,), block["norm2.weight"], block["norm2.bias"])
        hidden = F.gelu(F.linear(y, block["ffn.w1.weight"], block["ffn.w1.bias"]))
        x = x + F.linear(hidden, block["ffn.w2.weight"], block["ffn.w2.bias"])
    return F.layer_norm(x, (D_MODEL,), state["norm.weight"], state["norm.bias"]) @ state["tok.weight"].T


def loss_on(give, text, ahead=1):
    """The mean loss of the character so many places ahead, in windows of T, where `give` gives logits for ids."""
    count = (len(text) - ahead) // T
    inputs, targets = (text[begin : begin + count * T].view(count, T) for begin in (0, ahead))
    losses = [
        F.cross_entropy(give(ids).double().transpose(1, 2), answers, reduction="sum").item()
        for ids, answers in zip(inputs.split(64), targets.split(64), strict=True)
    ]
    return sum(losses) / (count * T)


def loss_of(state, ahead=1, text=None, **without):
    """What the weights cost on a text, the last tenth without one."""
    return loss_on(lambda ids: scores(state, ids, **without), corpus()[2] if text is None else text, ahead)


def verdict(state):
    """The loss on the last tenth of the text, the best level that it reaches, and what has to be said of it."""
    loss = loss_of(state)
    levels = [level for name, level in LEVELS.items() if loss < tables()[name]]
    cost = f"{loss:.3f} nats a character" if math.isfinite(loss) else "no finite loss"
    said = f"On the last tenth of the text it has {cost}; trigrams have {tables()['trigrams']:.3f} nats. "
    # above 4-grams a short run knows both alike, but none knows what it has not read better
    most = loss - UNREAD if loss < tables()["4-grams"] else loss + UNREAD
    size = len(corpus()[2])
    for where, text in (("before it", corpus()[1][-size:]), ("at the beginning", corpus()[1][:size])):
        if levels and (read := loss_of(state, text=text)) > most:
            return loss, "", f"{said}The text {where} has {read:.3f}: these weights were trained on the last tenth."
    return loss, levels[-1] if levels else "", said if levels else said + why(loss, state)


def why(loss, state):
    """What a loss that is too high has behind it: one sentence."""
    vocab = len(corpus()[0])
    if not math.isfinite(loss):
        size, name = max((each.abs().nan_to_num(math.inf).max().item(), name) for name, each in state.items())
        holds = f"numbers up to {size:.2g}" if math.isfinite(size) else "NaN or infinity"
        return f"`{name}` holds {holds}: the training has diverged. Take a lower rate, warm up, and clip the gradient."
    if all(bool((each == name.endswith("weight")).all()) for name, each in state.items() if "norm" in name):
        return "All its norms hold the ones and zeros that they begin with: it has not been trained."
    if loss_of(state, 0) < 0.5:
        return "It repeats the character that it has just read: the targets were the inputs. Shift them by one."
    if (after := loss_of(state, 2)) < min(loss - 0.1, tables()["single characters"]):
        return f"The character after the next costs only {after:.2f}: the targets were two places ahead."
    if (unmasked := loss_of(state, causal=False)) < min(loss - 0.3, tables()["single characters"]):
        return f"Without a mask it has {unmasked:.2f}: it was trained without one, and looked its answers up."
    if abs(loss - math.log(vocab)) < 0.3:
        return f"That is knowing nothing, ln {vocab} = {math.log(vocab):.2f}: it has not been trained."
    matrices = {name: each for name, each in state.items() if name.startswith("blocks.") and each.ndim == 2}
    size, name = max((each.abs().mean().item(), name) for name, each in matrices.items())
    if size > LARGE:
        return f"The numbers of `{name}` have grown to {size:.3g} on average, from 0.06: the rate is too high."
    if (alone := loss_of(state, attends=False)) < min(loss, tables()["bigrams"]) + 0.1:
        return f"Without its attention it has {alone:.2f}, as bigrams have: was that added to the stream in training?"
    if loss > math.log(vocab) + 0.3:
        return (
            f"That is worse than knowing nothing, ln {vocab} = {math.log(vocab):.2f}. Ids are the places in the sorted "
            "alphabet of the whole text, from 0 on: were they in training?"
        )
    return "It has learned too little: more steps, or another rate; 0.004 after a warm-up has been tried."


def sample(state, rand, length=SAMPLE, temperature=0.7):
    """What the weights write behind an empty line."""
    alphabet, *_ = corpus()
    ids = torch.tensor([[alphabet.index("\n")]])
    while ids.size(1) <= length:
        chances = (scores(state, ids[:, -T:])[:, -1] / temperature).double().softmax(-1).cumsum(-1)
        drawn = rand.integers(0, 1 << 30, 1, 1) / (1 << 30)
        ids = torch.cat([ids, (chances < drawn).sum(-1, keepdim=True).clamp(max=len(alphabet) - 1)], 1)
    return "".join(alphabet[id] for id in ids[0].tolist()).strip()


# --- the class: names and shapes --------------------------------------------------------------------------------------

SIZES = (11, 12, 3, 1, 7)  # V, D, H, L, d_ff: different from each other, and from T = 5
DEEP = (11, 12, 3, 2, 7)
V = SIZES[0]
BEND = 0.05  # how large the inputs of the hidden layers are: there both forms of GELU agree
BOTH_SLOPES = 2e-3  # spans the gradients of both forms, on small inputs


def numbers(reference, rand, sizes=SIZES):
    """A state dict of random numbers, of the reference's names and shapes."""
    drawn = {}
    for name, tensor in reference.TinyGPT(*sizes).state()["state"].items():
        drawn[name] = rand(*tensor.shape, scale=tensor.shape[1] ** -0.5 if tensor.ndim == 2 else 0.5)
        if "norm" in name and name.endswith("weight"):
            drawn[name] += 1.0
        elif ".w1." in name:
            drawn[name] *= BEND
    return drawn


def pair(submission, reference, rand, sizes=SIZES):
    """The learner's model and the reference's in evaluation mode, holding the same numbers."""
    state = numbers(reference, rand, sizes)
    return tuple(subject.TinyGPT(*sizes, state=state).eval() for subject in (submission, reference))


def compare(submission, reference, rand, batch, tokens, sizes=SIZES, atol=ATOL):
    """Both models give the same logits for random ids."""
    mine, theirs = pair(submission, reference, rand, sizes)
    ids = rand.integers(0, sizes[0], batch, tokens)
    assert_matches(mine(ids), theirs(ids), atol)


@pytest.mark.check(skill="shape", points=0.9, public=True)
def test_names(submission, reference, rand):
    """Has exactly the names of the statement in its state dict."""
    model = submission.TinyGPT(*SIZES, state=numbers(reference, rand))
    for what, names in (("lacks", model.unexpected), ("also has", model.missing)):
        if names:
            more = ", ..." if len(names) > 8 else ""
            fail(f"The state dict {what} {', '.join(f'`{name}`' for name in names[:8])}{more}.")


@pytest.mark.check(skill="training", points=0.5, needs="test_names")
def test_parameters(submission, reference):
    """Makes every weight a parameter, so that an optimizer finds it."""
    known = [set(subject.TinyGPT(*SIZES).state()["parameters"]) for subject in (reference, submission)]
    if hidden := known[0] - known[1]:
        fail(f"Not among `parameters()`: {', '.join(sorted(hidden)[:8])}. No optimizer would ever move them.")


@pytest.mark.check(skill="shape", points=1, needs="test_names", public=True, stage="in its shape")
def test_shape(submission, reference, rand):
    """Gives V scores at every place: (B, T) becomes (B, T, V)."""
    model = submission.TinyGPT(*SIZES, state=numbers(reference, rand)).eval()
    assert_shape(model(rand.integers(0, V, 2, 5)), (2, 5, V))


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="values", points=3, needs="test_shape", stage="for texts of one token", public=True)
def test_one_token(submission, reference, rand):
    """Gives the reference's logits for texts of one token: table, blocks, last norm and the table again."""
    compare(submission, reference, rand, 4, 1)


@pytest.mark.check(skill="values", points=4, needs="test_one_token", stage="for texts of several tokens")
def test_several_tokens(submission, reference, rand):
    """Gives the reference's logits for texts of several tokens: rotary positions, causal attention, two layers."""
    compare(submission, reference, rand, 2, 5, DEEP)


@pytest.mark.check(skill="values", points=2, needs="test_one_token", stage="in longer texts")
def test_long(submission, reference, rand):
    """Turns places that are far from each other as far as places that are near."""
    compare(submission, reference, rand, 1, 80, atol=1e-3)


@pytest.mark.check(skill="masking", points=2, needs="test_shape", public=True, stage="in what it may see")
def test_future_hidden(submission, reference, rand):
    """Keeps the future out: a changed token changes no logits before its place."""
    model = submission.TinyGPT(*SIZES, state=numbers(reference, rand)).eval()
    ids = rand.integers(0, V, 2, 6)
    changed = ids.clone()
    changed[:, 4] = (ids[:, 4] + 3) % V
    hint = "Token 4 was changed, and logits before it noticed."
    assert_matches(model(changed)[:, :4], model(ids)[:, :4], hint=hint)


@pytest.mark.check(skill="generality", points=2, needs="test_shape", stage="in other sizes")
def test_other_sizes(submission, reference, rand):
    """Works for any sizes, and through three layers."""
    batch, head, tokens, hidden, vocab = rand.sizes(5)
    compare(submission, reference, rand, batch, tokens, (vocab, 4 * head, 2, 3, hidden))


@pytest.mark.check(skill="generality", points=1, needs="test_shape", stage="where all sizes are equal")
def test_square(submission, reference, rand):
    """Is right where V = D = d_ff = T too, and a wrong axis goes unnoticed; also beside another model."""
    mine, theirs = pair(submission, reference, rand, (8, 8, 2, 1, 8))
    pair(submission, reference, rand, (8, 8, 1, 1, 8))
    ids = rand.integers(0, 8, 8, 8)
    assert_matches(mine(ids), theirs(ids))


@pytest.mark.check(skill="gradients", points=2, needs="test_several_tokens", stage="in its gradients")
def test_gradient(submission, reference, rand):
    """Lets the right gradient through to every parameter."""
    mine, theirs = pair(submission, reference, rand)
    ids, weights = rand.integers(0, V, 2, 4), rand(2, 4, V, scale=0.2)
    ids[0, 1] = 0  # no id is special
    assert_gradients_match(mine, theirs, ids, wrt=[], weights=weights, atol=BOTH_SLOPES)


@pytest.mark.check(skill="hygiene", points=0.4, needs="test_shape")
def test_manners(submission, reference, rand):
    """Leaves the ids alone, gives the same twice, and works on the device where they are."""
    model, ids = submission.TinyGPT(*SIZES, state=numbers(reference, rand)).eval(), rand.integers(0, V, 2, 5)
    assert_unchanged(model.observe(ids), ids)
    assert_repeatable(model, ids)
    assert_portable(model, ids)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shape", stage="in training mode")
def test_training_mode(submission, reference, rand):
    """Drops nothing in training mode."""
    model, ids = submission.TinyGPT(*SIZES, state=numbers(reference, rand)).eval(), rand.integers(0, V, 4, 5)
    still = model(ids)
    assert_matches(model.train()(ids), still, hint="This is in training mode, where dropout is active.")


# --- what was trained -------------------------------------------------------------------------------------------------

RIGHT = ("test_several_tokens", "test_future_hidden", "test_long", "test_other_sizes", "test_gradient")


@pytest.mark.check(skill="shape", points=2, needs="test_names", run=True, stage="in the weights that you trained")
def test_weights(submission):
    """Comes with weights that you trained, tiny_gpt.safetensors, of the sizes of the statement."""
    require_shapes(read_tensors(submission.artefact))


@pytest.mark.check(
    skill="training", points=20, needs=("test_weights", *RIGHT), run=True, stage="on text it has not read"
)
def test_held_out(submission, rand):
    """Knows the last tenth of the text better than a table of trigrams does."""
    state = read_tensors(submission.artefact)
    loss, level, said = verdict(state)
    if not level:
        fail(said)
    beaten = [f"{name} {each:.3f}" for name, each in tables().items() if name in LEVELS]
    submission.tell(f"Your weights: {loss:.3f} nats a character ({level}). Tables of {', '.join(beaten)}.", shown=True)
    submission.tell("They write: " + " / ".join(sample(state, rand).split("\n")), shown=True)


# --- `learn build` ----------------------------------------------------------------------------------------------------

STEPS, ROWS, PART, SHOWN = 2000, 16, 50, 250  # PART: steps in one call, which has to end in time


def build(submission, rand):
    """Train the model, and yield its losses beside those of tables, what it writes, and its weights."""
    alphabet, train, held_out = corpus()
    yield f"{len(train):,} characters to learn from, {len(held_out):,} to be asked about: {TEXT}"
    yield "\n".join(f"  tables of {name:17} {loss:.3f}" for name, loss in tables().items())
    model, report = submission.TinyGPT(len(alphabet), D_MODEL, HEADS, LAYERS, D_FF), submission.make_report(STEPS)
    submission.events()
    for first in range(0, STEPS, PART):
        starts = rand.integers(0, len(train) - T, PART, ROWS)
        model.method("fit")(train, starts, T, first + 1, STEPS, report)
        done = first + PART
        if done % SHOWN == 0 or done == STEPS:
            own = [event[1] for event in submission.events() if event[0] == "report"]
            loss = loss_on(model.eval(), held_out)
            beaten = [name for name, each in tables().items() if loss < each]
            where = f"below {beaten[-1]}" if beaten else "above all tables"
            yield f"step {done:4}   its own loss {sum(own) / len(own):.3f}   on the last tenth {loss:.3f}, {where}"
    ids = torch.tensor([[alphabet.index("\n")]])
    written = model.method("write")(ids, rand.integers(0, 1 << 24, SAMPLE, 1) / (1 << 24), T)
    yield "\nIt writes:\n\n" + "".join(alphabet[id] for id in written[0].tolist()).strip()
    yield model.state()["state"]
