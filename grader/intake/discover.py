"""Who handed in what: a folder, a class's archive or a list of repositories to its learners. Nothing is run."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import SubmissionError, UsageError
from grader.files import at, is_file
from grader.intake.blackboard_users import MAX_RECEIPT_BYTES, find_users
from grader.intake.canvas_users import settle_users
from grader.intake.folder_listing import list_entries, read_file
from grader.intake.formats.class_zip import open_class
from grader.intake.formats.gradescope_metadata import (
    MAX_METADATA_BYTES,
    METADATA,
    GradescopeSubmission,
    drop_shared_numbers,
    read_metadata,
)
from grader.intake.formats.repositories import is_list, read_list
from grader.intake.group_attempts import (
    add_earlier,
    find_missing,
    group_entries,
    match_roster,
    name_mates,
    number_attempts,
)
from grader.intake.learner import Entry, Learner, join_some, printable, shorten
from grader.intake.limits import is_archive, is_artefact, is_noise
from grader.intake.name_patterns import NamePattern, guess_expression, guess_platform
from grader.intake.platform_names import has_several_times
from grader.intake.roster import Roster
from grader.intake.unique_ids import assign_ids
from grader.model import MAX_PEOPLE
from grader.model.person_id import fold_id

MAX_NAMES_SHOWN = 8  # in one note
DATES_NOTE = "--before goes by the dates in commits, which are what the committer's computer said: they prove nothing."
ALIKE = (
    "Names that differ in the suffix alone are each a hand-in by itself: {names}. If they are one person's, "
    "put them into one folder: ids are names without suffix, and can change between runs where those are equal."
)
SIDE_BY_SIDE = "Files named PERSON_LESSON are each a hand-in by itself; this joins those of one person:"
MERGE = "merge"
ATTEMPTS = (MERGE, "best", "last", "all")  # what becomes of one person's several hand-ins


@dataclass
class Discovery:
    """What lay in a folder of submissions, in the order of its names.

    `ignored` are names of no known kind. With a roster, `missing` are its people ({"id", "name"}) without a hand-in and
    `unlisted` the ids of hand-ins that it does not name. `older` are earlier attempts, which are not graded by
    themselves. `unread_times` are texts in the place of a time that are none, and where they stand. `notes` are for the
    instructor.
    """

    learners: list[Learner] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    missing: tuple[dict[str, str], ...] = ()
    unlisted: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    unread_times: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def discover(
    source: Path,
    leave_out: Path | None = None,
    *,
    names: NamePattern | None = None,
    roster: Roster | None = None,
    attempts: str = MERGE,
    before: int = 0,
    lessons: Collection[str] = (),
) -> Discovery:
    """Find the learners in a folder, in the .zip of a class as it was downloaded, or in a list of git repositories.

    Args:
        leave_out: The folder of the results, which is no hand-in; nor are hidden entries.
        names: How to read ids, lateness and attempts out of the names. Without it each direct child is one learner,
            whose id is its name without its suffix, or with it where two would be the same.
        roster: The people of the class, with whom hand-ins are matched.
        attempts: Of several hand-ins of one person: "merge" grades the newest file of each lesson, "best" takes the
            best score of each, "last" the last hand-in alone, and "all" grades each by itself.
        before: Of a repository, read the newest commit by then, in seconds since 1970; 0 for no limit.
        lessons: Their names, by which files of one person are known that lie side by side.

    Raises:
        SubmissionError: The source cannot be read, or holds no hand-in.
        UsageError: The options cannot be followed.
    """
    found = Discovery()
    learners = _find_hand_ins(source, leave_out, names, roster, found)
    if not names and (expression := guess_expression([one.first.name for one in learners], lessons)):
        found.notes = (f"{SIDE_BY_SIDE} {expression}", *found.notes)
    if before and is_list(source):
        found.notes = (*found.notes, DATES_NOTE)
    if not learners:
        raise _no_hand_ins(source, names, found)
    if roster:
        learners = match_roster(learners, roster)
        found.missing = find_missing(roster, learners)
        _require_listed(source, learners, roster)
        found.notes += roster.notes
    learners = name_mates(learners)
    found.learners = _choose_attempts(learners, attempts, before, found)
    if max(len(found.learners), len(found.missing)) > MAX_PEOPLE:
        what = f"these are more than {MAX_PEOPLE:,} people"
        raise UsageError(what, where=str(source), next_step="grade them in several runs, each into a folder of its own")
    if roster:
        found.unlisted = tuple(one.id for one in found.learners if not roster.find([one.learner]))
    found.notes = tuple(map(printable, found.notes))
    return found


# --- what is there ----------------------------------------------------------------------------------------------------


def _find_hand_ins(
    source: Path, leave_out: Path | None, names: NamePattern | None, roster: Roster | None, found: Discovery
) -> list[Learner]:
    """Return the hand-ins of a source. Everything else is added to *found*."""
    if is_list(source):
        return _read_repositories(source, names)
    if is_file(source) and not source.name.lower().endswith(".zip"):
        what = "this is a file; submissions are read from a folder, a .zip or a list of clones"
        next_step = "name a folder, a .zip of all submissions, or a list of clones"
        if is_archive(source.name):
            next_step = f"tar -xf {source.name}"
        raise SubmissionError(what, where=str(source), next_step=next_step)
    entries = list_entries(source, leave_out, names.matches_any if names else None)
    if refused := open_class(source).refused if is_file(source) else {}:
        reasons = [f"{shorten(name) or 'a file'} ({why})" for name, why in refused.items()]
        found.notes = (f"Left out of the archive: {join_some(reasons, MAX_NAMES_SHOWN)}.",)
    if names:
        return _read_names(entries, names, roster, found)
    # weights are nobody's alone, and of what is hidden no name says that it is somebody's
    entries = [replace(one, kind="") if is_artefact(one.name) or is_noise(one.name) else one for one in entries]
    found.ignored = [printable(entry.name) for entry in entries if not entry.kind]
    if platform := guess_platform([entry.name for entry in entries]):
        hint = f"The names look like a download from {platform.capitalize()}: with --names {platform} they are read so."
        found.notes = (hint, *found.notes)
    stems = Counter(fold_id(entry.stem) for entry in entries if entry.kind)
    if alike := [entry.name for entry in entries if entry.kind and stems[fold_id(entry.stem)] > 1]:
        found.notes = (*found.notes, ALIKE.format(names=join_some(alike, MAX_NAMES_SHOWN)))
    return group_entries(entry for entry in entries if entry.kind)


def _read_names(entries: Sequence[Entry], names: NamePattern, roster: Roster | None, found: Discovery) -> list[Learner]:
    """Return the hand-ins of entries whose names a platform or an expression explains."""
    is_gradescope = names.text == "gradescope"
    metadata = _read_gradescope(entries, found) if is_gradescope else {}
    if shared := drop_shared_numbers(metadata.values()):
        note = (
            f"Several people have the student's number {join_some(shared, MAX_NAMES_SHOWN)}: their addresses are used."
        )
        found.notes = (*found.notes, note)
    owned = [
        replace(one, path=entry.path, kind=entry.kind, inside=entry.inside)
        for entry, read in zip(entries, names.read([entry.name for entry in entries]), strict=True)
        for one in _assign_submitters(entry, read, metadata.get(entry.name))
    ]
    if names.text == "blackboard":
        owned = _read_blackboard(owned, found)
    if names.text == "canvas":
        owned, notes = settle_users(owned, roster)
        found.notes = (*found.notes, *notes)
    known = {entry.name for entry in owned} | ({METADATA} if metadata else set())
    found.ignored = [printable(entry.name) for entry in entries if entry.name not in known]
    if unread := [entry.name for entry in owned if not entry.kind]:
        note = f"Left out of hand-ins, being no Python file, notebook or archive: {join_some(unread, MAX_NAMES_SHOWN)}."
        found.notes = (*found.notes, note)
    if names.text == "brightspace" and (several := [entry.name for entry in owned if has_several_times(entry.name)]):
        note = f"Of several times in a name the latest counts: {join_some(several, MAX_NAMES_SHOWN)}."
        found.notes = (*found.notes, note)
    timeless = [entry.name for entry in owned if entry.kind and entry.submitted is None]
    if timeless and any(entry.submitted is not None for entry in owned):  # else names of this form hold no time
        note = f"No time was found for {join_some(timeless, MAX_NAMES_SHOWN)}: it counts as older than any with one."
        found.notes = (*found.notes, note)
    if is_gradescope and not metadata:
        note = f"There is no {METADATA} beside the folders: ids are Gradescope's numbers of submissions."
        found.notes = (note, *found.notes)
    return group_entries(owned)


def _read_gradescope(entries: Sequence[Entry], found: Discovery) -> dict[str, GradescopeSubmission]:
    """Read what Gradescope says of the folders, if its file lies among them."""
    entry = next((entry for entry in entries if entry.name == METADATA), None)
    try:
        raw = read_file(entry.path, entry.inside, MAX_METADATA_BYTES, lambda text: None) if entry else None
    except OSError:
        return {}
    metadata = read_metadata((raw or b"").decode("utf-8", "replace"))
    if entry and (unread := [one.unread for one in metadata.values() if one.unread]):
        path = entry.path / entry.inside
        found.unread_times = tuple((printable(text), at(path, line)) for text, line in unread)
        lines = join_some([f"{text} in line {line}" for text, line in unread], MAX_NAMES_SHOWN)
        found.notes = (*found.notes, f"No time, so older than any hand-in with one, in {METADATA}: {lines}.")
    return metadata


def _read_blackboard(entries: Sequence[Entry], found: Discovery) -> list[Entry]:
    """Return the entries with the users as their owners, as all names and the texts beside the attempts tell them."""
    receipts = []
    for entry in entries:
        if entry.name == f"{entry.owner}_attempt_{entry.attempt_name}.txt":
            with contextlib.suppress(OSError):
                raw = read_file(entry.path, entry.inside, MAX_RECEIPT_BYTES, lambda text: None)
                receipts.append((entry.owner, raw or b""))
    users, notes = find_users({entry.owner for entry in entries}, receipts)
    found.notes = (*found.notes, *notes)
    return [replace(entry, owner=users[entry.owner]) for entry in entries]


def _assign_submitters(entry: Entry, read: Entry | None, info: GradescopeSubmission | None) -> list[Entry]:
    """Return an entry once for each person who handed it in, where Gradescope says who did."""
    if info is None or not info.submitters:
        return [read] if read else []
    ids = [one.sid or one.email or one.name for one in info.submitters]
    accounts = [one.email or own for one, own in zip(info.submitters, ids, strict=True)]  # which nobody writes
    return [
        Entry(
            entry.name,
            owner=own,
            owner_name=one.name,
            address=one.email,
            submitted=info.submitted,
            together=tuple(other for other in accounts if other and other != account),
        )
        for own, account, one in zip(ids, accounts, info.submitters, strict=True)
        if own
    ]


def _read_repositories(source: Path, names: NamePattern | None) -> list[Learner]:
    """Return the repositories of a list, each a hand-in; without an id there, the folder's name says whose it is."""
    listed = read_list(source)
    read = names.read([entry.name for entry in listed]) if names else [None] * len(listed)
    learners = []
    for entry, one in zip(listed, read, strict=True):
        if one and not entry.owner:
            entry = replace(one, path=entry.path, kind=entry.kind, commit=entry.commit, file="")
        learners += group_entries([entry])
    return learners


def _no_hand_ins(source: Path, names: NamePattern | None, found: Discovery) -> SubmissionError:
    if names and found.ignored:
        what = f"none of the {len(found.ignored)} names here is {names.form}; the first is {found.ignored[0]}"
        return SubmissionError(what, where=str(source), next_step="give another --names, or none")
    return SubmissionError(
        "there are no submissions in this folder: no folder, .py, .ipynb, .zip or .tar.gz",
        where=str(source),
        next_step="name the folder whose direct children are the learners' hand-ins",
    )


def _require_listed(source: Path, learners: Sequence[Learner], roster: Roster) -> None:
    """Raise UsageError if the roster names none of them: it is another class's, or has other ids."""
    if not any(roster.find([one.id]) for one in learners):
        ids = f"there ids are such as {roster.people[0].id!a}, here such as {learners[0].id!a}"
        what = f"None of the hand-ins is of anybody in the roster: {ids}"
        instead = "give the list of this class with --roster, say with --names how hand-ins are named"
        raise UsageError(what, where=str(source), next_step=f"{instead}, or leave --roster out")


# --- attempts ---------------------------------------------------------------------------------------------------------


def _choose_attempts(learners: Sequence[Learner], attempts: str, before: int, found: Discovery) -> list[Learner]:
    """Return the hand-ins to grade, with their final ids; the others are named in `found.older`."""
    if attempts not in ATTEMPTS:
        next_step = f"give --attempts {', '.join(ATTEMPTS[:-1])} or {ATTEMPTS[-1]}"
        raise UsageError(f"--attempts {attempts} is not known", next_step=next_step)
    numbered = number_attempts(learners)
    if attempts == "all":
        return assign_ids([one for one, _ in numbered], with_attempts=True, before=before)
    older = [one for one, is_newest in numbered if not is_newest]
    found.older = tuple(printable(f"{one.id}@{one.attempt} ({one.first.name})") for one in older)
    newest = add_earlier([one for one, is_newest in numbered if is_newest], older, attempts)
    return assign_ids(newest, with_attempts=False, before=before)
