"""The hidden checks of `kv_cache`: whatever the chunks in which a text is read, the outputs are the same.

`generate_cached` gets a model whose prediction depends on every token that it has read, and which logs its input.
"""

import pytest
import torch

from grader.api.checks import (
    assert_gradients_match,
    assert_matches,
    assert_portable,
    assert_shape,
    assert_unchanged,
    fail,
    is_array,
    kind_of,
)

B, H, D_HEAD = 2, 3, 4
V, D = 17, 6  # of the model that writes
ATTENTION = {"function": "cached_attention"}
WRITING = {"function": "generate_cached"}


# --- cached_attention -------------------------------------------------------------------------------------------------


def drawn(rand, length, batch=B, heads=H, width=D_HEAD, dtype=torch.float32):
    """Queries, keys and values of a text."""
    return [rand(batch, heads, length, width, dtype=dtype) for _ in range(3)]


def pair(value):
    """The outputs and the cache, which must be a pair of tensors."""
    if not isinstance(value, tuple) or len(value) != 2:
        fail(f"It returned {kind_of(value)}; expected a tuple of two: the outputs, and the cache.")
    out, cache = value
    if not isinstance(cache, tuple | list) or len(cache) != 2 or not all(map(is_array, cache)):
        fail(f"The cache is {kind_of(cache)}; expected a pair of tensors: keys and values.")
    return out, tuple(cache)


def parts(text, begin, end):
    """The queries, keys and values of these tokens."""
    return [each[:, :, begin:end].contiguous() for each in text]


def read(subject, text, chunks):
    """The outputs of a text that is read in chunks of these lengths, and the cache at the end."""
    outputs, cache, begin = [], None, 0
    for length in chunks:
        out, cache = pair(subject.cached_attention(*parts(text, begin, begin + length), *[cache][: begin > 0]))
        outputs.append(out)
        begin += length
    return outputs, cache


def compare(submission, reference, text, chunks, atol=1e-4):
    """Both give the same outputs and the same cache at the end."""
    outputs, cache = read(submission, text, chunks)
    expected, right = read(reference, text, chunks)
    for place, (mine, theirs) in enumerate(zip(outputs, expected, strict=True), 1):
        assert_matches(mine, theirs, atol=atol, hint=f"These are the outputs of chunk {place} of {chunks}.")
    for mine, theirs, name in zip(cache, right, ("keys", "values"), strict=True):
        assert_matches(mine, theirs, atol=atol, hint=f"These are the {name} in the cache.")


@pytest.mark.check(skill="shape", points=0.5, public=True, **ATTENTION)
def test_two(submission, rand):
    """Gives the outputs of the new tokens, and a cache of keys and values."""
    out, cache = pair(submission.cached_attention(*drawn(rand, 5)))
    for each in (out, *cache):
        assert_shape(each, (B, H, 5, D_HEAD))


@pytest.mark.check(skill="values", points=0.5, needs="test_two", public=True, stage="without a cache", **ATTENTION)
def test_first(submission, reference, rand):
    """Is causal attention where there is no cache."""
    compare(submission, reference, drawn(rand, 6), [6])


@pytest.mark.check(
    skill="values", points=2, needs="test_two", public=True, stage="for one token at a time", **ATTENTION
)
def test_one_by_one(submission, reference, rand):
    """Reads a text token by token, and gives what one call would."""
    compare(submission, reference, drawn(rand, 6), [1] * 6)


@pytest.mark.check(skill="values", points=1, needs="test_two", stage="in chunks of {chunks}", **ATTENTION)
@pytest.mark.parametrize("chunks", [[4, 1, 1], [3, 3], [2, 3, 1]], ids=str)
def test_chunks(submission, reference, rand, chunks):
    """Hides from the tokens of a chunk those behind them, and shows them the whole cache."""
    compare(submission, reference, drawn(rand, 6), chunks)


@pytest.mark.check(skill="generality", points=0.5, needs="test_two", stage="where all sizes are equal", **ATTENTION)
def test_cube(submission, reference, rand):
    """Is right where all sizes are equal, too."""
    compare(submission, reference, drawn(rand, 8, 4, 4, 4), [4, 4])


@pytest.mark.check(skill="generality", points=1, needs="test_two", stage="in other sizes", **ATTENTION)
def test_other_sizes(submission, reference, rand):
    """Takes any numbers of texts, heads and features, and any chunks."""
    first, heads, batch, width = rand.sizes(4)
    compare(submission, reference, drawn(rand, first + 3, batch, heads, width), [first, 1, 2])


@pytest.mark.check(skill="generality", points=0.5, needs="test_two", stage="with a long cache", **ATTENTION)
def test_long(submission, reference, rand):
    """Forgets nothing, however long the text is."""
    new, cache = drawn(rand, 2, 1, 1, 2), tuple(drawn(rand, 2000 + rand.large(), 1, 1, 2)[:2])
    expected = pair(reference.cached_attention(*new, cache))
    found = pair(submission.cached_attention(*new, cache))
    for mine, theirs in zip((found[0], *found[1]), (expected[0], *expected[1]), strict=True):
        assert_matches(mine, theirs)


@pytest.mark.check(
    skill="hygiene", points=0.5, needs="test_two", stage="where one cache is continued twice", **ATTENTION
)
def test_twice(submission, reference, rand):
    """Leaves the cache that it was given as it is: it may be continued a second time."""
    text, first, second = drawn(rand, 4), drawn(rand, 1), drawn(rand, 2)
    cache = pair(reference.cached_attention(*text))[1]
    found = submission.cached_attention.observe(*first, cache)
    assert_unchanged(found, *first, cache)
    out, _ = pair(submission.cached_attention(*second, cache))
    assert_matches(out, pair(reference.cached_attention(*second, cache))[0])


@pytest.mark.check(skill="stability", points=0.5, needs="test_two", stage="with scores near 1000", **ATTENTION)
def test_large(submission, reference, rand):
    """Survives scores near 1000, and hides tokens where all scores are −1000."""
    q, k, v = drawn(rand, 5)
    compare(submission, reference, [30.0 * q, 30.0 * k, v], [2, 3], atol=1e-3)
    ones = torch.full_like(q, 500**0.5)
    compare(submission, reference, [ones, -ones, v], [2, 3])


@pytest.mark.check(skill="gradients", points=0.5, needs="test_two", stage="in its gradient", **ATTENTION)
def test_gradient(submission, reference, rand):
    """Lets the right gradient through, to what is in the cache as well."""
    q, k, v = drawn(rand, 3)
    cache = pair(reference.cached_attention(*drawn(rand, 2)))[1]
    assert_gradients_match(submission.cached_attention, reference.cached_attention, q, k, v, cache,
                           wrt=[0, 1, 2, (3, 0), (3, 1)], weights=rand(B, H, 3, D_HEAD), item=0)  # fmt: skip


@pytest.mark.check(skill="gradients", points=0.5, needs="test_two", stage="in the gradient of what it caches",
                   **ATTENTION)  # fmt: skip
@pytest.mark.parametrize("part", [0, 1])
def test_gradient_of_the_cache(submission, reference, rand, part):
    """Keeps what it caches in the graph: a later token's gradient reaches the keys and values of this call."""
    cache = pair(reference.cached_attention(*drawn(rand, 2)))[1]
    assert_gradients_match(submission.cached_attention, reference.cached_attention, *drawn(rand, 3), cache, wrt=[1, 2],
                           weights=rand(B, H, 5, D_HEAD), item=(1, part))  # fmt: skip


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_two", stage="with float64", **ATTENTION)
def test_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of its arguments, and blocks with a number that fits into the dtype."""
    compare(submission, reference, drawn(rand, 5, dtype=torch.float64), [3, 2])
    compare(submission, reference, [part.half() for part in drawn(rand, 5)], [3, 2], atol=0.02)
    cache = pair(reference.cached_attention(*drawn(rand, 2)))[1]
    assert_portable(submission.cached_attention, *drawn(rand, 3), cache)


# --- generate_cached --------------------------------------------------------------------------------------------------


def weights(rand, tokens=V):
    """What the model and `pick` consist of, for a vocabulary of this size."""
    return [rand(tokens, *shape) for shape in ((D,), (D,), (), (tokens,), ())]


def writer(subject, numbers, training=False):
    """The model and `pick`. In train mode the model's dropout hides everything, so that no luck is in it."""
    table, head, bias, mix, shift = numbers
    tokens = len(table)
    layers = [["embedding", tokens, D], ["fading_sum"], ["dropout", 1.0], ["linear", D, tokens]]
    state = {"layers.0.weight": table, "layers.3.weight": head, "layers.3.bias": bias}
    model = subject.make_model(layers, state, training=training, cached=True)
    mixed = {"layers.0.weight": mix, "layers.0.bias": shift}
    pick = subject.make_model([["linear", tokens, tokens], ["argmax"]], mixed)
    pick.shown = "pick"
    return model, pick


def texts(rand, batch, length, tokens=V):
    """Random texts."""
    return rand.integers(0, tokens, batch, length)


def written(subject, numbers, ids, new, **how):
    """What `generate_cached` makes of these texts."""
    model, pick = writer(subject, numbers, **how)
    return subject.generate_cached(model, ids, new, pick)


def compare_texts(submission, reference, rand, batch, length, new, tokens=V, **how):
    """Both write the same."""
    numbers, ids = weights(rand, tokens), texts(rand, batch, length, tokens)
    expected = written(reference, numbers, ids, new, **how)
    assert_matches(written(submission, numbers, ids, new, **how), expected)


@pytest.mark.check(skill="shape", points=0.5, public=True, **WRITING)
def test_text_shape(submission, rand):
    """Gives back each text with so many tokens more."""
    assert_shape(written(submission, weights(rand), texts(rand, 3, 4), 2), (3, 6))


@pytest.mark.check(skill="values", points=0.5, needs="test_text_shape", public=True, stage="for one token", **WRITING)
def test_one_token(submission, reference, rand):
    """Gives the model the prompt, and appends what `pick` chooses from the last logits."""
    compare_texts(submission, reference, rand, 3, 5, 1)


@pytest.mark.check(
    skill="values", points=7, needs="test_text_shape", public=True, stage="for several tokens", **WRITING
)
def test_several(submission, reference, rand):
    """Gives the model each new token with the cache that it returned last."""
    compare_texts(submission, reference, rand, 4, 3, 8)


@pytest.mark.check(
    skill="generality", points=2, needs="test_text_shape", stage="with {batch} texts of {length}", **WRITING
)
@pytest.mark.parametrize(("batch", "length"), [(1, 5), (5, 1)])
def test_special_sizes(submission, reference, rand, batch, length):
    """Takes a single text, and texts of one token."""
    compare_texts(submission, reference, rand, batch, length, 12)


@pytest.mark.check(skill="generality", points=4, needs="test_text_shape", stage="in other sizes", **WRITING)
def test_other_text_sizes(submission, reference, rand):
    """Takes any numbers of texts, tokens and new tokens."""
    new, batch, length = rand.sizes(3)
    compare_texts(submission, reference, rand, batch, length, new + 8)


@pytest.mark.check(skill="generality", points=2, needs="test_text_shape", stage="for long or many texts", **WRITING)
def test_texts_no_largest(submission, reference, rand):
    """Has no longest prompt, largest batch, vocabulary or number of new tokens."""
    for batch, length, new in ((1, rand.large(200), 2), (rand.large(200), 2, 2), (1, 3, rand.sizes(1, low=12)[0])):
        compare_texts(submission, reference, rand, batch, length, new, rand.large(200))


@pytest.mark.check(
    skill="generality", points=0.5, needs="test_text_shape", stage="where every text gets token {token}", **WRITING
)
@pytest.mark.parametrize("token", [0, 1, 2, V - 1])
def test_no_end(submission, rand, token):
    """Has no token that ends a text: it goes on, whatever was picked."""
    *model, mix, shift = weights(rand)
    mix[:], shift[:] = 0.0, 0.0
    shift[token] = 1.0
    ids = texts(rand, 2, 3)
    expected = torch.cat([ids, torch.full((2, 4), token)], dim=1)
    assert_matches(written(submission, [*model, mix, shift], ids, 4), expected)


@pytest.mark.check(skill="generality", points=0.5, stage="with nothing to write", **WRITING)
def test_nothing(submission, rand):
    """Gives the texts as they are where no token is asked for."""
    ids = texts(rand, 3, 5)
    assert_matches(written(submission, weights(rand), ids, 0), ids)


@pytest.mark.check(skill="training", points=3, needs="test_text_shape", stage="with a model in train mode", **WRITING)
def test_eval_mode(submission, reference, rand):
    """Runs the model in eval mode: dropout would disturb every prediction."""
    compare_texts(submission, reference, rand, 3, 4, 8, training=True)


@pytest.mark.check(skill="training", points=0.5, needs="test_text_shape", stage="in the mode afterwards", **WRITING)
@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
def test_mode_afterwards(submission, reference, rand, training):
    """Leaves the model in the mode in which it came: it predicts afterwards what it predicted before."""
    numbers, ids = weights(rand), texts(rand, 2, 3)

    def afterwards(subject):
        model, pick = writer(subject, numbers, training)
        subject.generate_cached(model, ids, 1, pick)
        return model(ids)[0]

    hint = f"The model came in {'train' if training else 'eval'} mode; these are its logits after the call."
    assert_matches(afterwards(submission), afterwards(reference), hint=hint)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_text_shape", stage="in what the model reads", **WRITING)
def test_reads_once(submission, rand):
    """Lets the model read the prompt once, then each new token but the last, and lets autograd record none of it."""
    for length in (4, rand.large(200)):
        model, pick = writer(submission, weights(rand))
        submission.events()  # forget what was before
        submission.generate_cached(model, texts(rand, 3, length), 4, pick)
        events = [event for event in submission.events() if event[0] == "forward" and event[2][-1] != V]  # not `pick`
        found = [list(event[2]) for event in events]
        if found != [[3, length], [3, 1], [3, 1], [3, 1]]:
            fail(f"The model read tokens of the shapes {found}; expected (3, {length}) and three times (3, 1).")
        if any(event[3] for event in events):
            fail("Autograd recorded the model's runs: the graph of a long text fills the memory.")
        model(texts(rand, 1, 2))
        if not all(event[3] for event in submission.events() if event[0] == "forward"):
            fail("Autograd records nothing afterwards where the model runs: no training could go on.")


@pytest.mark.check(skill="hygiene", points=0.5, **WRITING)
def test_ids_unchanged(submission, rand):
    """Leaves the texts that it is given alone."""
    ids = texts(rand, 3, 4)
    model, pick = writer(submission, weights(rand))
    assert_unchanged(submission.generate_cached.observe(model, ids, 3, pick), None, ids, 3)
