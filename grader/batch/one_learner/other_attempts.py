"""What a lesson's file imports of its learner's other folders and attempts: files that it lacks, and newer ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from grader.intake.answers.last_bindings import last_bindings, seen_by
from grader.intake.match_lessons import LessonMatcher, Match, defined_names, is_aside, names_of, paths_of
from grader.model import Course, Lesson, Submission
from grader.submission import (
    OF_PACKAGE,
    RESERVED,
    FilesOfHandIn,
    artefact_path,
    imported_beside,
    imported_modules,
    read_submission,
    why_unread,
    without_number,
)

MAX_ROUNDS = 10  # of files that lack others in turn
_WORD = re.compile(r"\w+")


class Lent(NamedTuple):
    """A file where it was handed in, the folder of the attempt that it is of, and why another was not used."""

    path: str
    folder: str
    told: str


@dataclass
class OtherAttempts:
    """Reads submissions with files of one attempt among those of another, where imports find them. None is on a disk.

    `texts` are those of all files by their paths, and `contents` what is judged of them.
    `folders` are the attempts', newest first; `judged` are paths that lessons were found in. With `best` each attempt
    counts as it was handed in, but for what it lacks.
    """

    course: Course
    texts: Mapping[str, str]
    contents: Mapping[str, bytes]
    folders: Sequence[str]
    judged: Collection[str]
    best: bool
    lent: dict[str, Lent] = field(default_factory=dict)  # to the lesson that is read, by the path where it lies now
    _looked_for: set[str] = field(default_factory=set)  # names, for that lesson
    _found: dict[tuple[str, str], list[dict[str, str]]] = field(default_factory=dict)
    unclear: dict[tuple[str, str], str] = field(default_factory=dict)  # by attempt and name: which of several is meant

    def read(self, lesson: Lesson, match: Match, artefact: bytes | None = None) -> tuple[Submission, Match]:
        """Return what is to be judged, with a note of each file that was lent, and the newest attempt that it is of.

        The paths of what it imports are those in the hand-in. Raises SubmissionError as `read_submission` does.
        """
        self._files = FilesOfHandIn(self.contents)
        self.lent, self._looked_for = {}, set()
        path, within = self._files.ROOT / match.path, self._files.ROOT / match.folder
        if artefact is not None:
            self._files.add(self._files.place_of(artefact_path(path)), artefact)
        submission = self._read(path, lesson, within)
        for _ in range(MAX_ROUNDS):
            if not self._lend(submission, match):
                break
            submission = self._read(path, lesson, within)
        lent = {name: (each, self.lent[each[0]]) for name, each in submission.siblings.items() if each[0] in self.lent}
        files = {name: (one.path, text) for name, ((_, text), one) in lent.items()}
        notes = dict.fromkeys(_note_of(place, one, match.folder) for (place, _), one in lent.values())
        lacking = _lacking(submission) if self.unclear else set()
        unclear = (self.unclear.get((match.folder, name)) for name in sorted(lacking))
        notes |= dict.fromkeys(note for note in unclear if note)
        newest = min([match.newest, *(one.folder for _, one in lent.values())], key=self.folders.index)
        told = replace(submission, siblings=submission.siblings | files, notes=(*submission.notes, *notes))
        return told, match if newest == match.newest else match._replace(newer=newest)

    def _read(self, path: Path, lesson: Lesson, within: Path) -> Submission:
        read = read_submission(path, lesson, self.course, within, files=self._files)
        place_of = self._files.place_of
        siblings = {name: (place_of(Path(file)), text) for name, (file, text) in read.siblings.items()}
        return replace(read, path=place_of(path), siblings=siblings)

    def _lend(self, submission: Submission, match: Match) -> bool:
        """Lend what a submission lacks, and what a newer attempt has of it; False if there is nothing more."""
        count = len(self.lent)
        place = self.folders.index(match.folder)
        newer, older = self.folders[:place], self.folders[place + 1 :]
        siblings = {} if self.best else dict(submission.siblings.values())
        using = Counter(word for text in (submission.source, *siblings.values()) for word in _words_of(text))
        for path, text in siblings.items():
            self._replace(path, match.folder, newer, text, using)
        wanted = _lacking(submission) & self._names - self._looked_for - {*self.course.packages}
        self._looked_for |= wanted
        for name in sorted(wanted):
            self._add(name, match, [*older, *newer] if self.best else [*newer, *older])
        return len(self.lent) > count

    def _replace(self, path: str, own: str, newer: Iterable[str], text: str, using: Counter[str]) -> None:
        """Lend the newest file of the name of one that is imported, if it can be read and has all of this.

        Where both give a submission the same, it has the one of its own attempt. *text* is what it has of the file, and
        *using* in how many of its texts each word is.
        """
        if path in self.lent or path in self.judged or path not in self.texts:
            return
        told = ""
        for folder in newer:
            if not (found := self._namesake(path, own, folder)):
                continue
            why = self._why_elsewhere(path, own, found, folder)
            if not self._differ(path, found, text, using):
                if why:
                    continue
                break
            if not (why := why or self._why_not_used(path, found)):
                self._put(path, found, folder, told)
                return
            told = told or _say_not_used(found, folder, why)
        if told:
            self.lent[path] = Lent(path, own, told)

    def _namesake(self, path: str, own: str, folder: str) -> str:
        """Return the file of an attempt that may be meant for *path*: of its name and place, if need be of a copy's."""
        name, place = _name_of(path), path.removeprefix(own)
        found = [each for each in self._called[folder].get(name.lower(), ()) if not self._is_empty(each)]
        if path.endswith(OF_PACKAGE):
            found = [each for each in found if each.removeprefix(folder) == place]

        def rank(each: str) -> tuple[bool, bool, bool, int, str]:
            below = each.removeprefix(folder)
            return _name_of(each) != name, below != place, is_aside(below), each.count("/"), each

        return min(found, key=rank, default="")

    def _why_elsewhere(self, path: str, own: str, newer: str, folder: str) -> str:
        """Return why a file by its name or place is not what another is; empty if it may be.

        What is of a package lies at the same place in it, and `__init__.py` is what the package was handed in with.
        """
        place, there = path.removeprefix(own), newer.removeprefix(folder)
        is_of_package = any(f"{PurePosixPath(each).parent}/{OF_PACKAGE}" in self.contents for each in (path, newer))
        if _name_of(path) != _name_of(newer):
            return f"it is not called {PurePosixPath(path).name}"
        if is_of_package and (place != there or place.endswith(OF_PACKAGE)):
            return f"{place} is of a package" if place == there else f"it is {there}, not {place}"
        return "it lies among tests or old files" if place != there and is_aside(there) else ""

    def _differ(self, path: str, newer: str, text: str, using: Counter[str]) -> bool:
        """Return whether two files differ in what the other texts of a submission have of them."""
        first, second = self.texts[path], self.texts[newer]
        if first == second:
            return False
        words = using.keys() - {word for word in _words_of(text) if using[word] == 1}
        return seen_by(first, words) != seen_by(second, words)

    def _why_not_used(self, path: str, newer: str) -> str:
        """Return why what is in a newer file cannot stand in for that of *path*; empty if it can."""
        if why := why_unread(self.contents[newer], Path(newer)):
            return why
        names = defined_names(self.texts[path])
        if lacking := sorted(names - defined_names(self.texts[newer])):
            return f"it has no `{lacking[0]}`"
        written, given = (last_bindings(self.texts[each], names) for each in (path, newer))
        empty = [name for name in sorted(given) if given[name] == () and written.get(name)]
        return f"its `{empty[0]}` is not written yet" if empty else ""

    def _add(self, name: str, match: Match, others: Iterable[str]) -> None:
        """Lend the module or the package of a name beside a lesson's file.

        Where the lesson's own attempt has a file that a package of another has, it is that one.
        """
        home = PurePosixPath(match.path).parent.as_posix()
        prefix = "" if home == "." else f"{home}/"
        for folder, files, told in self._having(name, match, others):
            for place, path in files.items():
                if prefix + place not in self._files:
                    is_apart = "/" in place and not place.endswith(f"/{OF_PACKAGE}")
                    own = self._find(match.folder, _name_of(path))[:1] if is_apart else []
                    origin = (min(own[0].values()), match.folder) if own and len(own[0]) == 1 else (path, folder)
                    self._put(prefix + place, *origin, told)

    def _having(self, name: str, match: Match, others: Iterable[str]) -> list[tuple[str, dict[str, str], str]]:
        """Return the attempt with a module or package, what `_find` says of it, and why one before was not used.

        What is an exercise still comes last, and a module that cannot be read behind those that can.
        The match's own attempt, in another folder, goes first with a module, if it has one alone: which of several is
        meant nobody knows.
        """
        here = self._having_name[match.folder].get(name, ())
        near = [path for path in here if not is_aside(path.removeprefix(match.folder))]
        own = [(match.folder, files, "") for files in self._without_copies(self._ways_to(near, name))]
        if len(own) > 1:
            places = ", ".join(
                sorted(path.removeprefix(match.folder) for _, files, _ in own for path in files.values())[:4]
            )
            self.unclear[match.folder, name] = f"Which `{name}` is imported is not known: {places}. Put it beside."
            own = []
        if any(_name_of(path) == name for path in near):
            return own
        found = [(folder, ways[0]) for folder in others if (ways := self._find(folder, name))]
        written = [one for one in found if not self._is_empty(min(one[1].values()))]
        told = ""
        for folder, files in written:
            path = files.get(f"{name}.py") or files.get(f"{name}.ipynb")
            if not (path and (why := why_unread(self.contents[path], Path(path)))):
                return [(folder, files, told)]
            told = told or _say_not_used(path, folder, why)
        return [(*one, "") for one in (written or found)[:1]] or own

    def _without_copies(self, ways: Sequence[dict[str, str]]) -> list[dict[str, str]]:
        """Leave out a notebook beside a Python file of its name, and what has the same texts as one before."""
        paths = {path for files in ways for path in files.values()}
        found: dict[tuple[str, ...], dict[str, str]] = {}
        for files in ways:
            if not any(path.endswith(".ipynb") and f"{path[:-6]}.py" in paths for path in files.values()):
                found.setdefault(tuple(self.texts[files[place]] for place in sorted(files)), files)
        return [*found.values()]

    def _put(self, place: str, path: str, folder: str, told: str) -> None:
        self._files.add(place, self.contents[path])
        self.lent[place] = Lent(path, folder, told)

    @cached_property
    def _paths(self) -> dict[str, list[str]]:
        """The paths of each attempt."""
        return {folder: paths_of(folder, self.contents, [*filter(None, self.folders)]) for folder in self.folders}

    @cached_property
    def _called(self) -> dict[str, dict[str, list[str]]]:
        """The paths of each attempt by what they are called, and by what they may be a copy of."""
        found: dict[str, dict[str, list[str]]] = {folder: {} for folder in self.folders}
        for folder, paths in self._paths.items():
            for path in paths:
                for name in names_of(path):
                    found[folder].setdefault(name, []).append(path)
        return found

    @cached_property
    def _having_name(self) -> dict[str, dict[str, list[str]]]:
        """The paths of each attempt by the names of their modules, and of the folders that they are in."""
        found: dict[str, dict[str, list[str]]] = {folder: {} for folder in self.folders}
        for folder, paths in self._paths.items():
            for path in paths:
                for name in {_name_of(path), *path.split("/")[:-1]}:
                    found[folder].setdefault(name, []).append(path)
        return found

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of all modules and packages."""
        return frozenset(name for names in self._having_name.values() for name in names)

    def _find(self, folder: str, name: str) -> list[dict[str, str]]:
        """Return the ways to a name in an attempt, found once."""
        if (folder, name) not in self._found:
            self._found[folder, name] = self._ways_to(self._having_name[folder].get(name, ()), name)
        return self._found[folder, name]

    def _ways_to(self, paths: Iterable[str], name: str) -> list[dict[str, str]]:
        """Return the modules of a name, else the packages, best first, by where files belong beside an importer."""
        if modules := [path for path in paths if _name_of(path) == name]:
            modules.sort(key=lambda path: (self._is_empty(path), path.count("/"), path))
            return [{f"{name}{PurePosixPath(path).suffix.lower()}": path} for path in modules]
        found: dict[str, dict[str, str]] = {}
        for path in paths:
            above, inner, below = f"/{path}".partition(f"/{name}/")
            if inner:
                found.setdefault(above, {})[f"{name}/{below}"] = path
        return [found[above] for above in sorted(found, key=lambda above: (above.count("/"), above))]

    def _is_empty(self, path: str) -> bool:
        """Return True for a file that is called as a lesson, and is not written yet."""
        called = _name_of(path)
        lessons = [one for one in self.course.lessons.values() if called in (one.name, *one.aliases)]
        return any(not LessonMatcher(self.course, {path: self.texts[path]}).match_written(one)[0] for one in lessons)


def _lacking(submission: Submission) -> set[str]:
    """Return the first names of what is imported and was not found, other than Python's own modules."""
    texts = [submission.source, *(text for _, text in submission.siblings.values())]
    names = {module.partition(".")[0] for text in texts for module in imported_modules(text)}
    beside = {name for text in texts for name in imported_beside(text)}
    return (names | beside) - RESERVED - submission.siblings.keys()


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(text))


@lru_cache(4096)  # each name that is looked for asks for that of each file
def _name_of(path: str) -> str:
    """Return the name of a module, without the number of a copy."""
    return without_number(PurePosixPath(path).stem)


def _note_of(place: str, lent: Lent, own: str) -> str:
    """Return the note of a file at a place where it was lent to a lesson of the attempt *own*, or was not replaced."""
    if place == lent.path:
        return lent.told
    where = f"is of {called(lent.folder)}" if lent.folder != own else f"lies elsewhere: {lent.path.removeprefix(own)}"
    return f"{lent.told} {PurePosixPath(lent.path).name}, which it imports, {where}.".strip()


def _say_not_used(path: str, folder: str, why: str) -> str:
    return f"{PurePosixPath(path).name} of {called(folder)} was not used: {why}."


def called(folder: str) -> str:
    """Name an attempt by its folder."""
    return folder[:-1] or "the newest attempt"
