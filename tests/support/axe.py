"""What axe finds in a page that keeps people out."""

from __future__ import annotations

from typing import Any

import pytest


def faults(page: Any, *rules: str) -> list[str]:
    """What axe finds that keeps people out, by all of its rules, serious and critical; by these rules all of it."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install -e '.[dev]'")
    options: dict[str, Any] = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found = axe.Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for each in found
        if rules or each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
