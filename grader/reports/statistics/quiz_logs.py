"""Read the quiz logs that learners hand in: one JSON object a line, each an answer.

A learner wrote the file, and may have written anything. So a file is one learner, whoever its lines name: nobody can
add learners to a class, or answers to the log of somebody else. A line that is no answer costs that line.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from grader.errors import UsageError
from grader.files import read_whole
from grader.model import CERTAINTIES, SCHEMA
from grader.model.validate import parse_json
from grader.terminal.text import plural

T = TypeVar("T")
FORMAT = "selfattend-quiz-log"
MAX_LOGS = 10_000
MAX_LINE_CHARS = 100_000
MAX_ANSWERS = 20_000  # of one learner
MAX_NAME_CHARS = 200
MAX_NAMES = 30  # in a list
MAX_FAMILIES = 1_000  # of all logs together: several times as many as a course has
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


Log = dict[int, LoggedAnswer]  # by number
Facts = set[tuple[object, ...]]


class LeftOut(NamedTuple):
    """What was not counted: a file with a line, or a learner, and why."""

    where: str
    why: str


class Logs(NamedTuple):
    """The answers of a class, and what was left out."""

    answers: list[LoggedAnswer]
    left_out: tuple[LeftOut, ...]


def log_files(paths: Sequence[Path]) -> list[Path]:
    """List the files, and every `.jsonl` below the folders: at most MAX_LOGS. Raises UsageError."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
        if not inside:
            raise UsageError("there is no .jsonl file in this folder", where=str(path), next_step=NEXT_STEP)
        found += inside
    found = list(dict.fromkeys(found))
    if len(found) > MAX_LOGS:
        what = f"there are {len(found)} logs; {MAX_LOGS} are read at once"
        raise UsageError(what, where=str(path), next_step="name the folder of one class")
    return found


def read_logs(files: Sequence[Path]) -> Logs:
    """Return every answer once, learner by learner in the order of their logs.

    Of two exports of one log the longer one counts. A log that contradicts another one of the same learner is read as
    that of somebody else. Raises UsageError, with the file and the line, if there is no answer at all.
    """
    left_out: list[LeftOut] = []
    found: dict[str, list[tuple[Log, Facts]]] = {}  # the logs of each learner
    for log in sorted((_read(file, left_out) for file in files), key=len, reverse=True):
        learner, facts = next(iter(log.values())).learner if log else "", _facts(log)
        known = found.setdefault(learner, [])
        if log and not any(facts <= others for _, others in known):
            known.append((log, facts))
    found.pop("", None)
    if not found and left_out:
        raise UsageError(left_out[0].why, where=left_out[0].where, next_step=NEXT_STEP)
    answers: list[LoggedAnswer] = []
    for learner, logs in found.items():
        for number, (log, _) in enumerate(logs, 1):
            name = learner if number == 1 else f"{learner}\n{number}"  # which no log can say
            answers += [replace(answer, learner=name) for answer in log.values()]
        if len(logs) > 1:
            left_out.append(LeftOut(learner, f"{len(logs)} logs that contradict each other have this id"))
    answers = _of_common_families(answers, left_out)
    return Logs(sorted(answers, key=lambda answer: (answer.learner, answer.n)), tuple(left_out))


def _of_common_families(answers: list[LoggedAnswer], left_out: list[LeftOut]) -> list[LoggedAnswer]:
    """Leave out the families that the fewest learners answered, where there are more than any course has."""
    learners = Counter(family for family, _ in {(answer.family, answer.learner) for answer in answers})
    common = dict(sorted(learners.items(), key=lambda item: (-item[1], item[0]))[:MAX_FAMILIES])
    if rare := len(learners) - len(common):
        left_out.append(LeftOut("the logs together", f"{plural(rare, 'question')} that the fewest learners answered"))
    return [answer for answer in answers if answer.family in common]


def _facts(log: Log) -> Facts:
    """Return what every export of a log says alike, whatever became of the questions in between."""
    return {(a.n, a.family, a.variant, a.first, a.credit, a.certainty, a.seconds) for a in log.values()}


def _read(file: Path, left_out: list[LeftOut]) -> Log:
    """Read the answers of a log, by their numbers; what is none of the learner on its first line is left out."""
    try:
        content = read_whole(file)
    except OSError as error:
        left_out.append(LeftOut(str(file), f"the log cannot be read: {error.strerror}"))
        return {}
    log: Log = {}
    bad: list[LeftOut] = []
    for number, line in enumerate(io.BytesIO(content), 1):
        try:
            if line.strip():
                _add(log, _parse_line(line.decode("utf-8-sig")))
        except ValueError as error:
            bad.append(LeftOut(f"{file}:{number}", f"this line is no answer of a quiz: {error}"))
    if len(bad) > 1:
        bad = [bad[0]._replace(why=f"{bad[0].why} (and {len(bad) - 1} more lines)")]
    left_out += bad or ([] if log else [LeftOut(str(file), "there is no answer in this file")])
    return log


def _add(log: Log, answer: LoggedAnswer) -> None:
    """Add an answer to its learner's log. Raises ValueError."""
    if len(log) == MAX_ANSWERS:
        raise ValueError(f"there are more than {MAX_ANSWERS}")
    if any(first.learner != answer.learner for first in islice(log.values(), 1)):
        raise ValueError("it is another learner's than the first line")
    if answer.n in log and log[answer.n] != answer:
        raise ValueError(f"there are two with the number {answer.n}")
    log[answer.n] = answer


def _parse_line(line: str) -> LoggedAnswer:
    if len(line) > MAX_LINE_CHARS:
        raise ValueError("the line is too long")
    try:
        data = parse_json(line)
    except ValueError:
        raise ValueError("no JSON") from None
    return _parse(data)


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
