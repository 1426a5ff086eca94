"""What is exported, whatever the format: a question with an id that stays, and all that can be said of its answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import variant
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import lettered
from grader.quiz.model import Family, OpenQuestion, Question, Topic
from grader.quiz.placeholders import shown

SALT = "export"  # everybody's export is the same, and nobody's quiz
DRAWS = 4  # times as many variants are drawn as are wanted, as some are equal


@dataclass(frozen=True)
class Card:
    """A question, or an open one, of a topic. `id` stays when its text is changed."""

    id: str
    topic: Topic
    question: Question | None = None
    opened: OpenQuestion | None = None


@dataclass(frozen=True)
class Exported:
    """A file's text, the questions in it, and what whoever imports it should know."""

    text: str
    questions: int
    notes: tuple[str, ...] = ()


def cards(bank: Bank, topics: Sequence[str], variants: int) -> list[Card]:
    """Topic by topic: its families, `variants` of each or as many as differ, then its open question."""
    found: list[Card] = []
    for topic in map(bank.topic, topics):
        for family in topic.families:
            for number, question in enumerate(_different(bank, family, variants), 1):
                found.append(Card(f"{family.id}#{number}", topic, question))
        if topic.open:
            found.append(Card(f"{topic.name}.open", topic, opened=topic.open))
    return found


def _different(bank: Bank, family: Family, variants: int) -> Iterator[Question]:
    """The first variants of which no two ask the same."""
    seen: set[object] = set()
    for attempt in range(1, DRAWS * variants + 1):
        question = variant(bank, family, SALT, attempt)
        options = tuple(sorted(option.text for option in question.options))
        asks = (question.text, question.code, options)
        if asks not in seen:
            seen.add(asks)
            yield question
        if len(seen) == variants:
            return


# --- what is said of an answer ----------------------------------------------------------------------------------------


def how(question: Question) -> str:
    """How to answer, where that is not plain from the options."""
    return KINDS[question.kind].how(question)


def right(question: Question) -> list[str]:
    """The right answer, spelt out: a line for each part of it."""
    options = lettered(question.options)
    if question.kind == "multi":
        return [f"{letter}: {option.text}" for letter, option in options if option.right] or ["none of them"]
    if question.kind == "order":
        return [f"{number}. {question.options[place].text}" for number, place in enumerate(question.answer, 1)]
    if question.kind == "match":
        lefts = question.details["lefts"]
        return [f"{left}: {question.options[at].text}" for left, at in zip(lefts, question.answer, strict=True)]
    if question.kind == "shape":
        blanks = question.details["blanks"]
        return [f"{blank}: {shown(shape)}" for blank, shape in zip(blanks, question.answer, strict=True)]
    return KINDS[question.kind].right(question).split("\n")


def says(bank: Bank, question: Question, tag: str) -> str:
    """What to tell whoever shows a misconception: its name, and what it means here. "" where there is nothing."""
    known = bank.misconception(tag) if tag else None
    named = f"You {known.says}." if known else ""
    return " ".join(filter(None, [named, " ".join(question.feedback.get(tag, "").split())]))


def wrong(bank: Bank, question: Question) -> list[tuple[str, str]]:
    """Each wrong answer that has a name, as (what was answered, what to say of it)."""
    if question.kind in ("choice", "multi"):
        tagged = [(letter, option.tag) for letter, option in lettered(question.options) if option.tag]
    else:
        tagged = [(_answered(question, each.value), each.tag) for each in question.wrong]
    found = [(answer, says(bank, question, tag)) for answer, tag in tagged]
    return [(answer, text) for answer, text in found if text]


def _answered(question: Question, value: object) -> str:
    if isinstance(value, tuple):
        place, given = value
        if question.kind == "match":
            return f"{question.details['lefts'][place]} with {question.options[given].text}"
        return f"{shown(given)} for {question.details['blanks'][place]}"
    if question.kind == "bug":
        return f"line {value}"
    return shown(value)


def numbered(code: str) -> str:
    """Code with the numbers of its lines."""
    return "\n".join(f"{number:>2}  {line}" for number, line in enumerate(code.split("\n"), 1))
