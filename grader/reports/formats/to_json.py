"""Results as JSON: one object, keys as the README documents them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from grader.model import SCHEMA, LessonResult


def to_json(result: LessonResult) -> str:
    """The object for one lesson."""
    return dump(result.to_dict())


def lessons_to_json(results: Iterable[LessonResult]) -> str:
    """The object for several lessons: `{"schema": 1, "lessons": {NAME: the object for one}}`."""
    return dump({"schema": SCHEMA, "lessons": {result.lesson: result.to_dict() for result in results}})


def dump(content: dict[str, Any]) -> str:
    """Any of our objects as text. ASCII only: whatever the stream's encoding, it arrives as it was sent."""
    return json.dumps(content, indent=2, allow_nan=False)
