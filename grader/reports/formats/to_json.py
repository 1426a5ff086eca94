"""Write results as one JSON object, with the keys that docs/json.md documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from grader.model import SCHEMA, LessonResult


def to_json(result: LessonResult) -> str:
    """Write the object for one lesson."""
    return dump(result.to_dict())


def lessons_to_json(results: Iterable[LessonResult]) -> str:
    """Write the object for several lessons: `{"schema": 1, "lessons": {NAME: the object for one}}`."""
    return dump({"schema": SCHEMA, "lessons": {result.lesson: result.to_dict() for result in results}})


def dump(content: dict[str, Any]) -> str:
    """Write an object as text; ASCII only, so that the stream's encoding does not matter."""
    return json.dumps(content, indent=2, allow_nan=False)
