"""Reads GIFT as Moodle documents it: comments, categories, names, formats, answers with weights, feedback, escapes.

It shares nothing with what writes the format, so that the two can be held against each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

_ESCAPED = re.compile(r"\\([\\~=#{}:n])")
_WEIGHT = re.compile(r"%(-?\d+(?:\.\d+)?)%")
_HELD = re.compile("[\ue000-\ue0ff]")


@dataclass
class Question:
    """One question. `answers` are (weight in percent, answer, feedback); of a match (left, right)."""

    id: str
    name: str
    kind: str
    text: str
    answers: list[Any] = field(default_factory=list)
    feedback: str = ""
    category: str = ""
    tags: list[str] = field(default_factory=list)


def read(text: str) -> list[Question]:
    """Every question of a file. Raises ValueError for what Moodle would refuse."""
    found, category = [], ""
    for block in re.split(r"\n[ \t]*\n", text.strip()):
        lines = block.split("\n")
        comments = [line for line in lines if line.lstrip().startswith("//")]
        body = _hold("\n".join(line for line in lines if not line.lstrip().startswith("//")).strip())
        if body.startswith("$CATEGORY:"):
            category = _give(body.removeprefix("$CATEGORY:").strip())
        elif body:
            question = _question(body)
            question.category = category
            question.id = next(iter(re.findall(r"\[id:([^\]]*)\]", " ".join(comments))), "")
            question.tags = re.findall(r"\[tag:([^\]]*)\]", " ".join(comments))
            found.append(question)
    return found


def _hold(text: str) -> str:
    """Escaped signs as characters of the private area, which mean nothing."""
    return _ESCAPED.sub(lambda match: chr(0xE000 + ord(match[1])), text)


def _give(text: str) -> str:
    return _HELD.sub(lambda match: {"n": "\n"}.get(chr(ord(match[0]) - 0xE000), chr(ord(match[0]) - 0xE000)), text)


def _formatted(text: str) -> tuple[str, str]:
    """The format and the text."""
    named = re.match(r"\s*\[(html|plain|moodle|markdown)\]", text)
    return (named[1], _give(text[named.end() :]).strip()) if named else ("", _give(text).strip())


def _question(body: str) -> Question:
    named = re.match(r"::(.*?)::", body, re.DOTALL)
    if not named or body.count("{") != 1 or body.count("}") != 1 or not body.endswith("}"):
        raise ValueError(f"no question: {body[:200]}")
    asked, _, inside = body[named.end() : -1].partition("{")
    answers, _, feedback = inside.partition("####")
    question = Question("", _give(named[1]), "", _formatted(asked)[1], feedback=_formatted(feedback)[1])
    answers = answers.strip()
    if not answers:
        question.kind = "essay"
    elif answers.startswith("#"):
        question.kind, question.answers = "numerical", [_number(each) for each in _split(answers[1:], "=")]
    elif "~" in answers:
        question.kind, question.answers = "choice", [_option(each) for each in re.split(r"(?=[~=])", answers) if each]
    elif "->" in answers:
        question.kind = "match"
        question.answers = [
            (_formatted(left)[1], _give(right.strip()))
            for left, arrow, right in (each.partition("->") for each in _split(answers, "="))
            if arrow
        ]
    else:
        question.kind, question.answers = "short", [_weighted(each) for each in _split(answers, "=")]
    _check(question)
    return question


def _split(text: str, sign: str) -> list[str]:
    parts = text.split(sign)
    if parts[0].strip():
        raise ValueError(f"something stands before the first answer: {text[:80]}")
    return [part.strip() for part in parts[1:]]


def _option(text: str) -> tuple[float, str, str]:
    right = text[0] == "="
    weight, answer, feedback = _weighted(text[1:].strip(), 100.0 if right else 0.0)
    return weight, answer, feedback


def _weighted(text: str, weight: float = 100.0) -> tuple[float, str, str]:
    stated = _WEIGHT.match(text)
    if stated:
        weight, text = float(stated[1]), text[stated.end() :]
    answer, _, feedback = text.partition("#")
    return weight, _formatted(answer)[1], _formatted(feedback)[1]


def _number(text: str) -> tuple[float, tuple[float, float], str]:
    weight, answer, feedback = _weighted(text)
    value, _, tolerance = answer.partition(":")
    return weight, (float(value), float(tolerance or 0)), feedback


# The shares of the credit that Moodle knows; an import with another one fails.
SHARES = (100, 90, 83.33333, 80, 75, 70, 66.66667, 60, 50, 40, 33.33333, 30, 25, 20, 16.66667, 14.28571, 12.5, 11.11111,
          10, 5, 0)  # fmt: skip


def _check(question: Question) -> None:
    if question.kind in ("choice", "short", "numerical"):
        weights = [weight for weight, _, _ in question.answers]
        if not all(any(abs(abs(weight) - share) < 1e-5 for share in SHARES) for weight in weights):
            raise ValueError(f"{question.name}: a share that Moodle does not know, of {weights}")
        if 100 not in weights and abs(sum(weight for weight in weights if weight > 0) - 100) > 0.01:
            raise ValueError(f"{question.name}: no way to full credit, of {weights}")
    if question.kind in ("choice", "match") and len(question.answers) < 2:
        raise ValueError(f"{question.name}: there must be two answers")
