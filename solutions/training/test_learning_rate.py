"""The hidden checks of `learning_rate`: rates near 1, where a difference shows, and the usual ones near 1e-3."""

import math

import pytest

from grader.api.checks import fail, is_array, kind_of

MAX, MIN = 8.0, 1.0


def rate(subject, *given, **named):
    """The rate, as a float."""
    value = subject.lr_at(*given, **named)
    if is_array(value) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, float | int):
        fail(f"It returned {kind_of(value)}; expected a float.")
    return float(value)


def compare(submission, reference, steps, *given, atol=1e-4):
    """The rates of these steps are the reference's."""
    for step in steps:
        found, expected = rate(submission, step, *given), rate(reference, step, *given)
        if not math.isclose(found, expected, rel_tol=1e-4, abs_tol=atol):
            fail(f"At step {step} the rate is {found:.6g}; expected {expected:.6g}.")


@pytest.mark.check(skill="shape", points=1, public=True, stage="in what it returns")
def test_number(submission):
    """Gives one number."""
    rate(submission, 5, MAX, MIN, 10, 110)


@pytest.mark.check(skill="values", points=3, public=True, stage="during the warm-up")
def test_warmup(submission, reference):
    """Rises in a straight line, from the first step on."""
    compare(submission, reference, (1, 2, 5, 9), MAX, MIN, 10, 110)


@pytest.mark.check(skill="values", points=2, stage="where the warm-up ends")
def test_peak(submission, reference):
    """Is max_lr exactly at step = warmup, and falls from the next step on."""
    compare(submission, reference, (10, 11, 12), MAX, MIN, 10, 30)


@pytest.mark.check(skill="values", points=3, public=True, stage="during the fall")
def test_cosine(submission, reference):
    """Falls like half a cosine from max_lr to min_lr."""
    compare(submission, reference, (20, 35, 60, 85, 100, 109), MAX, MIN, 10, 110)


@pytest.mark.check(skill="values", points=2, stage="at the end and behind it")
def test_end(submission, reference):
    """Is min_lr at step = total, and stays there."""
    compare(submission, reference, (109, 110, 111, 160, 210, 1000), MAX, MIN, 10, 110)


@pytest.mark.check(skill="values", points=1, stage="with another min_lr")
@pytest.mark.parametrize("low", [0.0, 4.0, 8.0])
def test_floor(submission, reference, low):
    """Falls to min_lr whatever it is, and bends the whole curve with it."""
    compare(submission, reference, (3, 10, 40, 60, 90, 110, 300), MAX, low, 10, 110)


@pytest.mark.check(skill="stability", points=2, stage="without a warm-up")
def test_no_warmup(submission, reference):
    """Takes warmup = 0: the cosine begins at once."""
    compare(submission, reference, (1, 2, 25, 50, 99, 100, 120), MAX, MIN, 0, 100)


@pytest.mark.check(skill="stability", points=1, stage="with a warm-up of one step")
def test_short_warmup(submission, reference):
    """Takes a warm-up of one step, which is at max_lr then."""
    compare(submission, reference, (1, 2, 10, 20), MAX, MIN, 1, 20)


@pytest.mark.check(skill="stability", points=0.5, stage="with a warm-up of most of the run")
def test_long_warmup(submission, reference):
    """Takes a warm-up of more than half of the run."""
    compare(submission, reference, (30, 79, 80, 90, 99), MAX, MIN, 80, 100)


@pytest.mark.check(skill="generality", points=2, stage="in other sizes")
@pytest.mark.parametrize("case", [1, 2])
def test_other_sizes(submission, reference, rand, case):
    """Follows any numbers of steps and any rates."""
    warmup, more = rand.sizes(2, low=5)
    total = warmup + 7 * more + int(rand.integers(0, 50, 1))
    low, high = sorted(float(each) for each in rand(2).abs() * 5)
    steps = [1, warmup - 1, warmup, warmup + 1, (warmup + total) // 2, total - 1, total, total + more]
    compare(submission, reference, steps, high + 1.0, low, warmup, total)


@pytest.mark.check(skill="stability", points=1, stage="at the usual rates")
def test_usual_rates(submission, reference):
    """Is right for rates near 1e-3, which are small differences, in a long run too."""
    compare(submission, reference, (1, 50, 100, 101, 500, 1999, 2000, 5000), 1e-3, 1e-4, 100, 2000, atol=1e-8)
    long = (1, 5_001, 20_000, 20_001, 70_000, 500_000, 1_000_000)
    compare(submission, reference, long, 1e-3, 1e-4, 20_000, 500_000, atol=1e-8)


@pytest.mark.check(skill="hygiene", points=0.5, stage="asked again, in another order")
def test_no_memory(submission, reference):
    """Depends on nothing but its arguments: steps may be asked in any order."""
    compare(submission, reference, (60, 5, 110, 60, 1), MAX, MIN, 10, 110)
