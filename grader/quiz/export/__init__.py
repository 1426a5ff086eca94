"""Questions for other programs: Anki's text, Moodle's GIFT, Markdown. One module a format."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Card, Exported, cards

FORMATS = ("anki", "gift", "markdown")


def export(bank: Bank, topics: Sequence[str], form: str, variants: int = 1) -> Exported:
    """The questions of these topics in one of FORMATS, `variants` of each family where it has so many.

    Every question has an id that stays: `family#1`, `family#2`, ... It is drawn the same way each time, and not as it
    is drawn for any learner. Raises CourseError, and UsageError for an unknown topic.
    """
    return _writer(form)(bank, cards(bank, topics, variants))


def _writer(form: str) -> Callable[[Bank, Sequence[Card]], Exported]:
    if form == "anki":
        from grader.quiz.export.anki import anki

        return anki
    if form == "gift":
        from grader.quiz.export.gift import gift

        return gift
    from grader.quiz.export.markdown import markdown

    return markdown
