"""Which file of a hand-in is meant for which lesson: by its name, else by what it defines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from grader.files import read_file
from grader.intake.answers.called_as import why_not_called
from grader.intake.answers.last_bindings import Body, last_bindings, used_by
from grader.intake.limits import is_artefact
from grader.intake.name_patterns import JUDGED, UNDECIDED, choice_note
from grader.model import Course, Lesson
from grader.source.scopes import module_names
from grader.submission import ARTEFACT_SUFFIX, COPY_NUMBER, RESERVED, imported_modules

MAX_NAMES_SHOWN = 5  # file names in one note
MAX_COMPARED_CHARS = 1 << 18  # of files in which the same answer is looked for
# how systems and browsers name a copy: softmax (copy), softmax - Kopie, softmax(1), Copy of softmax
_WORD = r"(?:cop(?:y|ie|ia)|kopie)"
_COPY = re.compile(
    rf"^{_WORD}[ _-](?:of|von|d[ei])[ _-]"
    rf"|(?<![ _-])[ _-]*(?:{COPY_NUMBER}|\({_WORD}(?: \d{{1,3}})?\)|(?<![^\W_]){_WORD}(?:[ (]*\d{{1,3}}\)?)?)$"
    r"|[ _-](?:final|fixed|new|v\d{1,2})$"
)
# beside the file that it is of, what nobody worked on any more; a copy may be the newer of two
_OLD = re.compile(r"^(?:old|backup)[ _-]|[ _-](?:old|bak|backup)$")
_TEST = re.compile(r"(?:^|_)tests?(?:_|$)|^reference(?:_|$)")
_ASIDE = {"test", "tests", "reference", "old", "backup", "bak"}  # folders of the same


class Match(NamedTuple):
    """The file of a lesson, with a note for readers of the results; the path is empty if there is none.

    `folder` is the one that the attempt's files lie in, and `newer` that of a newer attempt, of which there are the
    lesson's weights, or a file that it imports; None if there is none.
    """

    path: str = ""
    note: str = ""
    folder: str = ""
    newer: str | None = None

    @property
    def newest(self) -> str:
        """The folder of the newest attempt of which there is something in it."""
        return self.folder if self.newer is None else self.newer


def match_attempts(
    course: Course,
    lessons: Sequence[Lesson],
    sources: Mapping[str, str],
    earlier: Sequence[str],
    *,
    best: bool,
    weights: Mapping[str, bytes],
) -> dict[str, list[Match]]:
    """Return what is to be judged of each lesson: its file in the newest attempt that answers it, or with `best` each.

    An empty exercise is only taken where no attempt has anything else, not even under another lesson's name. What lies
    in another lesson's file answers it, unless it stands as it did beside an older attempt's own file: as a helper.

    *earlier* are the folders of earlier attempts, newest first; all other files are the newest attempt's. *weights* are
    the files of weights: those of an attempt without a file of their lesson go with that of the one before.
    """
    matchers: list[tuple[str, LessonMatcher]] = []
    for folder in reversed(("", *earlier)):
        own = {path[len(folder) :]: sources[path] for path in paths_of(folder, sources, earlier)}
        older = () if best else [matcher for _, matcher in matchers]
        matchers.insert(0, (folder, LessonMatcher(course, own, only_lesson=len(lessons) == 1, older=older)))
    found = {}
    for lesson in lessons:
        ways = (LessonMatcher.match_answer, LessonMatcher.match_empty)
        answers, empty = (_match_attempts(lesson, matchers, way, best, weights) for way in ways)
        found[lesson.name] = list(answers) or _with_reason(lesson, list(empty) or [Match()], matchers)
    return found


def _with_reason(lesson: Lesson, matches: list[Match], matchers: Sequence[tuple[str, LessonMatcher]]) -> list[Match]:
    """Add to the first of what is no answer why another lesson's file, that may have one, was not taken."""
    first, *others = matches
    said = ((folder, matcher.say_not_taken(lesson)) for folder, matcher in matchers)
    told = next((f"{lesson.name}: {folder}{text}" for folder, text in said if text), "")
    return [first._replace(note=f"{first.note} {told}".strip()), *others]


def paths_of(folder: str, paths: Iterable[str], earlier: Sequence[str]) -> list[str]:
    """Return the paths that are of one attempt: below its folder, and of the newest, "", below no earlier one's."""
    others = () if folder else tuple(earlier)
    return [path for path in paths if path.startswith(folder) and not path.startswith(others)]


def _match_attempts(
    lesson: Lesson,
    matchers: Sequence[tuple[str, LessonMatcher]],
    find: Callable[[LessonMatcher, Lesson], tuple[str, str]],
    best: bool,
    weights: Mapping[str, bytes],
) -> Iterator[Match]:
    earlier = [folder for folder, _ in matchers if folder]
    without: list[str] = []  # newer attempts in which the lesson has no file
    for folder, matcher in matchers:
        path, note = find(matcher, lesson)
        if path and folder:
            note = f"{lesson.name}: this is of {folder[:-1]}. {note}".rstrip()
        match = Match(folder + path if path else "", note, folder)
        if path and lesson.kind == "capstone":
            newer = [one for one in without if _weights_in(one, lesson, match.path, weights, earlier)]
            yield from (match._replace(newer=one) for one in (newer if best else newer[:1]))
            if newer and not best:
                return
        if path or note:
            yield match
            if not best:
                return
            without = []
        else:
            without.append(folder)


def find_artefact(lesson: Lesson, match: Match, files: Mapping[str, bytes], earlier: Sequence[str]) -> tuple[str, str]:
    """Return the path of the weights that belong to a lesson's file, and the folder of their attempt; empty if none do.

    They have its name, or that of a copy, and lie beside it, else anywhere in the same attempt, else in the newest one
    before it; *earlier* are the folders of earlier attempts, newest first.
    """
    folders = ["", *earlier]
    for folder in folders[folders.index(match.newest) :]:
        if there := _weights_in(folder, lesson, match.path, files, earlier):
            own = PurePosixPath(match.path).with_suffix(ARTEFACT_SUFFIX).as_posix()
            return own if own in there else min(there, key=len), folder
    return "", ""


def _weights_in(
    folder: str, lesson: Lesson, path: str, files: Mapping[str, bytes], earlier: Sequence[str]
) -> Collection[str]:
    """Return the weights of an attempt that are called as the lesson is, or its file; else a copy, if all are equal."""
    names = {lesson.name, *lesson.aliases, _stem(path)}
    there = paths_of(folder, filter(is_artefact, files), earlier)
    copies = [one for one in there if _stem(_COPY.sub("", _bare(one))) in names]
    return [one for one in there if _stem(one) in names] or (copies if len({files[one] for one in copies}) == 1 else [])


class LessonMatcher:
    """Finds the file of each lesson among a hand-in's sources: Python text by path, notebooks as Python already."""

    def __init__(
        self,
        course: Course,
        sources: Mapping[str, str],
        *,
        only_lesson: bool = False,
        older: Sequence[LessonMatcher] = (),
    ) -> None:
        self.sources = sources
        self.older = older  # the matchers of older attempts
        self.only_lesson = only_lesson  # then a hand-in's only file is meant for it, whatever its name
        self.names = {lesson.name: {lesson.name, *lesson.aliases} for lesson in course.lessons.values()}
        self.functions = {name: _wanted(one) for one in course.lessons.values() for name in self.names[one.name]}
        self.all_names = self.functions.keys()
        self._functions = frozenset().union(*self.functions.values())
        self.base = _common_folder(sources, {track.name for track in course.tracks})
        self._names_in = cache(lambda path: defined_names(sources[path]))
        self._given_in = cache(lambda path: last_bindings(sources[path], self._functions))
        self._used_in = cache(lambda path: used_by(sources[path], self._functions))
        self.unnamed = [path for path in sources if _stem(path) not in self.all_names]

    def match(self, lesson: Lesson) -> tuple[str, str]:
        """Return the path of a lesson's file, empty if there is none, and a note where several were possible.

        A file that is still the empty exercise comes after all others.
        """
        path, note = self.match_written(lesson)
        return (path, note) if path or note else self.match_empty(lesson)

    def match_answer(self, lesson: Lesson) -> tuple[str, str]:
        """Return the same of what is no empty exercise: a file for the lesson, else one that is named for another.

        The other's is no answer if it is as it was in an older attempt that had a file for the lesson, too: a helper.
        """
        path, note = self.match_written(lesson)
        if path or note:
            return path, note
        path, note = self.match_elsewhere(lesson)
        is_helper = path and any(one._has_beside(lesson, self._definitions(lesson, path)) for one in self.older)
        return ("", "") if is_helper else (path, note)

    def _has_beside(self, lesson: Lesson, answer: Mapping[str, Body]) -> bool:
        """Return whether a file for the lesson is written here, and another file holds this *answer*."""
        own, _ = self.match_written(lesson)
        return bool(own) and any(self._definitions(lesson, path) == answer for path in self.sources if path != own)

    def match_written(self, lesson: Lesson) -> tuple[str, str]:
        """Return the same of the files that are no empty exercise.

        `<track>/<lesson>.py` comes first, then `<lesson>.py` at the top, then one deeper; else a notebook, or a Python
        file that is named for no lesson, that defines the lesson's functions.
        """
        named = self._find_named(lesson)
        empty = [path for path in named if self._is_empty(lesson, path)]
        written = [path for path in named if path not in empty]
        for paths in ([path for path in written if path.lower().endswith(".py")], written):
            if paths:
                others = self._find_other(lesson, [*written, *self._find_defining(lesson)], paths)
                similar = dict.fromkeys([*self._find_similar(lesson, named), *others])
                return self._choose(lesson, paths, empty, [*similar])
        defining = self._find_defining(lesson)
        stubs = [path for path in defining if self._is_empty(lesson, path)]
        answers = [path for path in defining if path not in stubs]
        answers = [path for path in answers if not self._is_out_of(lesson, path, answers)] or answers
        return self._choose(lesson, answers, [*empty, *stubs]) if answers else ("", "")

    def _is_out_of(self, lesson: Lesson, path: str, others: Sequence[str]) -> bool:
        """Return whether a file has one of the lesson's functions, below a definition of its own, out of another."""
        last = "\n".join(str(*body) for body in self._definitions(lesson, path).values() if len(body) == 1)
        ends = tuple(f"/{name.replace('.', '/')}{end}" for name in imported_modules(last) for end in (".py", ".ipynb"))
        return any(f"/{other}".endswith(ends) for other in others if other != path)

    def match_elsewhere(self, lesson: Lesson) -> tuple[str, str]:
        """Return the same for a lesson that is not written: a file named for another lesson that answers this one, too.

        It defines all functions of the exercise, to be called as these are: a helper that takes others is no answer.
        """
        found = [path for path in self._find_elsewhere(lesson) if not self._why_not_taken(lesson, path)]
        empty = self._find_named(lesson)
        path, note = self._choose(lesson, found, empty) if found else ("", "")
        if path and not empty:
            note = f"{path}{JUDGED}no file is named for this lesson. {note}".rstrip()
        return path, f"{lesson.name}: {note}" if path else note

    def say_not_taken(self, lesson: Lesson) -> str:
        """Name a file for another lesson that has functions of this one's, and why it was not taken; "" for none."""
        for path in self._find_elsewhere(lesson):
            if why := self._why_not_taken(lesson, path):
                named = min(_wanted(lesson) & self._names_in(path) - self.functions[_stem(path)])
                return f"{path} has `{named}`, which was not taken: {why}."
        return ""

    def _find_elsewhere(self, lesson: Lesson) -> list[str]:
        """Return the files for other lessons that define functions of this one, other than those of their own."""
        wanted = _wanted(lesson)
        others = [path for path in self.sources if _stem(path) in self.all_names - self.names[lesson.name]]
        found = [path for path in others if self._names_in(path) & wanted - self.functions[_stem(path)]]
        return [path for path in found if not self._is_empty(lesson, path)]

    def _why_not_taken(self, lesson: Lesson, path: str) -> str:
        """Return why a file for another lesson is no answer to this one; empty if it is."""
        wanted = _wanted(lesson)
        if lacking := sorted(wanted - self._names_in(path)):
            return f"there is no `{lacking[0]}`"
        return why_not_called(self.sources[path], read_file(lesson.exercise_path), wanted)

    def match_empty(self, lesson: Lesson) -> tuple[str, str]:
        """Return the same for a lesson that is written nowhere: its file that is still the empty exercise."""
        paths = self._find_named(lesson) or self._find_defining(lesson)
        return self._choose(lesson, paths, (), self._find_similar(lesson, paths)) if paths else ("", "")

    def _find_named(self, lesson: Lesson) -> list[str]:
        return [path for path in self.sources if _stem(path) in self.names[lesson.name]]

    def _is_empty(self, lesson: Lesson, path: str) -> bool:
        """Return whether a file defines the lesson's functions as the exercise does, or without a body, or none."""
        stub = _definitions_of_exercise(read_file(lesson.exercise_path), frozenset(_wanted(lesson)))
        return all(body in ((), stub.get(name)) for name, body in self._definitions(lesson, path).items())

    def _definitions(self, lesson: Lesson, path: str) -> dict[str, Body]:
        """Return what a file gives the lesson's functions last."""
        given = self._given_in(path)
        return {name: given[name] for name in sorted(_wanted(lesson)) if name in given}

    def _say_empty(self, lesson: Lesson, path: str) -> str:
        """Name a file that is empty, as a notebook is whose cells write files."""
        wanted = [function.name for function in lesson.functions]
        is_stub = not wanted or self._definitions(lesson, path)
        return f"{path}, {'still the empty exercise' if is_stub else f'which does not define `{wanted[0]}`'},"

    def _find_similar(self, lesson: Lesson, paths: list[str]) -> list[str]:
        """Return other files with the lesson's name, or the name of a copy, whose content differs."""
        names = self.names[lesson.name]
        texts = {self.sources[path] for path in paths}
        like = [path for path in self.sources if path not in paths and _stem(_COPY.sub("", _bare(path))) in names]
        like = [path for path in like if _stem(path) not in self.all_names - names and self.sources[path] not in texts]
        return sorted(like)

    def _find_other(self, lesson: Lesson, paths: list[str], chosen: list[str]) -> list[str]:
        """Return files in which the lesson's functions are others than in the chosen ones, which do not import them."""
        others = [path for path in paths if path not in chosen]
        if not others:  # of most hand-ins nothing has to be read for that
            return []
        known = [self._definitions(lesson, path) for path in chosen]
        imported = {name for path in chosen for name in imported_modules(self.sources[path])}
        ends = tuple(f"/{name.replace('.', '/')}.py" for name in imported if name.partition(".")[0] not in RESERVED)
        others = [path for path in others if not f"/{path}".endswith(ends)]
        others = [path for path in others if self._definitions(lesson, path) not in known]
        return [path for path in others if not self._is_empty(lesson, path)]

    def _choose(
        self, lesson: Lesson, paths: list[str], empty: Sequence[str], similar: Sequence[str] = ()
    ) -> tuple[str, str]:
        """Take the path of the best rank. Several of it are no answer, unless all have the same for the lesson."""
        stems = set(map(_stem, paths))
        ranks = {path: (*self._rank(lesson, path), _is_old_state(path, stems)) for path in paths}
        ranked = sorted(paths, key=lambda path: (ranks[path], path))
        best = [path for path in ranked if ranks[path] == ranks[ranked[0]]]
        if len({self.sources[path] for path in best}) > 1 and self._differ(lesson, best):
            return "", f"{lesson.name}: several files could be meant ({', '.join(best[:MAX_NAMES_SHOWN])}){UNDECIDED}"
        others = [*(self._say_empty(lesson, path) for path in empty), *ranked[1:], *similar][:MAX_NAMES_SHOWN]
        return ranked[0], choice_note(ranked[0], others) if others else ""

    def _differ(self, lesson: Lesson, paths: Sequence[str]) -> bool:
        """Return whether the lesson's functions, or what they use of their files, are not the same in all of these."""
        if sum(len(self.sources[path]) for path in paths) > MAX_COMPARED_CHARS:
            return True
        wanted = _wanted(lesson)
        used = [{name: number for name, number in self._used_in(path).items() if name in wanted} for path in paths]
        return not used[0] or any(one != used[0] for one in used)

    def _rank(self, lesson: Lesson, path: str) -> tuple[bool, int]:
        """Return what sorts a file that tests others, or lies among old ones, behind these, and each by its folder."""
        below = path.removeprefix(self.base)
        parts = PurePosixPath(below).parts
        return is_aside(below), 0 if len(parts) == 2 and parts[0] == lesson.track else len(parts)

    def _find_defining(self, lesson: Lesson) -> list[str]:
        if self.only_lesson and len(self.sources) == 1:
            return self.unnamed
        wanted = _wanted(lesson)
        return [path for path in self.unnamed if wanted & self._names_in(path)]


@lru_cache(4096)  # each lesson asks for the name of each file
def _bare(path: str) -> str:
    """Return a file's name without folders and suffix, in lower case."""
    return PurePosixPath(path).stem.lower()


def _stem(path: str) -> str:
    """Return a file's name as lessons are named: `core/Multi-Head.py` is multi_head."""
    return _bare(path).replace("-", "_").replace(" ", "_")


def is_aside(path: str) -> bool:
    """Return whether a file tests others, or lies among old ones."""
    return _TEST.search(_stem(path)) is not None or not _ASIDE.isdisjoint(path.lower().split("/")[:-1])


def _is_old_state(path: str, stems: Set[str]) -> bool:
    """Return whether a file is called as an old state of another."""
    bare = _OLD.sub("", _bare(path))
    return bare != _bare(path) and _stem(bare) in stems


def has_name_of(path: str, names: Set[str]) -> bool:
    """Return whether a file of any kind is called as one of these lessons is, or as a copy."""
    return not names.isdisjoint(names_of(path))


def names_of(path: str) -> set[str]:
    """Return what a file is called as lessons are named, and of what it may be a copy: softmax(1).py.gz is softmax."""
    bare = PurePosixPath(path).name.partition(".")[0].strip().lower()
    return {_stem(one) for one in (bare, _COPY.sub("", bare))}


def _common_folder(paths: Mapping[str, str], tracks: set[str]) -> str:
    """Return the folder that holds everything, as zipping a folder makes it; a track's folder is no such folder."""
    folders = [path.split("/")[:-1] for path in paths]
    ends = zip(min(folders, default=[]), max(folders, default=[]), strict=False)  # what these share, all share
    return "".join(f"{one}/" for one, _ in takewhile(lambda pair: pair[0] == pair[1] and pair[0] not in tracks, ends))


def _wanted(lesson: Lesson) -> set[str]:
    return {function.name for function in lesson.functions}


def defined_names(source: str) -> frozenset[str]:
    """Return the names of functions, classes and values at the top level of a source."""
    try:
        return module_names(source).assigned
    except SyntaxError:  # what it was meant to define can still be seen
        return frozenset(re.findall(r"^(?:def|class)[ \t]+(\w+)", source, re.MULTILINE))


@cache  # each hand-in is compared with it
def _definitions_of_exercise(source: str, wanted: frozenset[str]) -> dict[str, Body]:
    return last_bindings(source, wanted)
