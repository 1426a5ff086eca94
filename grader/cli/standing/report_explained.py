"""`learn report --explain`: show every mark that counts, and the arithmetic from the marks to the score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.cli.learn.next_step import section
from grader.model import DONT_KNOW
from grader.quiz.assessment.assessment import TRAP_COSTS
from grader.quiz.assessment.evidence import PRACTICE
from grader.quiz.assessment.scoring import MIN_ITEMS, SCALE, SHORT_OF_ALL, SLIP, SLIPS_WIDTH, SPREAD, Z90
from grader.terminal.console import paint, wrap
from grader.terminal.text import plural

Topic = Mapping[str, Any]

IN_SHORT = (
    "In short: your score is the share of what you were asked that you know, from 0 to 10, after what guessing alone "
    "would have earned is taken off. The range beside it is where your score would lie nine times in ten if you were "
    "asked other questions. Below stands every answer that counts, and each sum, so that you can do it again."
)
WHAT_COUNTS = (
    "Every answer that a program checked counts if it was the first try in its session, unless a question that asks "
    f"the same was answered less than {PRACTICE.total_seconds() / 3600:.0f} hours before: that is practice. Of several "
    "that count the latest does. What you mark yourself, and exercises, never count here."
)
FADING = (
    "An answer weighs 1 until FSRS has its question due again, and then its recall probability, in parts of the 0.9 on "
    "that day, as if every answer had been right: after a first answer 1.00 for 2 days, 0.86 after ten, 0.74 after a "
    "month, 0.57 after half a year."
)
SYMBOLS = (
    "n is the sum of the weights, k that of the credits, each times its weight, g what guessing earns on average, and "
    "slip how often one who knows is wrong all the same. t estimates the share that is known: without any slip it is "
    "above 1, and where guesses fail more often than on average below 0. A ? has what guessing earns as its "
    "credit; u is the share of those: nothing was left to luck there. The number of a topic, a facet or a session is "
    f"{SCALE:g} t, from 0 to {SCALE:g}, and no more than {SHORT_OF_ALL} where anything was missed."
)


def explain_lines(assessment: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the explanation. Sums done by hand give the same numbers."""
    yield wrap(IN_SHORT)
    yield ""
    yield paint("What counts", "strong")
    yield wrap(WHAT_COUNTS, 2)
    yield wrap(FADING, 2)
    yield wrap(SYMBOLS, 2)
    topics = [topic for topic in (*assessment["topics"], *assessment["also"]) if topic["items"]]
    for topic in topics:
        yield ""
        yield from _topic(topic)
    yield ""
    yield from _overall(assessment)
    yield from section("What is asked for", _facets(assessment["facets"]))
    yield from section("Claimed", _claims(assessment))
    yield from section("Certainty", _certainty(assessment))
    yield from section("Weaknesses", _weaknesses(assessment["weaknesses"]))


def _topic(topic: Topic) -> Iterator[str]:
    yield paint(f"{topic['title']} ({topic['name']})", "strong")
    for mark in topic["marks"]:
        sure = f", {mark['certainty']}" if mark["certainty"] else ""
        tags = f"  [{', '.join(mark['tags'])}]" if mark["tags"] else ""
        asked = f"{mark['family']} #{mark['attempt']}, {mark['when'][:10]}"
        credit = "   ?" if mark["typed"] == DONT_KNOW else f"{mark['credit']:.2f}"
        yield f"  {credit}  guess {mark['guess']:.2f}  weight {mark['weight']:.2f}  {asked}{sure}{tags}"
    n, k, g = topic["weight"], topic["credit"], topic["guess"]
    yield paint(f"  n = {n:g}, k = {k:g}, g = {g:.4f}, u = {topic['unknown']:.4f}, slip = {SLIP}", "quiet")
    yield f"  {_share(topic)}"
    yield (
        f"  {topic['score']:.1f}, {topic['so_far'] or topic['label']}"
        if topic["covered"]
        else f"  not covered: {MIN_ITEMS} answers are needed"
    )


def _share(topic: Topic) -> str:
    """Show how t is computed of a topic, or of a facet."""
    n, k, g = topic["weight"], topic["credit"], topic["guess"]
    return f"t = (k/n - g) / (1 - g - slip) = ({k / n:.4f} - {g:.4f}) / {1 - g - SLIP:.4f} = {topic['share']:.4f}"


def _facets(facets: Sequence[Topic]) -> Iterator[str]:
    """Explain the number of each facet, of the same answers as those of the topics."""
    for each in facets:
        if each["score"] is not None:
            yield f"  {each['title']}: n = {each['weight']:g}, k = {each['credit']:g}"
            yield f"    {_share(each)}: {each['score']:.1f}"


def _overall(assessment: Mapping[str, Any]) -> Iterator[str]:
    yield paint("The score", "strong")
    covered = [topic for topic in assessment["topics"] if topic["covered"]]
    verified = assessment["verified"]
    if verified is None:
        yield wrap(f"There is none: {assessment['reason']}.", 2)
        return
    mean = min(1.0, max(0.0, sum(topic["share"] for topic in covered) / len(covered)))
    at_one = _variance(covered, 1.0)
    slips = (1 - mean) * math.exp(-(((1 - mean) ** 2 / SLIPS_WIDTH / at_one) ** 2))
    yield f"  m, the mean of t over {len(covered)} topics, from 0 to 1: {mean:.4f}"
    part = f"(1 - m) exp(-((1 - m)^2 / {SLIPS_WIDTH} / V(1))^2)"
    yield wrap(f"put down to slips: {part} = {slips:.4f}, with V(1) = {at_one:.6f}", 2)
    yield f"  {SCALE:g} x ({mean:.4f} + {slips:.4f}) = {verified['score']:.1f}"
    formula = "V(s) = sum of (p(1-p) - min(u, 1-s) g(1-g)) / n / (1 - g - slip)^2 / T^2, with p = g + (1 - g - slip) s"
    yield wrap(f"The 90% interval ends where m is {Z90} sqrt(V(s)) from s, or with the scale. {formula}.", 2)
    if verified["spread"]:
        left = f"(the share left out x the spread over topics, at least {SPREAD})^2"
        yield wrap(f"For topics without answers V has {verified['spread']:.6f} more: {left}.", 2)
    for name in ("low", "high"):
        share = verified[name] / SCALE
        apart = Z90 * math.sqrt(_variance(covered, share) + verified["spread"])
        yield f"  {name} {verified[name]:.1f}: {Z90} sqrt(V({share:.2f})) = {apart:.4f}; from m {abs(mean - share):.4f}"


def _variance(covered: Sequence[Topic], share: float) -> float:
    total = 0.0
    for topic in covered:
        g, scale = topic["guess"], 1 - topic["guess"] - SLIP
        p = g + scale * share
        total += (p * (1 - p) - min(topic["unknown"], 1 - share) * g * (1 - g)) / topic["weight"] / scale**2
    return total / len(covered) ** 2


def _claims(assessment: Mapping[str, Any]) -> Iterator[str]:
    """Explain how the marks of open answers make the claimed score."""
    for each in assessment["claims"]:
        marks = f"{each['yes']} yes, {each['partly']} partly, {each['no']} no"
        marks += f", {plural(each['traps'], 'trap')} at {TRAP_COSTS} points" * bool(each["traps"])
        yield wrap(f"{each['topic']}: {marks}: {each['share']:.4f}", 2)
    if shares := [each["share"] for each in assessment["claims"]]:
        answers = f"{plural(len(shares), 'open answer')} that you marked to the end"
        mean = f"{sum(shares) / len(shares):.4f}; times {SCALE:g}: {assessment['claimed']:.1f}"
        yield wrap(f"the mean over {answers}: {mean}", 2)


def _certainty(assessment: Mapping[str, Any]) -> Iterator[str]:
    rows = [row for row in assessment["certainty"] if row["answers"]]
    for row in rows:
        n, right = row["answers"], row["right"]
        stands = f"{row['certainty']}: stands for {row['meant']:.2f}"
        yield wrap(f"{stands}; {right} of {n} right: (p - right)^2 adds up to {row['errors']:.4f}", 2)
    if assessment["brier"] is not None:
        total = sum(row["answers"] for row in rows)
        yield f"  the sum divided by {total}: {assessment['brier']:.4f}, the Brier score"


def _weaknesses(weak: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in weak:
        sure = f", {each['sure']} with certainty" if each["sure"] else ""
        yield wrap(f"{each['id']}: you {each['says']} ({', '.join(each['families'])}{sure})", 2)
