"""A hand-in on its way to another process: its content, so that nobody else need be able to read the submissions."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from grader.intake.hand_in import HandIn


def pack(hand_in: HandIn) -> dict[str, Any]:
    """Plain data that JSON can hold."""
    files = {_name(path): base64.b64encode(content).decode() for path, content in hand_in.files.items()}
    return {"files": files, "notes": list(hand_in.notes), "problem": hand_in.problem}


def unpack(data: Mapping[str, Any]) -> HandIn:
    """What `pack` was given; its digest is the same."""
    files = {_path(name): base64.b64decode(content) for name, content in data["files"].items()}
    return HandIn(files, list(data["notes"]), data["problem"])


def _name(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").hex()  # a file's name need not be text


def _path(name: str) -> str:
    return bytes.fromhex(name).decode("utf-8", "surrogateescape")
