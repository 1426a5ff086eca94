"""The item table of a quiz as a page. `table` is the object of `grader items --json`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from grader.reports.html_document import render
from grader.reports.statistics.quiz_item_analysis import FLAGS


def quiz_items_page(table: Mapping[str, Any], says: Mapping[str, str]) -> str:
    """The page. `says` completes "You ..." for each misconception that the course knows."""
    flagged = [
        {"says": text, "rows": [item for item in table["items"] if flag in item["flags"]]}
        for flag, text in FLAGS.items()
    ]
    return render("quiz_items", {
        "table": table,
        "says": says,
        "when": datetime.now(UTC).date().isoformat(),
        "flagged": [each for each in flagged if each["rows"]],
    })  # fmt: skip
