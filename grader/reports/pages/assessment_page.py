"""Make the page of a learner's assessment: four numbers, topics, facets, calibration, history, what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from grader.model.picture import Picture
from grader.reports.formats.picture_html import pictures_to_html
from grader.reports.html_document import render

WIDTH, HEIGHT, MARGIN = 320, 220, 34


def assessment_page(
    assessment: Mapping[str, Any], course: str, pictures: Mapping[str, Sequence[Picture]] | None = None
) -> str:
    """Return the page; `assessment` is the object of `learn report --json`, `pictures` are by lesson."""
    from markupsafe import Markup

    figures = {name: Markup(pictures_to_html(each)) for name, each in (pictures or {}).items() if each}
    return render("assessment", assessment_view(assessment, course, "base.html.j2") | {"pictures": figures})


def assessment_view(assessment: Mapping[str, Any], course: str, layout: str) -> dict[str, Any]:
    """Return what the page shows; `layout` is the template that it stands in."""
    return {
        "layout": layout,
        "links": {},  # what does in the pages of `learn web` what a command does
        "pictures": {},
        "course": course,
        "when": datetime.now(UTC).date().isoformat(),
        "assessment": assessment,
        "topics": [topic | {"shown": _label(topic)} for topic in (*assessment["topics"], *assessment["also"])],
        "calibration": _calibration(assessment["certainty"]),
        "past": _past(assessment["history"]),
        "size": {"width": WIDTH, "height": HEIGHT, "margin": MARGIN},
    }


def _label(topic: Mapping[str, Any]) -> str:
    if not topic["covered"]:
        return "too few to say"
    return "mastered" if topic["mastered"] else str(topic["so_far"] or topic["label"])


def _x(share: float) -> float:
    return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)


def _y(share: float) -> float:
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)


def _calibration(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Place a point for each certainty: across what it means, up how often it was right."""
    points = []
    for row in rows:
        if row["answers"]:
            x, y, radius = _x(row["meant"]), _y(row["right"] / row["answers"]), round(4 + min(8, row["answers"] / 5), 1)
            points.append({"x": x, "y": y, "r": radius, "line": _y(row["meant"]), **row})
    return points


def _past(history: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Place the sessions in order: the predicted score and the real one, as heights."""
    last = len(history) - 1
    points = []
    for index, each in enumerate(history):
        heights = {"predicted_y": _y(each["predicted"] / 10), "scored_y": _y(each["scored"] / 10)}
        points.append({"x": _x(index / last if last else 0.5), **heights, "day": each["when"][:10], **each})
    return points
