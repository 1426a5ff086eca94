"""What is asked of a training: that its model was moved step by step."""

from __future__ import annotations

import pytest

from grader.api.checks import CheckFailed, assert_descended

STEADY = [0.0, 1e-5, *[3e-3] * 50, *[1e-3] * 148]


def events(moves: list[float]) -> list[tuple[str, float]]:
    """What a report logs that knows the model."""
    return [event for move in moves for event in (("report", 1.0), ("moved", move))]


def test_steps_of_a_warm_up_and_a_decay_are_a_descent():
    """A rate that rises and falls, a step of nothing at its begin or end, and a first step far larger than the rest."""
    for moves in (STEADY, [*STEADY, 0.0], [0.0, 0.09, *STEADY[2:]]):
        assert_descended(events(moves), len(moves) - 1)


@pytest.mark.parametrize(
    ("moves", "says"),
    [
        ([*STEADY, 2.0], "At step 200 the model was moved 667 times as far as in most steps"),
        ([*STEADY[:90], 0.7, *STEADY[90:]], "At step 90 "),
        ([5.0, *STEADY[1:]], "Before the first step the model"),
        ([*STEADY[:50], *[0.0] * 150], "In 150 of 199 steps the model was not moved"),
        ([*STEADY, float("inf")], "its parameters took other shapes, or became NaN"),
        ([float("nan")] * 200, "its parameters took other shapes, or became NaN"),
        ([0.0, *[0.0] * 200], "In 200 of 200 steps"),
    ],
)
def test_what_is_written_into_a_model_is_none(moves, says):
    """At the end, in the middle, before it begins; and while nothing is done."""
    with pytest.raises(CheckFailed, match=says):
        assert_descended(events(moves), len(moves) - 1)


@pytest.mark.parametrize("moves", [STEADY[:1], STEADY[:3], [*STEADY, 1e-3]])
def test_a_step_that_is_not_told_is_none(moves):
    """Nor is one told that was not asked for."""
    with pytest.raises(CheckFailed, match=f"It reported {len(moves) - 1} losses in 199 steps"):
        assert_descended(events(moves), 199)
