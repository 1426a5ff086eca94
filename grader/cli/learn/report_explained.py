"""`learn report --explain`: show every mark that counts, and the arithmetic from the marks to the score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.cli.learn.next_step import section
from grader.quiz.assessment.evidence import EXERCISE_ITEMS
from grader.quiz.assessment.scoring import MIN_ITEMS, SCALE, SLIP, Z90
from grader.terminal.console import paint, wrap
from grader.terminal.text import plural

Topic = Mapping[str, Any]

WHAT_COUNTS = (
    "Every answer that a program checked counts if it was the first try in its sitting; of several first tries at one "
    f"question the latest. An exercise counts as {EXERCISE_ITEMS} answers, each with its share of points. What you "
    "mark yourself never counts here."
)
SYMBOLS = (
    "n is the number of answers, k the sum of their credits, g what guessing earns on average, and slip how often one "
    "who knows is wrong all the same. t is the share that is known, v its variance."
)


def explain_lines(assessment: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the explanation. Sums done by hand give the same numbers."""
    yield paint("What counts", "strong")
    yield wrap(WHAT_COUNTS, 2)
    yield wrap(SYMBOLS, 2)
    topics = [topic for topic in (*assessment["topics"], *assessment["also"]) if topic["items"]]
    for topic in topics:
        yield ""
        yield from _topic(topic)
    yield ""
    yield from _overall(assessment)
    yield from section("Claimed", _claims(assessment))
    yield from section("Certainty", _certainty(assessment))
    yield from section("Misconceptions shown by the latest answers", _weaknesses(assessment["weaknesses"]))


def _topic(topic: Topic) -> Iterator[str]:
    yield paint(f"{topic['title']} ({topic['name']})", "strong")
    for mark in topic["marks"]:
        sure = f", {mark['certainty']}" if mark["certainty"] else ""
        tags = f"  [{', '.join(mark['tags'])}]" if mark["tags"] else ""
        asked = f"{mark['family']} #{mark['attempt']}, {mark['when'][:10]}"
        yield f"  {mark['credit']:.2f}  guess {mark['guess']:.2f}  {asked}{sure}{tags}"
    for each in topic["exercises"]:
        yield f"  {each['share']:.2f}  guess 0.02  exercise {each['lesson']}, {EXERCISE_ITEMS} times"
    n, k, g = topic["items"], topic["credit"], topic["guess"]
    yield paint(f"  n = {n}, k = {k:g}, g = {g:.4f}, slip = {SLIP}", "quiet")
    yield f"  t = (k/n - g) / (1 - g - slip) = ({k / n:.4f} - {g:.4f}) / {1 - g - SLIP:.4f} = {topic['share']:.4f}"
    p = (k + 1) / (n + 2)
    yield f"  v = p(1-p)/n / (1 - g - slip)^2 with p = (k+1)/(n+2) = {p:.4f}: {topic['variance']:.6f}"
    yield f"  {topic['label']}" if topic["covered"] else f"  not covered: {MIN_ITEMS} answers are needed"


def _overall(assessment: Mapping[str, Any]) -> Iterator[str]:
    yield paint("The score", "strong")
    covered = [topic for topic in assessment["topics"] if topic["covered"]]
    verified = assessment["verified"]
    if verified is None:
        yield wrap(f"There is none: {assessment['reason']}.", 2)
        return
    mean = sum(topic["share"] for topic in covered) / len(covered)
    spread = math.sqrt(sum(topic["variance"] for topic in covered))
    half = Z90 * SCALE / len(covered) * spread
    yield f"  mean of t over {len(covered)} topics: {mean:.4f}; times {SCALE:g}: {SCALE * mean:.2f}"
    yield f"  90% interval: +- {Z90} x {SCALE:g} / {len(covered)} x sqrt({spread**2:.5f}) = {half:.2f}"
    yield f"  clipped to 0 and 10: {verified['score']:.1f} ({verified['low']:.1f} to {verified['high']:.1f})"


def _claims(assessment: Mapping[str, Any]) -> Iterator[str]:
    """Explain how the marks of open answers make the claimed score."""
    for each in assessment["claims"]:
        marks = f"{each['yes']} yes, {each['partly']} partly, {each['no']} no"
        yield wrap(f"{each['topic']}: {marks}: {each['share']:.4f}", 2)
    if shares := [each["share"] for each in assessment["claims"]]:
        answers = f"{plural(len(shares), 'open answer')} that you marked to the end"
        mean = f"{sum(shares) / len(shares):.4f}; times {SCALE:g}: {assessment['claimed']:.1f}"
        yield wrap(f"the mean over {answers}: {mean}", 2)


def _certainty(assessment: Mapping[str, Any]) -> Iterator[str]:
    rows = [row for row in assessment["certainty"] if row["answers"]]
    for row in rows:
        p, n, right = row["meant"], row["answers"], row["right"]
        errors = f"{right} x {(p - 1) ** 2:.4f} + {n - right} x {p**2:.4f}"
        yield wrap(f"{row['certainty']}: taken as {p}; {right} of {n} right: {errors}", 2)
    if assessment["brier"] is not None:
        total = sum(row["answers"] for row in rows)
        yield f"  the sum divided by {total}: {assessment['brier']:.4f}, the Brier score"


def _weaknesses(weak: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in weak:
        sure = f", {each['sure']} with certainty" if each["sure"] else ""
        yield wrap(f"{each['id']}: you {each['says']} ({', '.join(each['families'])}{sure})", 2)
