"""Whose a hand-in is, by its name: `--names PLATFORM|REGEX`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from grader.errors import UsageError
from grader.intake.learner import Entry
from grader.intake.platform_names import MAX_NAME_LENGTH, PLATFORMS, is_number, parse_time

GROUPS = ("id", "name", "attempt", "when", "late", "file")
MATCH_SECONDS = 20.0  # for all names together; ten thousand take far less than one
EXAMPLES = {
    "canvas": "leeann_LATE_1234_5678_softmax.py",
    "moodle": "Ann Lee_1234_assignsubmission_file_",
    "gradescope": "submission_1234",
    "blackboard": "Homework 1_annlee_attempt_2026-11-20-10-00-00_softmax.py",
    "brightspace": "1234-567 - Ann Lee - Nov 20, 2026 1015 AM - softmax.py",
}
JUDGED = " was judged; "
UNDECIDED = ", so none was taken."
HOW = f"give {', '.join(PLATFORMS)}, or a regular expression: --names '(?P<id>[^_]+)_(?P<file>.+)'"
_UPLOAD = re.compile(r"^(.+?)-(\d{1,2}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})((?:\.[A-Za-z][A-Za-z0-9]*)+)$")
_MATCH_PROGRAM = """
import json, re, sys
text, names = json.load(sys.stdin)
pattern = re.compile(text)
for name in names:
    found = pattern.fullmatch(name)
    print(json.dumps(found and found.groupdict()), flush=True)
"""


class NamePattern:
    """How names are to be read; `NamePattern.parse` makes one from the text of `--names`.

    `read(names)` returns what each name says, None for one of another form. It raises UsageError if a regular
    expression takes too long.
    """

    def __init__(self, text: str, read: Callable[[Sequence[str]], list[Entry | None]]) -> None:
        self.text = text
        self.read = read

    @classmethod
    def parse(cls, text: str) -> NamePattern:
        """Make the pattern of a platform, or of a regular expression for whole names. Raises UsageError."""
        known = text.strip().lower()
        one = PLATFORMS.get(known)
        if one is not None:
            return cls(known, lambda names: list(map(one, names)))
        has_file = "file" in _check_expression(text)
        return cls(text, lambda names: _read_expression(text, names, has_file))

    def matches_any(self, names: Sequence[str]) -> bool:
        """Return True if at least one of the names is of this form."""
        return any(self.read(names))

    @property
    def form(self) -> str:
        """The form in words, for messages."""
        example = EXAMPLES.get(self.text)
        return f"as {self.text.capitalize()} names them ({example})" if example else f"matched whole by {self.text}"


def guess_platform(names: Sequence[str]) -> str:
    """Return the platform that at least 80 % of the names are from; empty if there is none."""
    for platform in PLATFORMS:
        found = [entry for entry in NamePattern.parse(platform).read(names) if entry]
        if len(names) > 1 and len(found) >= 0.8 * len(names):
            return platform
    return ""


def guess_expression(names: Sequence[str], lessons: Collection[str]) -> str:
    """Return the option for names such as ada_softmax.py, if somebody's name stands before two lessons; else empty."""
    files = rf"(?:{'|'.join(sorted(lessons))})\.(?:py|ipynb)"
    owners = [found[1] for name in names if lessons and (found := re.fullmatch(rf"(.+?)[_-]{files}", name))]
    return f"--names '(?P<id>.+?)[_-](?P<file>{files})'" if len(set(owners)) < len(owners) else ""


# --- several uploads of one file --------------------------------------------------------------------------------------


def original_names(files: Sequence[str]) -> list[str]:
    """Return the names that files had before Canvas renamed them; empty where a newer upload is there.

    Canvas renames the third upload of softmax.py to softmax-2.py; from the eighth on, a UUID takes the number's place.
    So softmax-1.py is newer than softmax.py beside it. Numbered names without such a neighbour, part-1.py and
    part-2.py, are the learner's.
    """
    plain = upload_names(files)
    uploads: dict[str, list[str]] = defaultdict(list)
    for file, name in zip(files, plain, strict=True):
        uploads[name].append(file)
    newest = {name: max(its, key=_upload_order) for name, its in uploads.items()}
    as_uploaded = set(files)
    names = []
    for file, name in zip(files, plain, strict=True):
        if len(uploads[name]) > 1 and name in as_uploaded:
            names.append(name if file == newest[name] else "")
        else:
            names.append(name if len(uploads[name]) == 1 else file)
    return names


def upload_names(files: Sequence[str]) -> list[str]:
    """Return for each file the name of which it could be an upload."""
    return [_UPLOAD.sub(r"\1\3", file) for file in files]


def _upload_order(file: str) -> tuple[int, str]:
    """Return a sort key of the uploads of one file: UUIDs follow all numbers; their own order is unknown."""
    found = _UPLOAD.match(file)
    number = found[2] if found else "0"
    return (int(number) if len(number) < 3 else 100, file)


def choice_note(taken: str, others: Sequence[str]) -> str:
    """Say which of several possible files was judged."""
    return f"{taken}{JUDGED}{', '.join(others)} {'was' if len(others) == 1 else 'were'} not."


# --- regular expressions ----------------------------------------------------------------------------------------------


def _check_expression(text: str) -> set[str]:
    """Return the names of an expression's groups. Raises UsageError."""
    try:
        groups = re.compile(text).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"--names {text} is no regular expression: {error}", next_step=HOW) from None
    if "id" not in groups:
        guess = _suggest_platform(text) if text.isalpha() else ""
        raise UsageError(f"--names {text} has no group (?P<id>...){guess}", next_step=HOW)
    if unknown := sorted(set(groups) - set(GROUPS)):
        what = f"--names {text} has a group {unknown[0]}; there are {', '.join(GROUPS)}"
        raise UsageError(what, next_step=HOW)
    return set(groups)


def _suggest_platform(text: str) -> str:
    import difflib  # here: only a mistyped name needs it

    close = difflib.get_close_matches(text.lower(), PLATFORMS, 1)
    return ", and is none of the platforms" + (f"; did you mean {close[0]}?" if close else "")


def _read_expression(text: str, names: Sequence[str], has_file: bool) -> list[Entry | None]:
    """Return what the names say. Raises UsageError if `when` finds a time in none of them."""
    matches = _match_names(text, [name if len(name) <= MAX_NAME_LENGTH else "" for name in names])
    entries = [
        _read_groups(name, groups, has_file) if groups else None for name, groups in zip(names, matches, strict=True)
    ]
    dated = [
        (name, groups["when"]) for name, groups in zip(names, matches, strict=True) if groups and groups.get("when")
    ]
    if dated and all(entry is None or entry.submitted is None for entry in entries):
        what = f"--names finds no time in {dated[0][1]!a}, which is the group when of {dated[0][0]!a}"
        raise UsageError(what, next_step="let (?P<when>...) match a date such as 2026-11-20-10-00")
    return entries


def _read_groups(name: str, groups: dict[str, str], has_file: bool) -> Entry | None:
    """Return what the groups say; attempts that are no numbers are ordered as times, else as text."""
    if not (groups.get("id") or "").strip():
        return None
    attempt, when = groups.get("attempt") or "", groups.get("when") or ""
    submitted = parse_time(when or attempt)
    numbered = is_number(attempt) and len(attempt) < 10
    return Entry(
        name,
        owner=groups["id"],
        owner_name=groups.get("name") or "",
        attempt=int(attempt) if numbered else None,
        attempt_name=when if numbered or not attempt else attempt,
        late=bool(groups.get("late")),
        file=groups.get("file") or "",
        joins=has_file,
        submitted=submitted if when or not numbered else None,
    )


def _match_names(text: str, names: Sequence[str]) -> list[dict[str, str] | None]:
    """Match names, which learners chose, in a process that can be stopped: Python cannot stop a match that has begun.

    Raises UsageError if all of them take longer than MATCH_SECONDS.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _MATCH_PROGRAM],
            input=json.dumps([text, list(names)]),
            capture_output=True,
            timeout=MATCH_SECONDS,
            check=True,
            encoding="ascii",
        )
    except subprocess.TimeoutExpired as late:
        seen = len((late.stdout or b"").splitlines())
        what = f"--names {text} takes too long on the name {names[min(seen, len(names) - 1)]!a}"
        next_step = "write it without a repetition inside a repetition, such as (a+)+"
        raise UsageError(what, next_step=next_step) from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise UsageError(f"--names {text} cannot be used: {error}", next_step="write a simpler expression") from None
    return [json.loads(line) for line in done.stdout.splitlines()]
