"""Who handed in what in a Gradescope export: its submission_metadata.yml, of which a few keys are read.

Read by hand, line by line: PyYAML's CSafeLoader takes 12 times as long (2.5 s for 500 submissions with their results).
Ruby's YAML writer puts one key on a line, with its value, which goes on below it only if it is long:

    submission_1234:
      :submitters:
      - :name: Ann Lee
        :sid: '3031'
        :email: ann@example.edu
      :created_at: 2026-03-01 10:00:00.000000000 Z
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from grader.intake.formats.yaml_scalar import MAX_FOLDED, MAX_VALUE_CHARS, read_scalar
from grader.model.person_id import fold_id

METADATA = "submission_metadata.yml"
MAX_METADATA_BYTES = 128 << 20  # it holds every autograder result
MAX_SUBMITTERS = 50
_KEY = re.compile(r"^( {0,8})(- )?:?([a-z_]{1,40}):(?: (.*))?$")
_FOLDER = re.compile(r"^([^\s:#'\"][^\s:]{0,200}|'[^']{1,200}'|\"[^\"]{1,200}\"): *$")


@dataclass(frozen=True)
class Submitter:
    """A person of a submission."""

    name: str = ""
    sid: str = ""
    email: str = ""


@dataclass
class GradescopeSubmission:
    """A folder of the export: who handed it in, and when, in seconds since 1970.

    `unread` is what stands in the place of a time and is none, and its line.
    """

    submitters: list[Submitter]
    submitted: float | None = None
    unread: tuple[str, int] | None = None


def read_metadata(text: str) -> dict[str, GradescopeSubmission]:
    """Return each folder's submission; lines that are not understood are skipped."""
    found: dict[str, GradescopeSubmission] = {}
    current, inside, fields = GradescopeSubmission([]), False, dict[str, str]()
    lines = text.split("\n")  # splitlines() knows other line ends, which may stand in what a learner has printed
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r")
        if folder := _FOLDER.match(line):
            _close(current, fields)
            current, inside = found.setdefault(folder[1].strip("'\""), GradescopeSubmission([])), False
            continue
        key = _KEY.match(line)
        if key is None:
            continue
        indent, dash, name, value = len(key[1]), key[2], key[3], (key[4] or "").strip()
        if indent == 2 and not dash:
            _close(current, fields)
            inside = name == "submitters"
            if name == "created_at":
                when = read_scalar(value)
                current.submitted = _seconds(when)
                is_told = current.submitted is None and (when or value.startswith(("!", "*")))
                current.unread = (value[:MAX_VALUE_CHARS], number) if is_told else None
        elif inside and indent == (2 if dash else 4):  # what lies deeper is the text of a name in several lines
            if dash:
                _close(current, fields)
            if name in ("name", "sid", "email"):
                fields[name] = read_scalar(value, lines[number : number + MAX_FOLDED])
    _close(current, fields)
    return found


def drop_shared_numbers(submissions: Iterable[GradescopeSubmission]) -> list[str]:
    """Take away each student's number that stands with several addresses, or is another's; return those numbers.

    Students may write their own number: with another's, theirs would be the newer attempt of that person.
    """
    submissions = list(submissions)
    addresses: dict[str, set[str]] = {}
    numbers: dict[str, str] = {}
    for one in (one for each in submissions for one in each.submitters if one.email):
        number = fold_id(one.sid)  # by which people are told apart from here on: `03031` is 3031
        addresses.setdefault(number, set()).add(fold_id(one.email))
        numbers.setdefault(number, one.sid.strip())
    known = set().union(*addresses.values()) if addresses else set()
    shared = {sid for sid, found in addresses.items() if sid and (len(found) > 1 or {sid} & (known - found))}
    for each in submissions:
        stripped = (replace(one, sid=one.sid.strip()) for one in each.submitters)
        each.submitters = [
            replace(one, sid="") if one.email and fold_id(one.sid) in shared else one for one in stripped
        ]
    return sorted(numbers[sid] for sid in shared)


def _close(current: GradescopeSubmission, fields: dict[str, str]) -> None:
    """Add the submitter whose lines have ended."""
    if fields and len(current.submitters) < MAX_SUBMITTERS:
        current.submitters.append(Submitter(**fields))
    fields.clear()


def _seconds(text: str) -> float | None:
    """Parse a time as Ruby writes it, `2026-03-01 10:00:00.000000000 Z`, with its fraction cut to microseconds."""
    moment = re.sub(r"(\.\d{1,6})\d*", r"\1", re.sub(" (?:Z|UTC)$", "+00:00", text))
    moment = re.sub(r" ([+-]\d\d:?\d\d)$", r"\1", moment)
    try:
        when = datetime.fromisoformat(moment)
        return when.timestamp() if when.tzinfo else None
    except (ValueError, OverflowError):
        return None
