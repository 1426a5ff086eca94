"""The assessment of one learner as a page: three numbers, topics, calibration, history, what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from grader.reports.html_document import render

WIDTH, HEIGHT, MARGIN = 320, 220, 34


def assessment_page(assessment: Mapping[str, Any], course: str) -> str:
    """The page. `assessment` is the object of `learn report --json`."""
    topics = [topic for topic in (*assessment["topics"], *assessment["also"])]
    return render("assessment", {
        "course": course,
        "when": datetime.now(UTC).date().isoformat(),
        "assessment": assessment,
        "topics": [topic | {"shown": _label(topic)} for topic in topics],
        "calibration": _calibration(assessment["certainty"]),
        "past": _past(assessment["history"]),
        "size": {"width": WIDTH, "height": HEIGHT, "margin": MARGIN},
    })  # fmt: skip


def _label(topic: Mapping[str, Any]) -> str:
    if not topic["covered"]:
        return "too few to say"
    return "mastered" if topic["mastered"] else str(topic["label"])


def _x(share: float) -> float:
    return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)


def _y(share: float) -> float:
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)


def _calibration(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A point for each certainty: what it is taken to mean across, how often it was right up."""
    return [
        {"x": _x(row["meant"]), "y": _y(row["right"] / row["answers"]), "r": round(4 + min(8, row["answers"] / 5), 1),
         "line": _y(row["meant"]), **row}
        for row in rows if row["answers"]
    ]  # fmt: skip


def _past(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sittings in order: what was predicted and what came out, as heights."""
    last = max(1, len(history) - 1)
    return [
        {"x": _x(place / last) if len(history) > 1 else _x(0.5), "predicted_y": _y(each["predicted"] / 10),
         "scored_y": _y(each["scored"] / 10), "day": each["when"][:10], **each}
        for place, each in enumerate(history)
    ]  # fmt: skip
