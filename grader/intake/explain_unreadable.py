"""Say what a hand-in holds when nothing of it could be read, so that its author knows what to hand in instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from grader.intake.folder_listing import open_file
from grader.intake.formats.class_zip import open_class
from grader.intake.formats.zip_member import ArchiveError, list_members
from grader.intake.learner import Learner, join_some, printable, shorten
from grader.intake.limits import MAX_DIRECTORY_BYTES, is_hidden_source, is_in_environment, is_own
from grader.intake.match_lessons import has_name_of
from grader.model import Lesson
from grader.submission import imported_modules

MAX_NAMES_SHOWN = 5
MAX_NAMES_LISTED = 1_000
REASONS = (" left out: ", " cannot be read: ", ": The archive ")  # in notes
TYPED = ("onlinetext.html", "text.html")  # as Moodle and Canvas call what was written into the page
WHAT_IS_READ = "Only .py, .ipynb, .zip and .tar.gz are read, if no dot begins their name, outside folders env and venv."
_LIKE_SOURCE = re.compile(r"\.(?:pyw?|ipynb)(?![a-z])")
OTHER_ARCHIVES = (".rar", ".7z", ".gz", ".bz2", ".xz", ".tar.xz", ".tar.bz2", ".zipx")


def explain_unreadable(learner: Learner, notes: Sequence[str]) -> str:
    """Return sentences with the names of what is there, and the *notes* that say why some of it was left out."""
    names = list(dict.fromkeys(printable(shorten(name)) for name in islice(_list_names(learner), MAX_NAMES_LISTED)))
    sentences = ["There is no Python file and no notebook in it."]
    if names:
        sentences.append(f"What there is: {join_some(names, MAX_NAMES_SHOWN)}.")
    if any(is_hidden_source(name) for name in names):
        sentences.append("A file whose name begins with a dot is not read.")
    packed = sorted({suffix for name in names for suffix in OTHER_ARCHIVES if name.lower().endswith(suffix)})
    if packed:
        sentences.append(f"Archives are opened that are a .zip or a .tar.gz, no {' or '.join(packed)}.")
    reasons = [note for note in notes if any(word in note for word in REASONS)]
    return " ".join([*sentences, *reasons[:2]])


def explain_unread(paths: Iterable[str], lacking: Sequence[Lesson]) -> str:
    """Return sentences with what was not read and may be meant for *lacking* lessons; empty if nothing is."""
    names = {name for lesson in lacking for name in (lesson.name, *lesson.aliases)}
    named, others = [], []
    for path in paths if lacking else ():
        if has_name_of(path, names):
            named.append(path)
        elif _is_like_a_source(path):
            others.append(path)
    shown = join_some([*named, *others], MAX_NAMES_SHOWN)
    return f"Not read, and perhaps meant for a lesson that is missing: {shown}. {WHAT_IS_READ}" if shown else ""


def explain_unused(
    sources: Mapping[str, str], taken: Collection[str], found: Collection[str], all_names: Collection[str], told: str
) -> str:
    """Return a sentence with the files that are for no lesson, and that none of those *taken* imports; "" for none.

    *found* are those that were found where they are imported; a package has an `__init__.py` that nothing may need.
    *all_names* are those of the course's lessons: what is called so is for one that is not asked for. What is *told* of
    the lessons names files that are for one, and were not taken.
    """
    known = {part for path in taken for name in imported_modules(sources[path]) for part in name.split(".")}
    used, known = {*taken, *found}, {"__init__", *known}
    others = [path for path in sources if path not in used and not has_name_of(path, set(all_names))]
    others = [path for path in others if not re.search(rf"(?<![^ (]){re.escape(path)}(?=[ ,)])", told)]
    shown = join_some([path for path in others if PurePosixPath(path).stem not in known], MAX_NAMES_SHOWN)
    return f"For no lesson, by its name or the functions that it defines: {shown}." if shown else ""


def _is_like_a_source(path: str) -> bool:
    """Return True for code in another form, or place, than it is read in."""
    name = path.rpartition("/")[2].lower()
    is_other = name.endswith(OTHER_ARCHIVES) or name in TYPED or bool(_LIKE_SOURCE.search(name))
    return is_other or is_hidden_source(path) or is_in_environment(path)


def _list_names(learner: Learner) -> Iterator[str]:
    """Yield the names of the files in a hand-in, as far as they can be listed."""
    if learner.kind == "git":
        return
    for entry in learner.entries:
        name = "" if learner.is_whole else entry.file
        try:
            path = entry.own_path()  # names behind a link are not its author's to know
            yield from _list_below(path, entry.inside, name or learner.source, f"{name}/" if name else "")
        except (OSError, RuntimeError, ArchiveError):
            yield from [name] if name else []


def _list_below(path: Path, inside: str, name: str, prefix: str) -> Iterator[str]:
    if inside.endswith("/"):
        yield from (prefix + one[len(inside) :] for one in open_class(path).below(inside))
    elif not inside and path.is_dir():
        found = (one for one in islice(path.rglob("*"), MAX_NAMES_LISTED) if one.is_symlink() or not one.is_dir())
        yield from sorted(prefix + str(one.relative_to(path)) for one in found if _is_told(one.name))
    elif name.lower().endswith(".zip"):
        with open_file(path, inside, lambda text: None) as file:
            members = list_members(file, MAX_DIRECTORY_BYTES)
        yield from sorted(prefix + own for own, _ in members if _is_told(own))
    else:
        yield name


def _is_told(path: str) -> bool:
    """Return True for a file of the learner's own, also a Python file that nothing but its name hides."""
    return is_own(path) or is_hidden_source(path)
