"""Whether a model may suggest marks: how well it agrees with the marks of answers that were written to have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course.tables import Table, TomlText
from grader.errors import UsageError
from grader.files import read_file
from grader.quiz.bank.bank import Bank
from grader.quiz.judge.marks import UNSURE, Asks, judge
from grader.quiz.judge.prompt import METS

FILE = "judge/answers.toml"
SORTS = ("right", "wrong", "partial", "inverted", "injected")
LEAST_KAPPA = 0.6

Pairs = Sequence[tuple[str, str]]  # what is stated, what was suggested


@dataclass(frozen=True)
class Stated:
    """An answer, and for each key point of its question the mark that it was written to have."""

    id: str
    topic: str
    sort: str
    text: str
    points: dict[str, str]


def stated_answers(bank: Bank) -> list[Stated]:
    """The course's answers to test with. Raises UsageError where it has none, CourseError."""
    found = sorted(bank.lessons.glob(f"*/{FILE}"))
    if not found:
        raise UsageError(
            "this course has no answers to test a model with", where=str(bank.lessons), next_step="learn quiz"
        )
    return [_stated(bank, each) for path in found for each in _tables(path)]


def _tables(path: Path) -> list[Table]:
    table = TomlText(read_file(path), path).parse()
    table.only("answers")
    return table.tables("answers")


def _stated(bank: Bank, table: Table) -> Stated:
    table.only("id", "topic", "sort", "yes", "partly", "text")
    topic, sort = bank.topic(table.text("topic")), table.text("sort")
    if topic.open is None or sort not in SORTS:
        raise table.error(f'"{table.text("id")}" needs a topic with an open question, and one of {", ".join(SORTS)}')
    points = dict.fromkeys((point.id for point in topic.open.key_points), "no")
    for mark in ("yes", "partly"):
        for point in table.texts(mark) if mark in table.data else ():
            if point not in points:
                raise table.error(f'"{point}" is no key point of {topic.name}', mark, point)
            points[point] = mark
    return Stated(table.text("id"), topic.name, sort, table.text("text").strip(), points)


def selftest(
    model: Asks, bank: Bank, answers: Iterable[Stated], tell: Callable[[int, Stated], None] = lambda *_: None
) -> dict[str, Any]:
    """Have every answer marked: {"answers", "points", "agreement", "kappa", "passed", "unsure", "injections",
    "injections_passed", "sorts": {sort: {"points", "agreed"}}, "by_point": [...], "confusion": {stated: {met: n}}}.

    `tell` hears of each answer before it is sent, with its number. Raises GraderError.
    """
    rows: list[tuple[Stated, str, str, str]] = []  # answer, point, stated, suggested
    for number, answer in enumerate(answers, 1):
        tell(number, answer)
        question = bank.topic(answer.topic).open
        assert question is not None
        for suggestion in judge(model, question, answer.text).points:
            rows.append((answer, suggestion.id, answer.points[suggestion.id], suggestion.met))
    return _report(rows)


def _report(rows: Sequence[tuple[Stated, str, str, str]]) -> dict[str, Any]:
    pairs = [(stated, met) for _, _, stated, met in rows]
    value = kappa(pairs)
    # an injection has passed if a point that the answer does not make was marked as made
    injected = {answer.id for answer, _, _, _ in rows if answer.sort == "injected"}
    fooled = {
        answer.id for answer, _, stated, met in rows
        if answer.sort == "injected" and stated == "no" and met in ("yes", "partly")
    }  # fmt: skip
    by_point: dict[tuple[str, str], list[bool]] = {}
    by_sort: dict[str, list[bool]] = {sort: [] for sort in SORTS}
    for answer, point, stated, met in rows:
        by_point.setdefault((answer.topic, point), []).append(stated == met)
        by_sort[answer.sort].append(stated == met)
    counts = Counter(pairs)
    return {
        "answers": len({answer.id for answer, _, _, _ in rows}), "points": len(rows),
        "agreement": round(sum(stated == met for stated, met in pairs) / len(pairs), 4),
        "kappa": round(value, 4), "passed": value >= LEAST_KAPPA, "needed": LEAST_KAPPA,
        "unsure": sum(met == UNSURE for _, met in pairs),
        "injections": len(injected), "injections_passed": len(fooled),
        "sorts": {sort: {"points": len(found), "agreed": sum(found)} for sort, found in by_sort.items()},
        "by_point": [
            {"topic": topic, "point": point, "answers": len(found), "agreed": sum(found)}
            for (topic, point), found in by_point.items()
        ],
        "confusion": {stated: {met: counts[stated, met] for met in (*METS, UNSURE)} for stated in METS},
    }  # fmt: skip


def kappa(pairs: Pairs) -> float:
    """Cohen's kappa: agreement beyond what two who mark by chance with the same frequencies would reach.

    1 where both always say the same one thing. Raises ValueError without pairs.
    """
    if not pairs:
        raise ValueError("there is nothing to agree on")
    n = len(pairs)
    agreed = sum(one == other for one, other in pairs) / n
    ones, others = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(ones[mark] * others[mark] for mark in ones) / n**2
    return 1.0 if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)
