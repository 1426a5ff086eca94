"""Who handed in what: a folder, a class's archive or a list of repositories to its learners. Nothing is run."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from grader.errors import SubmissionError, UsageError
from grader.intake.folder_listing import Entry, entries_of, read_file
from grader.intake.formats.class_zip import open_class
from grader.intake.formats.gradescope_metadata import LARGEST, METADATA, Submission, read_metadata
from grader.intake.formats.repositories import Listed, is_list, read_list
from grader.intake.group_attempts import Delivery, absent, gathered, joined, numbered
from grader.intake.limits import ARCHIVES
from grader.intake.name_patterns import Claim, NamePattern, platform_of
from grader.intake.roster import Roster, folded
from grader.intake.unique_ids import file_name, unique

MOST_NAMED = 8  # in one note


class Part(NamedTuple):
    """One of several files that together are one hand-in: its name there, and where it lies.

    `inside` is the name of the archive's member where `path` is an archive that holds many hand-ins.
    """

    name: str
    path: Path
    inside: str = ""


@dataclass(frozen=True)
class Learner:
    """One hand-in, and whose it is. `id` is its own in a run; `feedback` is the name of its files there.

    `kind` is "folder", "files" (its `parts`), "git" or a value of `bounds.KINDS`. Where `path` is the archive of a
    whole class, `inside` says which member, or which folder (with "/" at the end), is this hand-in. Of a repository
    `commit` is asked for, and what is not later than `before` (0: whenever). `together` are the ids of the others of a
    group, each of whom is a learner with the same hand-in. `notes` are what was said when it was found.
    """

    id: str
    path: Path
    kind: str
    feedback: str
    whose: str = ""
    name: str = ""
    attempt: int = 1
    late: bool = False
    parts: tuple[Part, ...] = ()
    inside: str = ""
    commit: str = ""
    before: int = 0
    together: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def learner(self) -> str:
        """The learner's id, the same for all their attempts."""
        return self.whose or self.id

    @property
    def source(self) -> str:
        """The name that the hand-in came with; of several files, that of the first and how many there are more."""
        name = self.inside.rstrip("/").rpartition("/")[2] or self.path.name
        return printable(name) + (f" and {len(self.parts) - 1} more" if len(self.parts) > 1 else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, to send to another process; `Learner.from_dict` is the way back."""
        parts = [[part.name, str(part.path), part.inside] for part in self.parts]
        lists = {"parts": parts, "together": list(self.together), "notes": list(self.notes)}
        return {**asdict(self), "path": str(self.path), **lists}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Learner:
        """A learner from what `to_dict` gave, or a part of it."""
        parts = tuple(Part(name, Path(path), inside) for name, path, inside in data.get("parts", ()))
        rest = {"together": tuple(data.get("together", ())), "notes": tuple(data.get("notes", ()))}
        return cls(**{**data, **rest, "path": Path(data["path"]), "parts": parts})


@dataclass
class Found:
    """What lay in a folder of submissions, in the order of its names.

    `ignored`: names of no known kind. With a roster, `missing` are its entries ({"id", "name"}) without a hand-in and
    `unlisted` the ids of hand-ins that it does not name. `older`: earlier attempts that are not graded. `notes`: what
    else the instructor should know of it.
    """

    learners: list[Learner] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    missing: tuple[dict[str, str], ...] = ()
    unlisted: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def discover(
    source: Path,
    leave_out: Path | None = None,
    *,
    names: NamePattern | None = None,
    roster: Roster | None = None,
    attempts: str = "newest",
    before: int = 0,
) -> Found:
    """The learners in `source`: a folder, the .zip of a class as it was downloaded, or a list of git repositories.

    Hidden entries and `leave_out` (where results go) are none. Without `names` each direct child is one learner, and
    an id is its name without its suffix, or with it where two would be the same; `names` says how to read ids, lateness
    and attempts out of the names. `roster` joins them to people. `attempts` is "newest" or "all"; `before` (seconds
    since 1970) takes of a repository the newest commit by then. Raises SubmissionError where `source` cannot be read
    or holds nobody, UsageError.
    """
    found = Found()
    deliveries, notes = _deliveries(source, leave_out, names, found)
    if not deliveries:
        raise _nobody(source, names, found)
    if roster:
        deliveries = joined(deliveries, roster)
        found.missing = absent(roster, deliveries)
        _require_somebody(source, deliveries, roster)
        notes += roster.notes
    found.learners = _learners(deliveries, attempts, before, found)
    if roster:
        known = {folded(one.id) for one in deliveries if one.listed}
        found.unlisted = tuple(learner.id for learner in found.learners if folded(learner.learner) not in known)
    found.notes = tuple(map(printable, notes))
    return found


def printable(name: str) -> str:
    """A name that any terminal, CSV and JSON can take: no control characters, no bytes that are no text."""
    name = name.encode("utf-8", "replace").decode("utf-8")
    return "".join("?" if unicodedata.category(letter)[0] == "C" else letter for letter in name)


# --- what lies there --------------------------------------------------------------------------------------------------


def _deliveries(
    source: Path, leave_out: Path | None, names: NamePattern | None, found: Found
) -> tuple[list[Delivery], list[str]]:
    """The hand-ins of a source, and notes; what is none goes to `found.ignored`."""
    if is_list(source):
        return _of_list(read_list(source), names), []
    if source.is_file() and not source.name.lower().endswith(".zip"):
        packed = source.name.lower().endswith(ARCHIVES)
        next_step = (
            f"tar -xf {source.name}" if packed else "name a folder, a .zip of all submissions, or a list of clones"
        )
        raise SubmissionError("this is no folder of submissions", where=str(source), next_step=next_step)
    entries = entries_of(source, leave_out, names.matches_any if names else None)
    notes = _outside(source)
    metadata = _metadata(entries) if names and names.text == "gradescope" else {}
    if names is None:
        claims = [(entry, Claim(entry.stem)) for entry in entries if entry.kind]
        found.ignored = [printable(entry.name) for entry in entries if not entry.kind]
        deliveries = [replace(one, certain=False) for one in gathered(claims)]
        platform = platform_of([entry.name for entry in entries])
        hint = f"The names look like a download from {platform.capitalize()}: with --names {platform} they are read so."
        return deliveries, [*([hint] if platform else []), *notes]
    read = list(zip(entries, names.read([entry.name for entry in entries]), strict=True))
    claimed = [(entry, one) for entry, claim in read for one in _claims(entry, claim, metadata)]
    there = {entry.name for entry, _ in claimed} | ({METADATA} if metadata else set())
    found.ignored = [printable(entry.name) for entry in entries if entry.name not in there]
    lost = names.text == "gradescope" and not metadata
    note = f"There is no {METADATA} beside the folders: ids are Gradescope's numbers of submissions."
    unread = [entry.name for entry, _ in claimed if not entry.kind]
    if unread:
        notes.append(f"Left out of hand-ins, being no Python file, notebook or archive: {_some(unread)}.")
    return gathered(claimed), [*([note] if lost else []), *notes]


def _outside(source: Path) -> list[str]:
    """What to say of names in a class's archive that could lead elsewhere."""
    names = open_class(source).outside if source.is_file() else []
    return [f"Left out: {_some(names)}: {'its name leads' if len(names) == 1 else 'their names lead'} out of the "
            "archive."] if names else []  # fmt: skip


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _metadata(entries: Sequence[Entry]) -> dict[str, Submission]:
    """What Gradescope says of the folders, if its file lies among them."""
    entry = next((entry for entry in entries if entry.name == METADATA), None)
    try:
        raw = read_file(entry.path, entry.inside, LARGEST, lambda text: None) if entry else None
    except OSError:
        return {}
    return read_metadata((raw or b"").decode("utf-8", "replace"))


def _claims(entry: Entry, claim: Claim | None, metadata: Mapping[str, Submission]) -> list[Claim]:
    """Whose an entry is: everybody's who handed it in, where Gradescope says who did."""
    said = metadata.get(entry.name)
    if said is None or not said.submitters:
        return [claim] if claim else []
    ids = [one.sid or one.email or one.name for one in said.submitters]
    return [
        Claim(own, one.name, keys=tuple(filter(None, (one.sid, one.email))), when=said.when,
              together=tuple(other for other in ids if other != own))
        for own, one in zip(ids, said.submitters, strict=True)
        if own
    ]  # fmt: skip


def _of_list(listed: Sequence[Listed], names: NamePattern | None) -> list[Delivery]:
    """The repositories of a list. Without an id of its own, a repository is called as its folder."""
    folders = [one.path.name.removesuffix(".git") for one in listed]
    claims = names.read(folders) if names else [None] * len(listed)
    deliveries = []
    for one, folder, claim in zip(listed, folders, claims, strict=True):
        said = Claim(one.id) if one.id else claim or Claim(folder)
        entry = Entry(folder, one.path, "git")
        (delivery,) = gathered([(entry, replace(said, file=""))])
        deliveries.append(replace(delivery, certain=bool(one.id or claim), commit=one.commit))
    return deliveries


def _nobody(source: Path, names: NamePattern | None, found: Found) -> SubmissionError:
    if names and found.ignored:
        what = f"none of the {len(found.ignored)} names here is {names.form}; the first is {found.ignored[0]}"
        return SubmissionError(what, where=str(source), next_step="give another --names, or none")
    return SubmissionError(
        "there are no submissions in this folder: no folder, .py, .ipynb, .zip or .tar.gz",
        where=str(source),
        next_step="name the folder whose direct children are the learners' hand-ins",
    )


def _require_somebody(source: Path, deliveries: Sequence[Delivery], roster: Roster) -> None:
    """Raises UsageError if the roster names none of them: it is another class's, or has other ids."""
    if not any(one.listed for one in deliveries):
        what = (f"None of the hand-ins is of anybody in the roster: there ids are such as {roster.people[0].id!a}, "
                f"here such as {deliveries[0].id!a}")  # fmt: skip
        next_step = "give the list of this class with --roster, say with --names how hand-ins are named, or leave "
        raise UsageError(what, where=str(source), next_step=f"{next_step}--roster out")


# --- their ids --------------------------------------------------------------------------------------------------------


def _learners(deliveries: Sequence[Delivery], attempts: str, before: int, found: Found) -> list[Learner]:
    """The learners to grade, each with an id and a file name of its own; older attempts go to `found.older`."""
    if attempts not in ("newest", "all"):
        raise UsageError(f"--attempts {attempts} is not known", next_step="give --attempts newest or --attempts all")
    rows = numbered(deliveries)
    if attempts == "newest":
        found.older = tuple(
            printable(f"{one.id}@{number} ({one.first.name})") for one, number, newest in rows if not newest
        )
        rows = [row for row in rows if row[2]]
    whose = [printable(one.id) for one, _, _ in rows]
    wanted = [
        f"{owner}@{number}" if attempts == "all" else owner for owner, (_, number, _) in zip(whose, rows, strict=True)
    ]
    ids = unique(wanted, [printable(one.first.name) for one, _, _ in rows])
    files = [file_name(own) for own in ids]
    files = unique(files, files, fold=True)
    return [
        _learner(one, ids[place], files[place], whose[place] if attempts == "all" else "", number, before)
        for place, (one, number, _) in enumerate(rows)
    ]


def _learner(one: Delivery, own: str, file: str, whose: str, attempt: int, before: int) -> Learner:
    entry = one.first
    alone = len(one.entries) == 1 and entry.kind in ("folder", "git", "zip", "tar")
    written_as = len(one.entries) == 1 and one.entries[0][0] == entry.name
    parts = () if alone or written_as else tuple(Part(name, each.path, each.inside) for name, each in one.entries)
    kind = entry.kind if len(one.entries) == 1 and entry.kind else "files"
    together = tuple(map(printable, one.together))
    notes = (*one.notes, *([f"Handed in together with {', '.join(together)}."] if together else []))
    return Learner(
        own, entry.path, kind, file, whose if whose != own else "", printable(one.name), attempt, one.late, parts,
        entry.inside, one.commit, before if kind == "git" else 0, together, notes,
    )  # fmt: skip
