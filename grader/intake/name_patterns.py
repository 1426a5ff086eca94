"""Whose a hand-in is, by the name that a learning platform gave it: `--names canvas|moodle|gradescope|REGEX`.

The forms are those of the platforms' code: Canvas, lib/content_zipper.rb; Moodle, mod/assign/classes/downloader.php.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.errors import UsageError

PLATFORMS = ("canvas", "moodle", "gradescope")
GROUPS = ("id", "name", "attempt", "late", "file")
LONGEST = 255  # characters of a name that is looked at; file systems take no more bytes than that
EXAMPLES = {
    "canvas": "leeann_LATE_1234_5678_softmax.py",
    "moodle": "Ann Lee_1234_assignsubmission_file_",
    "gradescope": "submission_1234",
}
JUDGED = " was judged; "
UNDECIDED = ", so none was taken."
HOW = "give canvas, moodle, gradescope, or a regular expression: --names '(?P<id>[^_]+)_(?P<file>.+)'"


@dataclass(frozen=True)
class Claim:
    """What a name says: whose the hand-in is, and what it is called inside it.

    `keys` are other ids of the same person, to find them in a roster. With `joins`, several files of one id and attempt
    are one hand-in; else they are several. `renamed` files may have had a number added to their names. `when` orders
    attempts that have no number. `together` are the ids of the others of a group.
    """

    id: str
    name: str = ""
    keys: tuple[str, ...] = ()
    attempt: int | None = None
    late: bool = False
    file: str = ""
    joins: bool = False
    renamed: bool = False
    when: float | None = None
    together: tuple[str, ...] = field(default_factory=tuple)


class NamePattern:
    """How names are to be read. `NamePattern.parse(text)` makes one of what `--names` was given."""

    def __init__(self, text: str, read: Callable[[Sequence[str]], list[Claim | None]]) -> None:
        self.text = text
        self._read = read

    @classmethod
    def parse(cls, text: str) -> NamePattern:
        """The pattern of a platform, or of a regular expression that has to match a whole name. Raises UsageError."""
        known = text.strip().lower()
        one = {"canvas": canvas, "moodle": moodle, "gradescope": gradescope}.get(known)
        if one is not None:
            return cls(known, lambda names: [one(name) if len(name) <= LONGEST else None for name in names])
        return cls(text, _of_expression(text))

    def read(self, names: Sequence[str]) -> list[Claim | None]:
        """What each name says; None for one that is not of this form. Raises UsageError where a regular expression
        takes too long."""
        return self._read(names)

    def matches_any(self, names: Sequence[str]) -> bool:
        """Whether at least one of the names is of this form."""
        return any(self.read(names))

    @property
    def form(self) -> str:
        """The form in words, for messages."""
        example = EXAMPLES.get(self.text)
        return f"as {self.text.capitalize()} names them ({example})" if example else f"matched whole by {self.text}"


def canvas(name: str) -> Claim | None:
    """`lastfirst_LATE_USER_ATTACHMENT_file.py`; `anon_x7Kq2_ATTACHMENT_file.py` where grading is anonymous; for what
    was typed into Canvas, `lastfirst_USER_text.html` or `_link.html`. A name never holds "_digits_"."""
    words = name.split("_")
    for place, word in list(enumerate(words[:-1]))[1:]:  # the first is the name, even if that is a number
        anonymous = words[place - 1] == "anon"
        if not (_is_number(word) or (anonymous and word.isalnum())):
            continue
        has_file = place + 2 < len(words) and _is_number(words[place + 1])
        if not has_file and words[place + 1 :] not in (["text.html"], ["link.html"]):
            continue
        before = words[: place - anonymous]
        late = len(before) > (not anonymous) and before[-1].upper() == "LATE"
        file = "_".join(words[place + 2 :]) if has_file else words[-1]
        owner = f"anon_{word}" if anonymous else word
        when = float(words[place + 1][:15]) if has_file else None  # attachments are numbered as they come in
        return Claim(
            owner, "_".join(before[:-1] if late else before), late=late, file=file, joins=True, renamed=True, when=when
        )
    return None


def moodle(name: str) -> Claim | None:
    """`Full Name_PARTICIPANT_assignsubmission_file_`, a folder, or the same with the file's name after it. A group's
    own number stands in the place of a participant's; the default group has none. Names hold no "_"."""
    owner, mark, rest = name.partition("_assignsubmission_")
    if not mark or not owner:
        return None
    full, _, number = owner.rpartition("_")
    if not (full and _is_number(number)):
        full, number = owner, owner
    return Claim(number, full.strip(), file=rest.partition("_")[2], joins=True)


def gradescope(name: str) -> Claim | None:
    """`submission_NUMBER`, a folder; who handed it in stands in submission_metadata.yml beside it."""
    word, _, number = name.partition("_")
    if word != "submission" or not _is_number(number.partition(".")[0]):
        return None
    return Claim(number.partition(".")[0], when=float(number.partition(".")[0][:15]))


def platform_of(names: Sequence[str]) -> str:
    """The platform whose names nearly all of these are; empty if there is none."""
    for platform in PLATFORMS:
        found = [claim for claim in NamePattern.parse(platform).read(names) if claim]
        if len(names) > 1 and len(found) >= 0.8 * len(names):
            return platform
    return ""


def original_names(files: Sequence[str]) -> list[str]:
    """The names that files had before Canvas told them apart; empty for one of which a newer upload is there.

    A learner who hands in softmax.py a third time has it renamed softmax-2.py; from the eighth on, a UUID takes the
    number's place. So of softmax.py and softmax-1.py the latter is the newer upload. Names that nothing stands beside
    that they could be an upload of, such as part-1.py and part-2.py, are the learner's own.
    """
    plain = uploads_of(files)
    newest = {name: max(_upload(file) for file, its in zip(files, plain, strict=True) if its == name) for name in plain}
    names = []
    for file, name in zip(files, plain, strict=True):
        if plain.count(name) > 1 and name in files:
            names.append(name if _upload(file) == newest[name] else "")
        else:
            names.append(name if plain.count(name) == 1 else file)
    return names


def uploads_of(files: Sequence[str]) -> list[str]:
    """The name that each file could be an upload of."""
    return [_RENAMED.sub(r"\1\3", file) for file in files]


def judged(taken: str, others: Sequence[str]) -> str:
    """What is said where several files could have been meant."""
    return f"{taken}{JUDGED}{', '.join(others)} {'was' if len(others) == 1 else 'were'} not."


def _upload(file: str) -> tuple[int, str]:
    """What orders the uploads of one file: UUIDs come after all numbers, and say nothing of their own order."""
    found = _RENAMED.match(file)
    number = found[2] if found else "0"
    return (int(number) if len(number) < 3 else 100, file)


_RENAMED = re.compile(r"^(.+?)-(\d{1,2}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})((?:\.[A-Za-z][A-Za-z0-9]*)+)$")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _of_expression(text: str) -> Callable[[Sequence[str]], list[Claim | None]]:
    try:
        groups = re.compile(text).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"--names {text} is no regular expression: {error}", next_step=HOW) from None
    if "id" not in groups:
        close = _guess(text) if text.isalpha() else ""
        raise UsageError(f"--names {text} has no group (?P<id>...){close}", next_step=HOW)
    if unknown := sorted(set(groups) - set(GROUPS)):
        what = f"--names {text} has a group {unknown[0]}; there are {', '.join(GROUPS)}"
        raise UsageError(what, next_step=HOW)

    def read(names: Sequence[str]) -> list[Claim | None]:
        from grader.intake.expression import match_all

        found = match_all(text, [name if len(name) <= LONGEST else "" for name in names])
        return [_claim(groups, "file" in groups) if groups else None for groups in found]

    return read


def _guess(text: str) -> str:
    import difflib  # here: only a mistyped name needs it

    close = difflib.get_close_matches(text.lower(), PLATFORMS, 1)
    return f", and is none of the platforms; did you mean {close[0]}?" if close else ", and is none of the platforms"


def _claim(groups: dict[str, str], has_file: bool) -> Claim | None:
    if not groups.get("id"):
        return None
    number = groups.get("attempt") or ""
    return Claim(
        groups["id"],
        groups.get("name") or "",
        attempt=int(number) if _is_number(number) and len(number) < 10 else None,
        late=bool(groups.get("late")),
        file=groups.get("file") or "",
        joins=has_file,
    )
