"""Read the quiz logs that learners hand in: one JSON object a line, each an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from grader.errors import UsageError
from grader.model import CERTAINTIES, SCHEMA

T = TypeVar("T")
FORMAT = "selfattend-quiz-log"
MAX_LINE_CHARS = 100_000
MAX_NAME_CHARS = 200
MAX_NAMES = 200  # in a list
NEXT_STEP = "ask for a file written by learn quiz log --out FILE"


@dataclass(frozen=True)
class LoggedAnswer:
    """One answer of one learner."""

    learner: str
    n: int  # position in the learner's log, from 1
    family: str
    topic: str
    kind: str
    variant: int
    first: bool
    credit: float
    certainty: str
    tags: tuple[str, ...]
    seconds: float
    drawn: tuple[tuple[str, str], ...]  # names and values
    offered: tuple[str, ...]  # misconceptions among the options


def log_files(paths: Sequence[Path]) -> list[Path]:
    """List the files, and every `.jsonl` below the folders. Raises UsageError."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        if not inside:
            raise UsageError("there is no .jsonl file in this folder", where=str(path), next_step=NEXT_STEP)
        found += inside
    return list(dict.fromkeys(found))


def read_logs(files: Sequence[Path]) -> list[LoggedAnswer]:
    """Return every answer once, learner by learner in the order of their logs; two exports of one learner are one.

    Raises UsageError with the file and line of what is no such log.
    """
    found: dict[LoggedAnswer, None] = {}
    for file in files:
        before = len(found)
        found |= dict.fromkeys(_read(file))
        if len(found) == before and not _has_lines(file):
            raise UsageError("there is no answer in this file", where=str(file), next_step=NEXT_STEP)
    return sorted(found, key=lambda answer: (answer.learner, answer.n))


def _has_lines(file: Path) -> bool:
    return any(line.strip() for line in file.read_text(encoding="utf-8-sig").split("\n"))


def _read(file: Path) -> Iterator[LoggedAnswer]:
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _answer(line, f"{file}:{number}")
    except OSError as error:
        raise UsageError(f"the log cannot be read: {error.strerror}", where=str(file), next_step=NEXT_STEP) from None
    except UnicodeDecodeError:
        raise UsageError("the log is not text in UTF-8", where=str(file), next_step=NEXT_STEP) from None


def _answer(line: str, where: str) -> LoggedAnswer:
    try:
        if len(line) > MAX_LINE_CHARS:
            raise ValueError("the line is too long")
        return _parse(json.loads(line))
    except (ValueError, RecursionError) as error:
        what = "no JSON" if isinstance(error, (json.JSONDecodeError, RecursionError)) else str(error)
        raise UsageError(f"this line is no answer of a quiz: {what}", where=where, next_step=NEXT_STEP) from None


def _parse(data: Any) -> LoggedAnswer:
    """Read the object of a line. Raises ValueError."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f'"format" is not "{FORMAT}"')
    if data.get("schema") != SCHEMA:
        raise ValueError(f'"schema" is not {SCHEMA}: it was written by another version')
    if data.get("certainty") not in (*CERTAINTIES, ""):
        raise ValueError('"certainty" is none of guess, fairly, sure')
    return LoggedAnswer(
        learner=_name(data, "learner"),
        n=int(_number(data, "n", 1, 10**9)),
        family=_name(data, "family"),
        topic=_name(data, "topic"),
        kind=_name(data, "kind"),
        variant=int(_number(data, "variant", 1, 10**9)),
        first=_get(data, "first", bool, "is neither true nor false"),
        credit=_number(data, "credit", 0, 1),
        certainty=data["certainty"],
        tags=_names(data, "tags"),
        seconds=_number(data, "seconds", 0, 1e9),
        drawn=_drawn(data),
        offered=_names(data, "offered"),
    )


def _get(data: dict[str, Any], key: str, kind: type[T], complaint: str) -> T:
    value = data.get(key)
    if not isinstance(value, kind):
        raise ValueError(f'"{key}" {complaint}')
    return value


def _name(data: dict[str, Any], key: str) -> str:
    value = _get(data, key, str, "is no name")
    if not 0 < len(value) <= MAX_NAME_CHARS or not value.isprintable():
        raise ValueError(f'"{key}" is no name')
    return value


def _names(data: dict[str, Any], key: str) -> tuple[str, ...]:
    values: list[Any] = _get(data, key, list, "is no list of names")
    if len(values) > MAX_NAMES:
        raise ValueError(f'"{key}" is no list of names')
    return tuple(_name({key: value}, key) for value in values)


def _number(data: dict[str, Any], key: str, low: float, high: float) -> float:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
        raise ValueError(f'"{key}" is no number from {low:g} to {high:g}')
    return float(value)


def _drawn(data: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    values: dict[str, Any] = _get(data, "drawn", dict, "is no table of values")
    if len(values) > MAX_NAMES:
        raise ValueError('"drawn" is no table of values')
    plain = {name: str(value) for name, value in values.items() if isinstance(value, (str, int))}
    if any(len(name) > MAX_NAME_CHARS or len(value) > MAX_NAME_CHARS for name, value in plain.items()):
        raise ValueError('"drawn" has a value that is too long')
    return tuple(plain.items())
