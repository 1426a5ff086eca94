"""Write questions to read or print: first all questions, then all answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.quiz.bank.bank import Bank
from grader.quiz.export.cards import Card, Export, right_answer_lines, shown_code, wrong_answers
from grader.quiz.kinds import KINDS
from grader.quiz.kinds.kind import letter_options
from grader.quiz.model import OpenQuestion

_CODE = re.compile(r"(`[^`\n]+`)")
_SPECIAL = re.compile(r"([\\*<\[\]]|(?<!\w)_|_(?!\w))")
_BEGINS = re.compile(r"^(\d*)([#>+=]|(?<=\d)[.)](?=\s))", re.M)  # a heading, a quotation, a list


def to_markdown(bank: Bank, cards: Sequence[Card]) -> Export:
    """Write one document; a question and its answer have the same number."""
    lines = ["# Questions", ""]
    answers = ["# Answers", ""]
    title = ""
    for number, card in enumerate(cards, 1):
        if card.topic.title != title:
            title = card.topic.title
            lines += [f"## {_escape_line(title)}", ""]
            answers += [f"## {_escape_line(title)}: answers", ""]
        lines += [f"### {number}", "", *_question_lines(card)]
        answers += [f"### {number}: answer", "", *_answer_lines(bank, card), f"`{card.id}`", ""]
    return Export("\n".join([*lines, *answers]).rstrip() + "\n", len(cards))


def _question_lines(card: Card) -> Iterator[str]:
    question = card.question
    if isinstance(question, OpenQuestion):
        yield from (_escape_text(question.asks), "", "*In your own words.*", "")
        return
    yield from (_escape_text(question.text), "")
    yield from _fence(shown_code(question), "text" if question.kind == "bug" else "python")
    yield from _list_lines(f"{number}. {_escape_line(text)}" for number, text in enumerate(question.parts, 1))
    yield from _list_lines(
        f"- **{letter}** {_escape_line(option.text)}" for letter, option in letter_options(question.options)
    )
    yield from (f"*{_escape_line(KINDS[question.kind].instructions(question))}*", "")


def _answer_lines(bank: Bank, card: Card) -> Iterator[str]:
    question = card.question
    if isinstance(question, OpenQuestion):
        yield from ("A full answer", "")
        yield from _list_lines(f"- {_escape_line(point.says)}" for point in question.key_points)
        yield from (_escape_text(question.model_answer), "")
        return
    parts = [_escape_line(part) for part in right_answer_lines(question)]
    yield from [f"**{parts[0]}**", ""] if len(parts) == 1 else _list_lines(f"- {part}" for part in parts)
    yield from (_escape_text(question.explain), "")
    yield from _list_lines(
        f"- {_escape_line(answer)}: {_escape_line(text)}" for answer, text in wrong_answers(bank, question)
    )
    yield from _fence(question.prove, "python")


def _list_lines(lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    yield from [*found, ""] if found else []


def _fence(code: str, language: str) -> Iterator[str]:
    if code:
        fence = "````" if "```" in code else "```"
        yield from (f"{fence}{language}", code, fence, "")


def _escape_text(text: str) -> str:
    """Escape paragraphs and lists for Markdown, except `code`."""
    pieces = enumerate(_CODE.split(text.strip()))
    return "".join(each if at % 2 else _BEGINS.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", each)) for at, each in pieces)


def _escape_line(text: str) -> str:
    """Escape a text, and put it into one line."""
    return _escape_text(" ".join(text.split()))
