"""A class list: a CSV file whose columns are found by their headings.

Canvas and Moodle gradebooks, Moodle grading worksheets and Gradescope rosters can be used as they are exported.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import UsageError
from grader.files import at, decode_table, read_bounded, resolved
from grader.model.person_id import MAX_ID_CHARS, find_logins, fold_id, why_incomparable

MAX_ROSTER_BYTES = 32 << 20
MAX_LINES_SHOWN = 5  # line numbers in one note, and notes of a kind

# Headings in lower case, without signs, by what their columns hold. The first id found names a person in the results;
# Canvas's "ID" and Moodle's "Identifier" are also in the names of files.
# fmt: off
IDS = (
    "id", "identifier", "learner", "learnerid", "canvasid", "canvasuserid", "userid", "studentid", "studentnumber",
    "sid", "idnumber", "matriculationnumber", "matrikelnummer", "orgdefinedid", "sisuserid", "number",
)
LOGINS = ("login", "loginid", "sisloginid", "username", "user", "netid", "uni", "github", "githubusername", "account")
# fmt: on
EMAILS = ("email", "emailaddress", "mail", "emailadresse")
NAMES = ("name", "fullname", "student", "studentname", "displayname", "vollständigername")
FIRST, LAST = ("firstname", "givenname", "vorname"), ("lastname", "surname", "familyname", "nachname")
WHOSE = ("id", "identifier", "login", "email", "name", "first", "last")  # kinds of columns that say who it is
SECTIONS = ("section", "sections", "group", "groups", "class")
ROLES = ("role", "roles")
NOT_PEOPLE = ("points possible", "student, test", "test student")  # lines that Canvas adds
STAFF = ("instructor", "ta", "teacher", "reader", "staff", "teaching assistant", "observer")
HEADINGS = "name its columns in the first line, for example: id,name,email"
QUOTES = "export the list anew: a quotation mark may be left open"


@dataclass(frozen=True)
class Person:
    """A line of the roster. `keys` are all its ids, folded for comparison."""

    id: str
    name: str
    keys: frozenset[str]
    section: str = ""
    line: int = 0


@dataclass(frozen=True)
class Roster:
    """The people of a class, in the order of the file; `notes` say what was wrong with the file."""

    people: tuple[Person, ...]
    notes: tuple[str, ...] = ()
    _by_key: dict[str, Person] = field(default_factory=dict, repr=False, compare=False)
    _by_name: dict[str, list[Person]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(cls, path: Path) -> Roster:
        """Read a roster. Raises UsageError if the file cannot be read or holds no ids."""
        rows, notes = _rows(path)
        columns = _columns(rows[0][1], path)
        people, more = _people(rows[1:], columns, path)
        if not people:
            raise UsageError("the roster names nobody", where=str(path), next_step=HEADINGS)
        first = {fold_id(person.id): person for person in people}
        others, shared = _index((key, person) for person in people for key in sorted(person.keys) if key not in first)
        taken = first.keys() | others.keys() | shared.keys()
        logins = find_logins((key, person) for person in people for key in sorted(person.keys))
        weak, _ = _index((key, person) for key, person in logins if key not in taken | {""})
        alone, alike = _index((form, person) for person in people for form in _forms(person.name))
        by_name = {**{form: [person] for form, person in alone.items()}, **alike}
        common = [
            f"{_name_lines([one.line for one in owners])} of the roster have {key!a} in common: nobody is found by it."
            for key, owners in shared.items()
        ]
        more += _first_of(common)
        return cls(tuple(people), (*notes, *more), {**weak, **others, **first}, by_name)

    def find(self, ids: Iterable[str]) -> Person | None:
        """Return the owner of the first id that is known; None if there is none."""
        return next((self._by_key[key] for key in map(fold_id, ids) if key in self._by_key), None)

    def find_by_name(self, name: str) -> Person | None:
        """Return the only person of that name, ignoring signs and the order of words."""
        people = self.find_all_by_name(name)
        return people[0] if len(people) == 1 else None

    def find_all_by_name(self, name: str) -> Sequence[Person]:
        """Return all people of that name, ignoring signs and the order of words."""
        form = "".join(_words(name))
        return self._by_name.get(form, ()) if form else ()


def _rows(path: Path) -> tuple[list[tuple[int, list[str]]], list[str]]:
    """Return the lines that are not empty, with their numbers, and notes."""
    text, notes = _text(path)
    text = text.replace("\0", "")
    heading = next((line for line in text.splitlines() if line.strip()), "")
    said = re.fullmatch(r"sep=(.)\s*", heading, re.IGNORECASE)  # as Excel writes and reads it
    delimiter = said[1] if said else max(",;\t|", key=heading.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows, empty = [], []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append((reader.line_num, [cell.strip() for cell in row]))
            else:
                empty.append(reader.line_num)
    except csv.Error as error:
        raise UsageError(
            f"line {reader.line_num} of the roster is no CSV: {error}", where=str(path), next_step=QUOTES
        ) from None
    del rows[: bool(said)]
    if not rows:
        raise UsageError("the roster is empty", where=str(path), next_step=HEADINGS)
    inner = [line for line in empty if line < rows[-1][0]]
    return rows, [*notes, *([f"{_name_lines(inner)} of the roster: empty, passed over."] if inner else [])]


def _text(path: Path) -> tuple[str, list[str]]:
    try:
        raw = read_bounded(resolved(path), MAX_ROSTER_BYTES + 1)
    except OSError as error:
        what = f"the roster cannot be read: {getattr(error, 'strerror', None) or error}"
        raise UsageError(what, where=str(path), next_step="give the path of a CSV file with --roster") from None
    if len(raw) > MAX_ROSTER_BYTES or raw[:4] == b"PK\3\4":
        what = "the roster is no CSV file" if len(raw) <= MAX_ROSTER_BYTES else "the roster is larger than 32 MB"
        raise UsageError(what, where=str(path), next_step="save the class list as CSV")
    try:
        decoded = decode_table(raw)
    except UnicodeDecodeError:
        what = "the roster cannot be read as text"
        raise UsageError(what, where=str(path), next_step="export the list anew") from None
    note = decoded.note("The roster")
    return decoded.text.removeprefix("\ufeff"), [note] if note else []


def _columns(heading: Sequence[str], path: Path) -> dict[str, list[int]]:
    """Return the column numbers of each kind of heading, preferred ones first."""
    plain = [re.sub(r"[\W_]+", "", cell.casefold()) for cell in heading]
    kinds = {"login": LOGINS, "email": EMAILS, "name": NAMES, "first": FIRST, "last": LAST, "section": SECTIONS}
    kinds |= {"id": IDS, "identifier": ("identifier",), "role": ROLES}
    found = {kind: [plain.index(known) for known in headings if known in plain] for kind, headings in kinds.items()}
    if not (found["id"] or found["login"] or found["email"]):
        shown = ", ".join(cell for cell in heading if cell)[:200]
        what = f"the roster has no column of ids, logins or e-mail addresses; its columns are: {shown}"
        raise UsageError(what, where=str(path), next_step=HEADINGS)
    return found


def _people(
    rows: Sequence[tuple[int, list[str]]], columns: dict[str, list[int]], path: Path
) -> tuple[list[Person], list[str]]:
    people: dict[str, Person] = {}
    notes, without = [], []
    for line, row in rows:
        if _is_remark(line, row, columns, path):
            without.append(line)
            continue
        person = _person(line, row, columns)
        if person is None:
            continue
        if not person.id:
            without.append(line)
        elif (first := people.get(fold_id(person.id))) is not None:
            where = f"{person.id!a} stands in line {first.line} already"
            notes.append(f"Line {line} of the roster: {where}; that one counts.")
        else:
            people[fold_id(person.id)] = person
    notes = _first_of(notes)
    if without:
        notes.append(f"{_name_lines(without)} of the roster: no id, passed over.")
    return list(people.values()), notes


def _is_remark(line: int, row: Sequence[str], columns: dict[str, list[int]], path: Path) -> bool:
    """Return True for a long text where nothing else says who it is, such as a platform's last line.

    Raises UsageError for an id or name of which comparisons would see a part alone: it may be another's.
    """
    read = {column for kind in WHOSE for column in columns[kind] if column < len(row)}
    whose = [row[column] for column in sorted(read) if row[column]]
    what = next(filter(None, map(why_incomparable, whose)), "")
    if what and len(whose) > 1:
        raise UsageError(what, where=at(path, line), next_step="correct it, or export the list anew")
    return bool(what)


def _person(line: int, row: Sequence[str], columns: dict[str, list[int]]) -> Person | None:
    """Return the person of a line; None for staff and lines that a platform adds."""

    def cells(kind: str) -> list[str]:
        return [row[column][:MAX_ID_CHARS] for column in columns[kind] if column < len(row) and row[column]]

    for column in columns["identifier"]:  # Moodle writes "Participant 12", in the language of the site
        if column < len(row) and (number := re.search(r"\d+$", row[column])):
            row = [*row[:column], number[0], *row[column + 1 :]]
    name = next(iter(cells("name")), "") or " ".join(cells("first")[:1] + cells("last")[:1])
    if name.casefold() in NOT_PEOPLE or any(role.casefold() in STAFF for role in cells("role")):
        return None
    keys = [*cells("id"), *cells("login"), *cells("email")]
    if not keys and not name:
        return None
    return Person(keys[0] if keys else "", name, frozenset(map(fold_id, keys)), ", ".join(cells("section")), line)


def _index(pairs: Iterable[tuple[str, Person]]) -> tuple[dict[str, Person], dict[str, list[Person]]]:
    """Split keys into those of one person and those that several share."""
    owners: dict[str, dict[str, Person]] = defaultdict(dict)
    for key, person in pairs:
        owners[key][person.id] = person
    alone = {key: people.popitem()[1] for key, people in owners.items() if len(people) == 1}
    return alone, {key: list(people.values()) for key, people in owners.items() if people}


def _forms(name: str) -> set[str]:
    """Return a name as file names may have it: "Lee, Ann Marie" is leeannmarie or annmarielee."""
    words = _words(name)
    return {"".join(words[turn:] + words[:turn]) for turn in range(min(len(words), 8))}


def _words(name: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", name[:MAX_ID_CHARS]).casefold()
    return re.findall(r"[^\W_]+", plain[:MAX_ID_CHARS])


def _first_of(notes: list[str]) -> list[str]:
    """Return the first notes of a kind, and how many more there are."""
    rest = len(notes) - MAX_LINES_SHOWN
    return notes if rest <= 0 else [*notes[:MAX_LINES_SHOWN], f"The same holds for {rest} more lines of the roster."]


def _name_lines(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:MAX_LINES_SHOWN])) + (", ..." if len(lines) > MAX_LINES_SHOWN else "")
    return f"Line{'s' if len(lines) > 1 else ''} {shown}"
