"""Make the page of a quiz's item analysis."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from grader.reports.html_document import render
from grader.reports.statistics.quiz_item_analysis import FLAGS


def quiz_items_page(table: Mapping[str, Any], says: Mapping[str, str]) -> str:
    """Return the page; `table` is the object of `grader items --json`, `says` completes "You ..." by misconception."""
    flagged = [
        {"says": text, "rows": [item for item in table["items"] if flag in item["flags"]]}
        for flag, text in FLAGS.items()
    ]
    context = {"table": table, "says": says, "when": datetime.now(UTC).date().isoformat()}
    return render("quiz_items", context | {"flagged": [each for each in flagged if each["rows"]]})
