"""What every export format needs: questions with lasting ids, their right answers and feedback on wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import make_variant
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import letter_options
from grader.quiz.model import Family, OpenQuestion, Question, Topic
from grader.quiz.placeholders import format_value

SALT = "export"  # the same for every export, and no learner's
MAX_DRAWS = 4  # per variant that is wanted, as some draws are equal


@dataclass(frozen=True)
class Card:
    """A question of a topic. `id` stays when its text is changed."""

    id: str
    topic: Topic
    question: Question | OpenQuestion


@dataclass(frozen=True)
class Export:
    """The text of a file, the number of questions in it, and notes on how to import it."""

    text: str
    questions: int
    notes: tuple[str, ...] = ()


def make_cards(bank: Bank, topics: Sequence[str], variants: int) -> list[Card]:
    """Make the cards of each topic: up to `variants` of each family, then the open question."""
    found: list[Card] = []
    for topic in map(bank.topic, topics):
        for family in topic.families:
            for number, question in enumerate(_draw_different(bank, family, variants), 1):
                found.append(Card(f"{family.id}#{number}", topic, question))
        if topic.open:
            found.append(Card(f"{topic.name}.open", topic, topic.open))
    return found


def _draw_different(bank: Bank, family: Family, variants: int) -> Iterator[Question]:
    """Yield the first variants that ask different things."""
    seen: set[object] = set()
    for attempt in range(1, MAX_DRAWS * variants + 1):
        question = make_variant(bank, family, SALT, attempt)
        options = tuple(sorted(option.text for option in question.options))
        asks = (question.text, question.code, options)
        if asks not in seen:
            seen.add(asks)
            yield question
        if len(seen) == variants:
            return


# --- answers ----------------------------------------------------------------------------------------------------------


def right_answer_lines(question: Question) -> list[str]:
    """Return the right answer with the texts of options, a line for each part of it."""
    options = letter_options(question.options)
    if question.kind == "multi":
        return [f"{letter}: {option.text}" for letter, option in options if option.right] or ["none of them"]
    if question.kind == "order":
        return [f"{number}. {question.options[index].text}" for number, index in enumerate(question.answer, 1)]
    if question.kind == "match":
        rights = [question.options[at].text for at in question.answer]
        return [f"{left}: {right}" for left, right in zip(question.parts, rights, strict=True)]
    if question.kind == "shape":
        pairs = zip(question.parts, question.answer, strict=True)
        return [f"{blank}: {format_value(shape)}" for blank, shape in pairs]
    return KINDS[question.kind].right_answer(question).split("\n")


def feedback_on(bank: Bank, question: Question, tag: str) -> str:
    """Return what to say about a misconception in an answer to this question; "" if nothing."""
    known = bank.misconception(tag) if tag else None
    named = f"You {known.says}." if known else ""
    return " ".join(filter(None, [named, *question.feedback.get(tag, "").split()]))


def wrong_answers(bank: Bank, question: Question) -> list[tuple[str, str]]:
    """Return each wrong answer with a misconception as (the answer, feedback on it)."""
    if question.kind in ("choice", "multi"):
        tagged = [(letter, option.tag) for letter, option in letter_options(question.options) if option.tag]
    else:
        tagged = [(_format_answer(question, each.value), each.tag) for each in question.wrong]
    found = [(answer, feedback_on(bank, question, tag)) for answer, tag in tagged]
    return [(answer, text) for answer, text in found if text]


def _format_answer(question: Question, value: object) -> str:
    if isinstance(value, tuple):
        index, given = value
        if question.kind == "match":
            return f"{question.parts[index]} with {question.options[given].text}"
        return f"{format_value(given)} for {question.parts[index]}"
    if question.kind == "bug":
        return f"line {value}"
    return format_value(value)


def shown_code(question: Question) -> str:
    """Return the code of a question, with the numbers of its lines where one of them is asked for."""
    if question.kind != "bug":
        return question.code
    return "\n".join(f"{number:>2}  {line}" for number, line in enumerate(question.code.split("\n"), 1))
