"""A hand-in as JSON data, so that the process that grades it need not be able to read the submissions."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from grader.intake.hand_in import HandIn


def pack(hand_in: HandIn) -> dict[str, Any]:
    """Return plain data that JSON can hold; names, which need not be text, are in hexadecimal."""
    files = {
        path.encode("utf-8", "surrogateescape").hex(): base64.b64encode(content).decode()
        for path, content in hand_in.files.items()
    }
    return {"files": files, "notes": list(hand_in.notes), "problem": hand_in.problem}


def unpack(data: Mapping[str, Any]) -> HandIn:
    """Return the hand-in that `pack` was given, with the same digest."""
    files = {
        bytes.fromhex(name).decode("utf-8", "surrogateescape"): base64.b64decode(content)
        for name, content in data["files"].items()
    }
    return HandIn(files, list(data["notes"]), data["problem"])
