"""Render what simulated learners say of a course's questions, for `grader items --simulate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grader.terminal.console import paint, wrap

BEHAVIOURS = {"guess": "guess what they do not know", "?": "type ? where they do not know"}


def simulation_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a table of bias and coverage, and how often findings on facets are right."""
    yield paint(f"{found['learners']} simulated learners each, who", "strong")
    for questions in dict.fromkeys(row["questions"] for row in found["scores"]):
        for unsure, says in BEHAVIOURS.items():
            scores, facets = (
                [row for row in found[name] if row["questions"] == questions and row["unsure"] == unsure]
                for name in ("scores", "facets")
            )
            yield from ("", f"{says}: {questions} questions", paint("  true    bias   +/-  coverage  width", "quiet"))
            for row in scores:
                bias = f"{row['bias']:>+6.2f}  {row['error']:.2f}"
                yield f"  {row['true']:>4.1f}  {bias}  {row['coverage']:>8.2f}  {row['width']:>5.1f}"
            for row in facets:
                yield f"  facets: found in {row['right']:.0%}, something wrong in {row['wrong']:.1%}"
    yield ""
    legend = (
        "bias: score minus what is known of all topics, in points of 10. +/-: its standard error. coverage: how often "
        "the 90% interval holds that. facets: of a learner who knows 0.9 of why, 0.35 of maths and 0.6 of the rest."
    )
    yield paint(wrap(legend), "quiet")
