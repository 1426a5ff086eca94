"""Let old answers fade: how much an answer weighs today.

An answer weighs 1 until FSRS has its question due again, and from then on its recall probability, in parts of that on
the due day. It is that of one who was right each time: if what was missed faded sooner, scores would rise by waiting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fsrs import Scheduler

DUE_AT = 0.9  # the recall probability at which FSRS has a question due again


def weigh(times: Mapping[str, Sequence[datetime]], now: datetime) -> dict[str, float]:
    """Return the weight of the latest answer to each question that was answered at these times, in order."""
    if all(now.astimezone(UTC).date() <= each[-1].astimezone(UTC).date() for each in times.values()):
        return dict.fromkeys(times, 1.0)  # without the time that it takes to import fsrs
    from fsrs import Card, Rating

    scheduler = make_scheduler()
    weights = {}
    for name, when in times.items():
        card = Card(card_id=0)  # without an id a card waits a moment to draw one
        for each in when:
            card, _ = scheduler.review_card(card, Rating.Good, each.astimezone(UTC))
        weights[name] = min(1.0, scheduler.get_card_retrievability(card, now.astimezone(UTC)) / DUE_AT)
    return weights


def make_scheduler() -> Scheduler:
    """Make the FSRS scheduler of all reviews: days only, and the same dates for the same log."""
    from fsrs import Scheduler

    return Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
