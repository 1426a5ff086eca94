"""The hidden checks of `adamw`: one step from a state in the middle of training, and whole runs.

Nothing decays, or learning rates are small, where the order of decay and step would show: either is right. And eps is
large where its place has to show.
"""

import pytest
import torch

from grader.api.checks import assert_matches, assert_portable, assert_shape, assert_unchanged, fail, kind_of, same

SHAPE = (3, 5)
EPS = 0.05  # as large as √v̂ itself: then its place shows


def state(rand, *shape, dtype=torch.float32):
    """param, grad, m and v in the middle of training."""
    param, grad, m, v = (rand(*shape, dtype=dtype) for _ in range(4))
    return param, grad, 0.3 * m, 0.1 * v.square() + 0.01


def fresh(rand, *shape):
    """param, grad, and the means before the first step."""
    return rand(*shape), rand(*shape), torch.zeros(shape), torch.zeros(shape)


def triple(value):
    """The three tensors of one step."""
    if not isinstance(value, tuple) or len(value) != 3:
        fail(f"It returned {kind_of(value)}; expected a tuple of three tensors: param, m, v.")
    return value


def compare(submission, reference, given, t, atol=1e-4, **options):
    """One step equals the reference's."""
    value = triple(submission.adamw_step(*given, t, **options))
    expected = reference.adamw_step(*given, t, **options)
    for name, mine, right in zip(("param", "m", "v"), value, expected, strict=True):
        assert_matches(mine, right, atol, hint=f"This is {name}.")


def run(subject, param, grads, **options):
    """Several steps, each with what the last one returned."""
    m = v = torch.zeros_like(param)
    for t, grad in enumerate(grads, 1):
        param, m, v = triple(subject.adamw_step(param, grad, m, v, t, **options))
    return param


@pytest.mark.check(skill="shape", points=1, public=True)
def test_three_tensors(submission, rand):
    """Gives a tuple of three tensors of the parameter's shape."""
    for each in triple(submission.adamw_step(*state(rand, *SHAPE), 3)):
        assert_shape(each, SHAPE)


@pytest.mark.check(skill="values", points=3, needs="test_three_tensors", public=True, stage="at the first step")
def test_first_step(submission, reference, rand):
    """Equals the reference at the first step, from means of 0."""
    compare(submission, reference, fresh(rand, *SHAPE), 1, lr=0.1, weight_decay=0.0)


@pytest.mark.check(skill="values", points=2, needs="test_three_tensors", stage="at step {t}")
@pytest.mark.parametrize("t", [2, 7, 500])
def test_later_steps(submission, reference, rand, t):
    """Equals the reference in the middle of training."""
    compare(submission, reference, state(rand, *SHAPE), t, lr=0.1, weight_decay=0.0)


@pytest.mark.check(skill="values", points=2, needs="test_three_tensors", stage="with other betas")
def test_betas(submission, reference, rand):
    """Uses the betas that are given, each for its own mean; a β1 of 0 keeps nothing of the gradients before."""
    for beta1 in (0.7, 0.0):
        compare(submission, reference, state(rand, *SHAPE), 3, lr=0.1, betas=(beta1, 0.95), weight_decay=0.0)


@pytest.mark.check(skill="stability", points=2, needs="test_three_tensors", stage="with a large eps")
@pytest.mark.parametrize("t", [1, 4])
def test_eps(submission, reference, rand, t):
    """Adds eps after the root and after the corrections."""
    param, grad, m, v = state(rand, *SHAPE)
    compare(submission, reference, (param, grad, m, 0.01 * v), t, lr=0.1, eps=EPS, weight_decay=0.0)


@pytest.mark.check(skill="values", points=2, needs="test_three_tensors", stage="with weight_decay={decay}")
@pytest.mark.parametrize("decay", [0.0, 2.0])
def test_decay(submission, reference, rand, decay):
    """Shrinks the parameter by lr times the decay, whatever the gradient is."""
    param, grad, m, v = state(rand, *SHAPE)
    compare(submission, reference, (10.0 * param, grad, m, v), 5, lr=2e-3, weight_decay=decay)


@pytest.mark.check(skill="values", points=1, needs="test_three_tensors", stage="with the defaults")
def test_defaults(submission, reference, rand):
    """Has the defaults of the statement."""
    param, grad, m, v = state(rand, *SHAPE)
    compare(submission, reference, (100.0 * param, grad, m, v), 2)
    param, grad, m, v = state(rand, *SHAPE, dtype=torch.float64)
    tiny = 1e-8  # as eps is
    compare(submission, reference, (1000.0 * param, tiny * grad, tiny * m, tiny**2 * v), 2, atol=1e-7)


@pytest.mark.check(skill="stability", points=1, needs="test_three_tensors", stage="where no gradient ever came")
def test_no_gradient(submission, reference, rand):
    """Only decays a number that never had a gradient: 0/0 must not happen."""
    param, _, zero, _ = fresh(rand, *SHAPE)
    compare(submission, reference, (param, zero, zero, zero), 1, lr=0.01)


@pytest.mark.check(skill="generality", points=1, needs="test_three_tensors", stage="with {axes} axes")
@pytest.mark.parametrize("axes", [0, 1, 3])
def test_any_shape(submission, reference, rand, axes):
    """Takes parameters of any shape, also a single number, and one whose first axis has the size 1."""
    shape = [1, *rand.sizes(2)] if axes == 3 else rand.sizes(axes)
    compare(submission, reference, state(rand, *shape), 3, lr=2e-3, weight_decay=2.0)


@pytest.mark.check(skill="generality", points=1, needs="test_three_tensors", stage="late, or on a large parameter")
def test_no_largest(submission, reference, rand):
    """Has no last step and no largest parameter."""
    for t in (int(rand.integers(501, 2000, 1)), int(rand.integers(2000, 100_000, 1))):
        compare(submission, reference, state(rand, *SHAPE), t, lr=0.1, weight_decay=0.0)
    compare(submission, reference, state(rand, rand.large(), 2), 3, lr=0.01)


@pytest.mark.check(skill="training", points=2, needs="test_three_tensors", stage="over several steps")
@pytest.mark.parametrize("steps", [3, 8])
def test_run(submission, reference, rand, steps):
    """Goes where the reference goes in several steps, each from what the last one returned."""
    param, grads = rand(*SHAPE), [rand(*SHAPE, scale=10.0 ** (number % 3 - 1)) for number in range(steps)]
    expected = run(reference, param, grads, lr=0.01, weight_decay=0.1)
    assert_matches(run(submission, param, grads, lr=0.01, weight_decay=0.1), expected, atol=1e-3)


@pytest.mark.check(skill="hygiene", points=0.5)
def test_inputs_unchanged(submission, rand):
    """Changes none of param, grad, m and v: what it returns is new, and stays as it is at the next call."""
    given, step = state(rand, *SHAPE), submission.adamw_step
    later = triple(step.before_call([*state(rand, *SHAPE), 3], *given, 3))
    if not all(map(same, later, triple(step(*given, 3)))):
        fail("The next call changed what this one had returned: each needs tensors of its own.")
    assert_unchanged(submission.adamw_step.observe(*given, 3, lr=2e-3, weight_decay=0.5), *given)


@pytest.mark.check(skill="hygiene", points=0.5, needs="test_three_tensors", stage="with float64")
def test_dtype_and_device(submission, reference, rand):
    """Keeps the dtype and the device of the parameter."""
    compare(submission, reference, state(rand, *SHAPE, dtype=torch.float64), 3)
    assert_portable(submission.adamw_step, *state(rand, *SHAPE), 3)
