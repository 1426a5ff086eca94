"""Export questions to other programs: Anki's text, Moodle's GIFT, Markdown. One module a format."""

from __future__ import annotations

from collections.abc import Sequence

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Export, make_cards

FORMATS = ("anki", "gift", "markdown")


def export(bank: Bank, topics: Sequence[str], form: str, variants: int = 1) -> Export:
    """Export the questions of some topics. Raises UsageError for an unknown topic, CourseError for a wrong one.

    Every question has a lasting id: `family#1`, `family#2`, ... Each export draws the same numbers, and other ones than
    any learner is asked.

    Args:
        form: One of FORMATS.
        variants: How many different questions to draw of each family, where it has so many.
    """
    cards = make_cards(bank, topics, variants)
    if form == "anki":
        from grader.quiz.export.anki import to_anki

        return to_anki(bank, cards)
    if form == "gift":
        from grader.quiz.export.gift import to_gift

        return to_gift(bank, cards)
    from grader.quiz.export.markdown import to_markdown

    return to_markdown(bank, cards)
