"""Item analysis: shares with intervals, item-rest correlations, and what may be said of few learners."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grader.model import CheckResult
from grader.reports.statistics.item_analysis import (
    MIN_TRIED,
    Item,
    analyse,
    correlation,
    item_of,
    wilson_interval,
)

SHARES = st.integers(1, 500).flatmap(lambda tried: st.tuples(st.integers(0, tried), st.just(tried)))


# --- Wilson's interval ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "passed, tried, low, high",
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_that_of_the_literature(passed, tried, low, high):
    """The four examples of Newcombe (1998), table I, method 3, to their four decimals."""
    assert wilson_interval(passed, tried) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@given(SHARES)
def test_the_interval_holds_the_share_and_stays_between_0_and_1(of):
    """Whatever the counts, 0 <= low <= share <= high <= 1, and something is left open."""
    passed, tried = of
    low, high = wilson_interval(passed, tried)

    assert 0 <= low <= passed / tried <= high <= 1
    assert low < high


@given(SHARES)
def test_the_ends_are_where_the_score_test_just_rejects(of):
    """Each end p solves (share - p)² = z² p (1 - p) / n, which is what the interval means."""
    passed, tried = of
    for end in wilson_interval(passed, tried):
        assert (passed / tried - end) ** 2 == pytest.approx(1.959963984540054**2 * end * (1 - end) / tried, abs=1e-12)


@given(SHARES)
def test_the_interval_is_the_same_from_the_other_side(of):
    """Of those who failed it says the same as of those who passed."""
    passed, tried = of
    low, high = wilson_interval(passed, tried)

    assert wilson_interval(tried - passed, tried) == (pytest.approx(1 - high), pytest.approx(1 - low))


@pytest.mark.parametrize("passed, tried", [(0, 0), (3, 2), (-1, 4)])
def test_what_is_no_share_is_refused(passed, tried):
    """Nobody who tried, or more who passed than tried, is a fault of the caller's."""
    with pytest.raises(ValueError, match="no share"):
        wilson_interval(passed, tried)


# --- correlation ------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 20), st.integers(1, 4)), min_size=2))
def test_a_correlation_is_numpys(points):
    """Weighted points give what numpy gives of each point as often as it counts; None where something is constant."""
    points = [(float(x), y / 20, often) for x, y, often in points]
    xs, ys = ([point[axis] for point in points for _ in range(point[2])] for axis in (0, 1))
    found = correlation(points)

    if len(set(xs)) < 2 or len(set(ys)) < 2:
        assert found is None
    else:
        assert found == pytest.approx(np.corrcoef(xs, ys)[0, 1], abs=1e-9)
        assert -1 <= found <= 1


def test_a_correlation_worked_by_hand():
    """Passed 0, 0, 1, 1 with rests 1, 2, 2, 3 (in eighths): covariance 1/4, variances 1/4 and 1/2, so r = 1/√2."""
    assert correlation([(0, 1 / 8, 1), (0, 2 / 8, 1), (1, 2 / 8, 1), (1, 3 / 8, 1)]) == pytest.approx(0.5**0.5)


# --- items ------------------------------------------------------------------------------------------------------------


def check(name: str, function: str, says: str, skill: str, points: float) -> CheckResult:
    """Make a check worth `points`; the patterns say whether it passed."""
    return CheckResult(name, function, says, skill, "passed", points, points)


def made(*points: float, skill: str = "values") -> dict[str, CheckResult]:
    """Make checks a, b, c, ... worth these points."""
    return {name: check(name, "f", f"Says {name}.", skill, worth) for name, worth in zip("abcde", points, strict=False)}


def patterns(rows: list[str], checks: dict[str, CheckResult]):
    """How often each pattern came; a row is a letter a check: Passed, Failed, Skipped, Grader error."""
    words = {"P": "passed", "F": "failed", "S": "skipped", "G": "grader-error"}
    found = []
    for row in rows:
        earned = tuple(
            check.points if letter == "P" else 0.0 for check, letter in zip(checks.values(), row, strict=True)
        )
        found.append((tuple(checks), tuple(words[letter] for letter in row), earned))
    return Counter(found)


def items(rows: list[str], checks: dict[str, CheckResult]) -> dict[str, Item]:
    """Analyse the items of a class of these rows."""
    return {item.id: item for item in analyse(checks, patterns(rows, checks))}


def test_corrected_item_rest_is_the_textbooks():
    """Where everything ran, it is numpy's coefficient of an item with the points of all other items together."""
    random = np.random.default_rng(3)
    able = random.normal(size=60)
    passed = (able[:, None] + random.normal(size=(60, 5)) > np.array([-1, -0.5, 0, 0.5, 1])).astype(int)
    checks = {
        name: check(name, "f", "", "values", points) for name, points in zip("abcde", (1, 2, 3, 1, 4), strict=True)
    }
    found = items(["".join("FP"[mark] for mark in row) for row in passed], checks)
    points = np.array([check.points for check in checks.values()])
    for place, item in enumerate(found.values()):
        rest = passed @ points - passed[:, place] * points[place]
        assert item.rest == pytest.approx(np.corrcoef(passed[:, place], rest)[0, 1], abs=1e-9)
        assert (item.passed, item.tried) == (passed[:, place].sum(), 60)


@given(st.lists(st.text("PFSG", min_size=4, max_size=4), min_size=1, max_size=60))
def test_items_are_counted_learner_by_learner(rows):
    """Counts by pattern equal counts by learner: who passed, who tried, who was skipped, whom the grader failed."""
    checks = made(1, 1, 1, 1)
    for place, item in enumerate(items(rows, checks).values()):
        column = [row[place] for row in rows]
        assert (item.passed, item.tried) == (column.count("P"), column.count("P") + column.count("F"))
        assert (item.skipped, item.spoiled) == (column.count("S"), column.count("G"))


@pytest.mark.slow
@given(st.lists(st.text("PF", min_size=3, max_size=3), min_size=30, max_size=50), st.randoms())
def test_the_order_of_the_class_changes_nothing(rows, random):
    """An analysis is of the class as a set."""
    checks = made(1, 1, 1)
    mixed = list(rows)
    random.shuffle(mixed)
    assume(mixed != rows)

    assert items(rows, checks) == items(mixed, checks)


def test_what_was_skipped_was_not_tried():
    """A check behind a failed one counts for the learners it was run on, and only for them."""
    item = items(["PP"] * 3 + ["PF"] + ["FS"] * 6, made(1, 1))["b"]

    assert (item.passed, item.tried, item.skipped, item.share) == (3, 4, 6, 0.75)


def test_what_the_grader_spoiled_is_nobodys_failure():
    """An outcome "grader-error" counts in no number but its own."""
    item = items(["PP"] * 2 + ["PG"] * 5, made(1, 1))["b"]

    assert (item.passed, item.tried, item.spoiled) == (2, 2, 5)


def test_a_check_gets_no_credit_for_what_it_kept_from_running():
    """A check that fails at random, and so keeps another from running, is seen to tell nothing."""
    rows = ["PPP"] * 10 + ["PFF"] * 10 + ["FSP"] * 10 + ["FSF"] * 10
    gate = items(rows, made(1, 1, 1))["a"]

    assert gate.rest == pytest.approx(0, abs=1e-9)
    assert gate.flag == "low" or gate.rest < 0


def test_several_inputs_are_one_item():
    """A check on several inputs is passed when all that ran passed, and its own inputs are no part of the rest."""
    checks = {name: check(name, "f", "Says.", "values", 1.0) for name in ("a[1]", "a[2]", "b")}
    rows = ["PPP"] * 20 + ["PFF"] * 10 + ["FFF"] * 5 + ["PFP"] * 5
    found = items(rows, checks)

    assert list(found) == ["a", "b"]
    assert (found["a"].inputs, found["a"].passed, found["a"].tried) == (2, 20, 40)
    assert found["a"].rest == pytest.approx(np.corrcoef([1] * 20 + [0] * 20, [1] * 20 + [0] * 15 + [1] * 5)[0, 1])
    assert (item_of("m.a[two axes]"), item_of("m.a")) == ("m.a", "m.a")


@pytest.mark.parametrize("tried, enough", [(MIN_TRIED - 2, False), (MIN_TRIED, True)])
def test_of_few_learners_there_are_counts_only(tried, enough):
    """Below thirty who tried it there is no interval and no coefficient; the counts are there."""
    item = items(["PP"] * (tried // 2) + ["FF"] * (tried // 2), made(1, 1))["a"]

    assert (item.passed, item.tried) == (tried // 2, tried)
    assert (item.interval is not None, item.rest is not None) == (enough, enough)


def test_a_coefficient_of_four_who_failed_is_not_given():
    """With fewer than five on either side it would be the coefficient of those few."""
    assert items(["PP"] * 60 + ["FF"] * 4, made(1, 1))["a"].rest is None
    assert items(["PP"] * 60 + ["FF"] * 5, made(1, 1))["a"].rest == pytest.approx(1)


@pytest.mark.parametrize(
    "rows, flag",
    [
        (["PP", "PF"], "everybody"),
        (["FP", "FF"], "nobody"),
        (["SP", "SF"], ""),
        (["PP"] * 20 + ["FF"] * 20, ""),
        (["PF"] * 20 + ["FP"] * 20, "negative"),
        (["PF"] * 12 + ["FP"] * 12 + ["PP"] * 10 + ["FF"] * 10, "low"),  # r = -0.09: no more than chance
        (["PP"] * 11 + ["PF"] * 9 + ["FP"] * 10 + ["FF"] * 10, "low"),
        (["PP", "FF"], ""),
    ],
)
def test_flags_say_what_to_look_at(rows, flag):
    """Nobody and everybody are counts and said of any class; what a coefficient says is said of large ones."""
    assert items(rows, made(1, 1))["a"].flag == flag


def test_equal_rests_reached_by_other_sums_do_not_correlate():
    """Thirds and tenths that differ by rounding only are no variation."""
    checks = {
        name: check(name, "f", "", "values", points) for name, points in zip("abcd", (1, 0.1, 0.2, 0.3), strict=True)
    }
    rows = ["PPPF"] * 20 + ["FFFP"] * 20  # 0.1 + 0.2 against 0.3, of 0.6

    assert items(rows, checks)["a"].rest is None
