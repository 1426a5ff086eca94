"""The hidden checks of `score_scaling`: instruments on drawn rows, and readings of heads that are drawn."""

import pytest
import torch

from grader.api.checks import assert_matches, assert_portable, assert_shape, assert_unchanged, fail


def rows(rand, *shape, sharpness=1.0, dtype=torch.float32):
    """Rows of weights."""
    return (sharpness * rand(*shape, dtype=dtype)).softmax(-1)


def compare_large(mine, theirs, rand):
    """Both give the same for rows of many keys, and for many rows."""
    for shape in ((2, rand.large()), (rand.large(), 3)):
        weights = rows(rand, *shape, sharpness=1.5)
        assert_matches(mine(weights), theirs(weights))


def with_zeros(rand):
    """A row with all its weight on one key, one with two zeros, and one that is nearly sure."""
    others = 0.03 * rand(3).softmax(-1)
    return torch.stack((torch.tensor([0.0, 1.0, 0.0, 0.0]), torch.tensor([0.3, 0.0, 0.7, 0.0]),
                        torch.cat((torch.tensor([0.97]), others))))  # fmt: skip


def head(rand, queries, keys, d_k, d_v=3, dtype=torch.float32):
    """q, k, v and d_out of one head."""
    sizes = (queries, d_k), (keys, d_k), (keys, d_v), (queries, d_v)
    return tuple(rand(*size, dtype=dtype) for size in sizes)


# --- row_entropy ------------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, public=True, function="row_entropy")
def test_entropy_shape(submission, rand):
    """Gives one number for each row of weights."""
    assert_shape(submission.row_entropy(rows(rand, 2, 3, 5)), (2, 3))


@pytest.mark.check(skill="values", points=2, needs="test_entropy_shape", public=True, function="row_entropy",
                   stage="on a table of weights")  # fmt: skip
@pytest.mark.parametrize("sharpness", [0.5, 1.5, 3.0])
def test_entropy(submission, reference, rand, sharpness):
    """Equals the reference on rows that are flat, and on rows that are sharp."""
    weights = rows(rand, 5, 7, sharpness=sharpness)
    assert_matches(submission.row_entropy(weights), reference.row_entropy(weights))


@pytest.mark.check(skill="stability", points=2, needs="test_entropy_shape", function="row_entropy",
                   stage="where weights are 0")  # fmt: skip
def test_entropy_zeros(submission, reference, rand):
    """Takes weights that are exactly 0, and a row with all its weight on one key."""
    weights = with_zeros(rand)
    assert_matches(submission.row_entropy(weights), reference.row_entropy(weights))


@pytest.mark.check(skill="generality", points=1, needs="test_entropy_shape", function="row_entropy",
                   stage="on weights with {axes} axes")  # fmt: skip
@pytest.mark.parametrize("axes", [1, 2, 4])
def test_entropy_axes(submission, reference, rand, axes):
    """Takes any number of axes in front, in sizes that nobody knows by heart; of four, the first has the size 1."""
    weights = rows(rand, *([1, *rand.sizes(3)] if axes == 4 else rand.sizes(axes)))
    assert_matches(submission.row_entropy(weights), reference.row_entropy(weights))


@pytest.mark.check(skill="generality", points=1, needs="test_entropy_shape", function="row_entropy",
                   stage="with many keys, or queries")  # fmt: skip
def test_entropy_no_largest(submission, reference, rand):
    """Has no largest number of keys or queries."""
    compare_large(submission.row_entropy, reference.row_entropy, rand)


@pytest.mark.check(skill="generality", points=1, needs="test_entropy_shape", function="row_entropy",
                   stage="with as many queries as keys")  # fmt: skip
def test_entropy_square(submission, reference, rand):
    """Measures rows and not columns: here there are as many of both."""
    weights = rows(rand, 4, 4, 4, sharpness=2.0)
    assert_matches(submission.row_entropy(weights), reference.row_entropy(weights))


@pytest.mark.check(skill="hygiene", points=0.3, function="row_entropy")
def test_entropy_unchanged(submission, rand):
    """Leaves its argument alone, and works where it is: names no device."""
    weights = rows(rand, 3, 5)
    assert_unchanged(submission.row_entropy.observe(weights), weights)
    assert_portable(submission.row_entropy, weights)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_entropy_shape", function="row_entropy",
                   stage="with float64")  # fmt: skip
def test_entropy_float64(submission, reference, rand):
    """Keeps float64."""
    weights = rows(rand, 3, 5, dtype=torch.float64)
    assert_matches(submission.row_entropy(weights), reference.row_entropy(weights))


# --- jacobian_norm ----------------------------------------------------------------------------------------------------


@pytest.mark.check(skill="shape", points=1, public=True, function="jacobian_norm")
def test_jacobian_shape(submission, rand):
    """Gives one number for each row of weights."""
    assert_shape(submission.jacobian_norm(rows(rand, 2, 3, 5)), (2, 3))


@pytest.mark.check(skill="values", points=2, needs="test_jacobian_shape", public=True, function="jacobian_norm",
                   stage="on a table of weights")  # fmt: skip
@pytest.mark.parametrize("sharpness", [0.5, 1.5, 3.0])
def test_jacobian(submission, reference, rand, sharpness):
    """Equals the reference on rows that are flat, and on rows that are sharp."""
    weights = rows(rand, 5, 7, sharpness=sharpness)
    assert_matches(submission.jacobian_norm(weights), reference.jacobian_norm(weights))


@pytest.mark.check(skill="stability", points=2, needs="test_jacobian_shape", function="jacobian_norm",
                   stage="where weights are 0")  # fmt: skip
def test_jacobian_zeros(submission, reference, rand):
    """Takes weights that are exactly 0, and rows with all, or nearly all, of their weight on one key."""
    weights, rest = with_zeros(rand), torch.logspace(-6, -2, 200)
    assert_matches(submission.jacobian_norm(weights), reference.jacobian_norm(weights))
    # where squares are taken from each other, the rounded sums lie on both sides of 0: some of these rows become NaN
    sharp = torch.stack([1 - rest, 0.6 * rest, 0.4 * rest], dim=-1)
    assert_matches(submission.jacobian_norm(sharp), reference.jacobian_norm(sharp), atol=1e-3)


@pytest.mark.check(skill="generality", points=1, needs="test_jacobian_shape", function="jacobian_norm",
                   stage="on weights with {axes} axes")  # fmt: skip
@pytest.mark.parametrize("axes", [1, 2, 4])
def test_jacobian_axes(submission, reference, rand, axes):
    """Takes any number of axes in front, in sizes that nobody knows by heart; of four, the first has the size 1."""
    weights = rows(rand, *([1, *rand.sizes(3)] if axes == 4 else rand.sizes(axes)))
    assert_matches(submission.jacobian_norm(weights), reference.jacobian_norm(weights))


@pytest.mark.check(skill="generality", points=1, needs="test_jacobian_shape", function="jacobian_norm",
                   stage="with many keys, or queries")  # fmt: skip
def test_jacobian_no_largest(submission, reference, rand):
    """Has no largest number of keys or queries."""
    compare_large(submission.jacobian_norm, reference.jacobian_norm, rand)


@pytest.mark.check(skill="generality", points=1, needs="test_jacobian_shape", function="jacobian_norm",
                   stage="with as many queries as keys")  # fmt: skip
def test_jacobian_square(submission, reference, rand):
    """Measures rows and not columns: here there are as many of both."""
    weights = rows(rand, 4, 4, 4, sharpness=2.0)
    assert_matches(submission.jacobian_norm(weights), reference.jacobian_norm(weights))


@pytest.mark.check(skill="hygiene", points=0.3, function="jacobian_norm")
def test_jacobian_unchanged(submission, rand):
    """Leaves its argument alone, and works where it is: names no device."""
    weights = rows(rand, 3, 5)
    assert_unchanged(submission.jacobian_norm.observe(weights), weights)
    assert_portable(submission.jacobian_norm, weights)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_jacobian_shape", function="jacobian_norm",
                   stage="with float64")  # fmt: skip
def test_jacobian_float64(submission, reference, rand):
    """Keeps float64."""
    weights = rows(rand, 3, 5, dtype=torch.float64)
    assert_matches(submission.jacobian_norm(weights), reference.jacobian_norm(weights))


# --- gradient_by_row --------------------------------------------------------------------------------------------------


def compare(submission, reference, given, scale):
    """Both measure the same; `given` is q, k, v, d_out."""
    *inputs, d_out = given
    found = submission.gradient_by_row(*inputs, scale, d_out)
    assert_matches(found, reference.gradient_by_row(*inputs, scale, d_out))


@pytest.mark.check(skill="shape", points=1, public=True, function="gradient_by_row")
def test_gradient_shape(submission, rand):
    """Gives one number for each query."""
    q, k, v, d_out = head(rand, 5, 7, 4)
    assert_shape(submission.gradient_by_row(q, k, v, 0.5, d_out), (5,))


@pytest.mark.check(skill="values", points=2, needs="test_gradient_shape", public=True, function="gradient_by_row",
                   stage="with scale {scale}")  # fmt: skip
@pytest.mark.parametrize("scale", [1.0, 0.5, 0.2])
def test_gradient(submission, reference, rand, scale):
    """Equals the reference with any scale, which stands in the gradient, too."""
    compare(submission, reference, head(rand, 5, 7, 4), scale)


@pytest.mark.check(skill="generality", points=1, needs="test_gradient_shape", function="gradient_by_row",
                   stage="in other sizes")  # fmt: skip
@pytest.mark.parametrize("case", range(3))
def test_gradient_sizes(submission, reference, rand, case):
    """Takes any T, S, d_k and d_v, in sizes that nobody knows by heart, and a single query."""
    queries, keys, d_k, d_v = rand.sizes(4)
    compare(submission, reference, head(rand, 1 if case == 2 else queries, keys, d_k, d_v), 0.7)


@pytest.mark.check(skill="generality", points=1, needs="test_gradient_shape", function="gradient_by_row",
                   stage="where one size is large")  # fmt: skip
@pytest.mark.parametrize("axis", range(4))
def test_gradient_no_largest(submission, reference, rand, axis):
    """Has no largest T, S, d_k or d_v."""
    sizes = [2, 3, 4, 5]
    sizes[axis] = rand.large()
    compare(submission, reference, head(rand, *sizes), 0.05)


@pytest.mark.check(skill="generality", points=1, needs="test_gradient_shape", function="gradient_by_row",
                   stage="with as many queries as keys")  # fmt: skip
def test_gradient_square(submission, reference, rand):
    """Measures queries and not keys: here all sizes are the same."""
    compare(submission, reference, head(rand, 4, 4, 4, 4), 0.7)


@pytest.mark.check(skill="stability", points=1, needs="test_gradient_shape", function="gradient_by_row",
                   stage="on scores near 1000")  # fmt: skip
def test_gradient_large(submission, reference, rand):
    """Survives scores as large as 1000, where rows go silent."""
    q, k, v, d_out = head(rand, 5, 4, 6)
    compare(submission, reference, (200.0 * q, k, v, d_out), 1.0)


@pytest.mark.check(skill="hygiene", points=0.3, function="gradient_by_row")
def test_gradient_unchanged(submission, rand):
    """Leaves its arguments alone, and works where they are: names no device."""
    q, k, v, d_out = head(rand, 5, 7, 4)
    given = q, k, v, 0.5, d_out
    assert_unchanged(submission.gradient_by_row.observe(*given), *given)
    assert_portable(submission.gradient_by_row, *given)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_gradient_shape", function="gradient_by_row",
                   stage="with float64")  # fmt: skip
def test_gradient_float64(submission, reference, rand):
    """Keeps float64."""
    compare(submission, reference, head(rand, 3, 5, 4, dtype=torch.float64), 0.5)


# --- readings ---------------------------------------------------------------------------------------------------------


def draw_heads(rand, queries, keys, widths):
    """Heads from narrow to wide, in float64: rounding must not decide whether a row is silent."""
    return [head(rand, queries, keys, d_k, 4, torch.float64) for d_k in widths]


def read(submission, reference, heads, name=None):
    """One reading is the judge's own, or both are."""
    found, expected = submission.readings(heads), reference.readings(heads)
    if not isinstance(found, dict) or found.keys() != expected.keys():
        assert_matches(found, expected, hint="Return a dict with the keys width and silent.")
    for each in [name] if name else expected:
        if found[each] is None and expected[each] is not None:
            fail(f'"{each}" is None; expected {expected[each]}.')
        assert_matches(found[each], expected[each], hint=f'This is "{each}".')


@pytest.mark.check(skill="shape", points=1, needs="test_gradient_square", public=True, function="readings",
                   stage="on the example")  # fmt: skip
def test_readings_example(submission, reference):
    """Gives what the example of the exercise shows."""
    k = torch.tensor([[1.0], [0.0]])
    read(submission, reference, [(torch.tensor([[0.0], [2.0], [9.0]]), k, k, torch.ones(3, 1))])


@pytest.mark.check(skill="values", points=2, needs="test_readings_example", function="readings",
                   stage="in {name}")  # fmt: skip
@pytest.mark.parametrize("name", ["width", "silent"])
def test_reading(submission, reference, rand, name):
    """Reads what the judge reads, on heads from narrow to very wide."""
    read(submission, reference, draw_heads(rand, 41, 16, (2, 16, 300, 1100)), name)


@pytest.mark.check(skill="generality", points=1, needs="test_readings_example", function="readings",
                   stage="on {what}")  # fmt: skip
@pytest.mark.parametrize("what", ["a single head", "narrow heads", "wide heads", "wide heads of short queries"])
def test_other_heads(submission, reference, rand, what):
    """Takes any number of heads, also where the width that is asked for is the first one, or none."""
    wide = (700, 1000, 900)
    widths = {"a single head": (900,), "narrow heads": (2, 3, 5)}.get(what, wide)
    heads = draw_heads(rand, 31, 16, widths)
    if "short" in what:  # where 1/√d_k is too small already, and a number like 1/4 would do
        heads = [(q * (8.0 / q.size(-1) ** 0.5), *others) for q, *others in heads]
    read(submission, reference, heads)


@pytest.mark.check(skill="generality", points=1, needs="test_readings_example", function="readings",
                   stage="in other sizes")  # fmt: skip
@pytest.mark.parametrize("case", range(2))
def test_readings_sizes(submission, reference, rand, case):
    """Takes any number of keys and queries."""
    keys, half = rand.sizes(2)
    read(submission, reference, draw_heads(rand, 2 * half + 11, keys + 5, (3, 500)))
