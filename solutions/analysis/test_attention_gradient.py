"""The hidden checks of `attention_gradient`: one gradient at a time, and one query before many."""

import pytest
import torch

from grader.api.checks import assert_matches, assert_portable, assert_shape, assert_unchanged

NAMES = ("a", "dq", "dk1", "dk2", "dv1", "dv2")
PARTS = ("dv", "dq", "dk")


# --- two tokens, in numbers -------------------------------------------------------------------------------------------


def compare_numbers(submission, reference, given, names=NAMES):
    """These of the six numbers are the reference's."""
    found, expected = submission.two_tokens(*given), reference.two_tokens(*given)
    if not isinstance(found, dict) or found.keys() != expected.keys():
        assert_matches(found, expected, hint=f"Return a dict with the keys {', '.join(NAMES)}.")
    for name in names:
        assert_matches(found[name], expected[name], hint=f"This is {name}.")


@pytest.mark.check(skill="shape", points=1, public=True, function="two_tokens", stage="in what it returns")
def test_six_numbers(submission, reference, rand):
    """Gives a dict of the six numbers, by name."""
    compare_numbers(submission, reference, rand(6).tolist(), names=())


@pytest.mark.check(skill="values", points=1, needs="test_six_numbers", public=True, function="two_tokens",
                   stage="on the example")  # fmt: skip
def test_example(submission, reference):
    """Gives what the example of the exercise shows."""
    compare_numbers(submission, reference, (1.0, 2.0, 0.0, 3.0, -1.0, 1.0))


@pytest.mark.check(skill="values", points=1, needs="test_six_numbers", function="two_tokens", stage="in {name}")
@pytest.mark.parametrize("name", NAMES)
def test_number(submission, reference, rand, name):
    """Equals the reference for numbers of any size and sign."""
    for _ in range(3):
        compare_numbers(submission, reference, (1.5 * rand(6)).tolist(), [name])


@pytest.mark.check(skill="generality", points=1, needs="test_six_numbers", function="two_tokens", stage="with {what}")
@pytest.mark.parametrize("what", ["equal keys", "equal values", "a weight near 1"])
def test_special(submission, reference, rand, what):
    """Is right where keys or values agree, and where token 1 has nearly all the weight."""
    q, k1, k2, v1, v2, g = rand(6).tolist()
    special = {
        "equal keys": (q, k1, k1, v1, v2, g),
        "equal values": (q, k1, k2, v1, v1, g),
        "a weight near 1": (3.0, 3.0 + abs(k1), -abs(k2), v1, v2, 5.0 * g),
    }
    compare_numbers(submission, reference, special[what])


# --- matrices ---------------------------------------------------------------------------------------------------------


def matrices(rand, queries, keys, d_k, d_v, scale=1.0, dtype=torch.float32):
    """q, k, v and d_out."""
    sizes = (queries, d_k), (keys, d_k), (keys, d_v), (queries, d_v)
    q, k, v, d_out = (rand(*size, dtype=dtype) for size in sizes)
    return scale * q, scale * k, v, d_out


def gradients(submission, reference, given):
    """dq, dk and dv with the reference's, by name."""
    found, expected = submission.attention_backward(*given), reference.attention_backward(*given)
    if not isinstance(found, tuple) or len(found) != 3:
        assert_matches(found, expected, hint="Return a tuple of three tensors: dq, dk, dv.")
    return dict(zip(("dq", "dk", "dv"), zip(found, expected, strict=True), strict=True))


def compare(submission, reference, given, parts=PARTS):
    """These of the three gradients are the reference's."""
    both = gradients(submission, reference, given)
    for name in parts:
        assert_matches(*both[name], hint=f"This is {name}.")


@pytest.mark.check(skill="shape", points=1, public=True, function="attention_backward", stage="in what it returns")
def test_shapes(submission, reference, rand):
    """Gives three tensors with the shapes of q, k and v."""
    for found, expected in gradients(submission, reference, matrices(rand, 5, 5, 4, 4)).values():
        assert_shape(found, expected.shape)


@pytest.mark.check(skill="values", points=1, needs="test_shapes", public=True, function="attention_backward",
                   stage="in {part} with a single query")  # fmt: skip
@pytest.mark.parametrize("part", PARTS)
def test_one_query(submission, reference, rand, part):
    """Equals the reference for one query and several keys."""
    compare(submission, reference, matrices(rand, 1, 4, 3, 3), [part])


@pytest.mark.check(skill="values", points=2, needs="test_shapes", function="attention_backward", public=True,
                   stage="in {part} with as many queries as keys")  # fmt: skip
@pytest.mark.parametrize("part", PARTS)
def test_square(submission, reference, rand, part):
    """Equals the reference where T, S, d_k and d_v agree, so that no wrong axis is an error."""
    compare(submission, reference, matrices(rand, 4, 4, 4, 4), [part])


@pytest.mark.check(skill="generality", points=1, needs="test_shapes", function="attention_backward",
                   stage="in other sizes")  # fmt: skip
@pytest.mark.parametrize("case", range(3))
def test_sizes(submission, reference, rand, case):
    """Takes any T, S, d_k and d_v, in sizes that nobody knows by heart."""
    compare(submission, reference, matrices(rand, *rand.sizes(4)))


@pytest.mark.check(skill="generality", points=1, needs="test_shapes", function="attention_backward",
                   stage="where one size is large")  # fmt: skip
@pytest.mark.parametrize("axis", range(4))
def test_no_largest(submission, reference, rand, axis):
    """Has no largest T, S, d_k or d_v."""
    sizes = [2, 3, 4, 5]
    sizes[axis] = rand.large()
    compare(submission, reference, matrices(rand, *sizes))


@pytest.mark.check(skill="gradients", points=3, needs="test_shapes", function="attention_backward",
                   stage="on a whole head")  # fmt: skip
def test_whole_head(submission, reference, rand):
    """Goes back once for a head of 256 tokens: to move each number a little and look what comes of it takes minutes."""
    compare(submission, reference, matrices(rand, 256, 256, 64, 2))


@pytest.mark.check(skill="generality", points=1, needs="test_shapes", function="attention_backward",
                   stage="with a single key")  # fmt: skip
def test_one_key(submission, reference, rand):
    """Gives q and k no gradient where there is one key: its weight is 1 whatever they are."""
    compare(submission, reference, matrices(rand, 5, 1, 3, 2))


@pytest.mark.check(skill="stability", points=1, needs="test_shapes", function="attention_backward",
                   stage="on scores near 1000")  # fmt: skip
def test_large_scores(submission, reference, rand):
    """Survives scores as large as 1000, where one key has all the weight."""
    compare(submission, reference, matrices(rand, 3, 5, 4, 2, scale=30.0))


@pytest.mark.check(skill="hygiene", points=0.3, function="attention_backward")
def test_unchanged_and_portable(submission, rand):
    """Leaves its arguments alone, and works where they are: names no device."""
    given = matrices(rand, 4, 5, 3, 2)
    assert_unchanged(submission.attention_backward.observe(*given), *given)
    assert_portable(submission.attention_backward, *given)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_shapes", function="attention_backward",
                   stage="with float64")  # fmt: skip
def test_float64(submission, reference, rand):
    """Keeps float64."""
    compare(submission, reference, matrices(rand, 3, 5, 4, 2, dtype=torch.float64))
