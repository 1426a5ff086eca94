"""The arithmetic of the assessment, against numbers done by hand and the table of labels it was designed by."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.quiz.assessment.scoring import (
    MIN_TOPICS,
    SOLID,
    UNSURE,
    WEAK,
    Item,
    label,
    overall,
    score_alone,
    topic_score,
)

ITEMS = st.lists(st.builds(Item, st.floats(0, 1), st.sampled_from([0.02, 0.25, 1 / 3, 0.5])), min_size=1, max_size=12)


def typed(right: int, count: int) -> list[Item]:
    return [Item(1.0, 0.02)] * right + [Item(0.0, 0.02)] * (count - right)


def test_a_topic_by_hand():
    """Three of four with a guess rate of 1/3: t, and its variance if half is known, as on paper."""
    score = topic_score([Item(1, 1 / 3)] * 3 + [Item(0, 1 / 3)])
    room = 1 - 1 / 3 - 0.03
    assert score.share == pytest.approx((0.75 - 1 / 3) / room)
    right = 1 / 3 + room / 2
    assert score.variance(0.5) == pytest.approx(right * (1 - right) / 4 / room**2)


def test_the_score_by_hand():
    """Six topics of three of four typed answers: ten times the mean share, and the interval of the formula."""
    topic = topic_score(typed(3, 4))
    result = overall([topic] * 6)
    mean = (0.75 - 0.02) / 0.95
    slips = (1 - mean) * math.exp(-(((1 - mean) ** 2 / 2.75 / (0.97 * 0.03 / 24 / 0.95**2)) ** 2))
    assert result.score == pytest.approx(10 * (mean + slips)) and slips < 0.01
    for end in (result.low / 10, result.high / 10):
        right = 0.02 + 0.95 * end
        assert abs(mean - end) == pytest.approx(1.75 * math.sqrt(right * (1 - right) / 24) / 0.95, abs=1e-6)


def test_not_knowing_is_what_guessing_is_on_average():
    """A `?` moves a share to 0 and not below, is no luck, and shows that nothing is known as a wrong answer does."""
    guessed = topic_score([Item(1, 1 / 3), Item(0, 1 / 3), Item(0, 1 / 3)])
    honest = topic_score([Item(0, 1 / 3, unknown=True)] * 3)
    assert honest.share == pytest.approx(guessed.share) == pytest.approx(0)
    assert honest.variance(0.0) == pytest.approx(0) and honest.variance(0.2) < guessed.variance(0.2)
    assert honest.label == WEAK
    assert topic_score([Item(0, 0.5, True, unknown=True)]).share == pytest.approx(0)


def test_a_session_with_a_miss_is_no_ten():
    """Of a few answers nothing is put down to slips: the share that is known, and below ten whatever was missed."""
    partly = [Item(1.0, 0.02), Item(1.0, 0.25), Item(0.8, 0.5, whole=True)]
    guess = (0.02 + 0.25 + 0.5) / 3
    alone = score_alone(partly)
    assert alone.score == topic_score(partly).score == pytest.approx(10 * (2.8 / 3 - guess) / (1 - guess - 0.03))
    assert alone.low < alone.score < 9.6 and alone.high == 10
    assert topic_score(typed(39, 40)).share > 1 and score_alone(typed(39, 40)).score == 9.9
    assert score_alone(typed(3, 3)).score == 10.0 and score_alone(typed(0, 3)).score == 0.0


def test_topics_left_out_widen_the_interval():
    """Six topics of ten say less of all ten than of themselves, and only the interval shows it."""
    topics = [topic_score(typed(3, 4))] * 6
    alone, among = overall(topics, of=6), overall(topics, of=10)
    assert alone.score == among.score
    assert among.low < alone.low - 0.5 and among.high > alone.high + 0.3
    assert among.spread == pytest.approx((0.4 * 0.3) ** 2)


def test_a_faded_answer_says_less():
    """An item of half the weight counts for half as much, and makes the interval wider."""
    fresh, faded = [Item(1, 0.02)] * 3, [Item(0, 0.02, weight=0.5)] * 2
    assert topic_score(fresh + faded).share == pytest.approx((3 / 4 - 0.02) / 0.95)
    whole, half = ([Item(1, 0.02, weight=weight)] * 3 for weight in (1.0, 0.5))
    assert topic_score(half).share == topic_score(whole).share
    assert overall([topic_score(half)] * 6).low < overall([topic_score(whole)] * 6).low


@pytest.mark.parametrize(
    "right, count, expected",
    [(4, 4, SOLID), (5, 5, SOLID), (6, 6, SOLID), (7, 8, SOLID), (3, 4, UNSURE), (4, 5, UNSURE), (6, 8, UNSURE),
     (1, 4, WEAK), (1, 5, WEAK), (1, 6, WEAK), (2, 8, WEAK), (2, 4, UNSURE), (3, 3, UNSURE)],
)  # fmt: skip
def test_labels_of_typed_answers(right, count, expected):
    """Solid and weak begin where the design says."""
    assert label(typed(right, count)) == expected


def test_choices_need_more_to_be_solid():
    """Four of four choices of four options can be luck; six of six cannot."""
    assert label([Item(1, 0.25)] * 4) == UNSURE
    assert label([Item(1, 0.25)] * 6) == SOLID


def test_all_or_nothing_items_do_not_make_solid_by_halves():
    """A multi-select of which most is right is no step towards solid."""
    assert label([Item(0.9, 0.5, whole=True)] * 6) != SOLID
    assert label([Item(1.0, 0.5, whole=True)] * 5) == SOLID


def test_too_few_topics_have_no_score():
    """Below six covered topics there is not enough evidence; a topic of two items is not covered."""
    good, thin = topic_score(typed(4, 4)), topic_score(typed(2, 2))
    assert overall([good] * (MIN_TOPICS - 1) + [thin] * 5) is None
    assert overall([good] * MIN_TOPICS) is not None


def test_who_knows_all_has_ten_and_who_guesses_has_nothing():
    """All right is 10.0; answers as good as guessing are 0.0."""
    assert overall([topic_score([Item(1, 1 / 3), *typed(3, 3)])] * 10).score == 10.0
    assert overall([topic_score([Item(1, 0.25), *[Item(0, 0.25)] * 3])] * 10).score == pytest.approx(0.0)


@settings(deadline=None)
@given(ITEMS, st.data())
def test_a_better_answer_never_lowers_a_share(items, data):
    """Raising one credit raises the topic's share."""
    place = data.draw(st.integers(0, len(items) - 1))
    better = [*items[:place], Item(1.0, items[place].guess), *items[place + 1 :]]
    assert topic_score(better).share >= topic_score(items).share - 1e-12


@settings(deadline=None)
@given(ITEMS)
def test_the_interval_holds_the_score(items):
    """The score lies in its interval, and all three on the scale."""
    result = overall([topic_score([*items] * 3)] * 7)
    assert 0 <= result.low <= result.score <= result.high <= 10
