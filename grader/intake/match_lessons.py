"""Which file of a hand-in is meant for which lesson. Names decide; where they do not, what a file defines decides."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from grader.intake.name_patterns import UNDECIDED, judged
from grader.model import Course, Lesson
from grader.source.parse import parse

MOST_NAMED = 5  # file names in one note
# what systems and browsers make of the name of a copy: softmax (copy), softmax - Copy, softmax(1), Copy of softmax
_COPY = re.compile(r"^copy of |[ _-]*(?:\((?:\d{1,3}|copy(?: \d{1,3})?)\)|\bcopy(?:[ (]*\d{1,3}\)?)?|-\d{1,2})$")


@dataclass(frozen=True)
class Choice:
    """The path of a lesson's file inside the hand-in, empty where there is none, and what is to be said about it."""

    path: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)


class Chooser:
    """Finds lessons among a hand-in's sources: Python text by path, notebooks as Python already."""

    def __init__(self, course: Course, sources: Mapping[str, str], *, only_lesson: bool = False) -> None:
        self.sources = sources
        self.only_lesson = only_lesson  # one lesson was asked for: a lone file is meant for it, whatever its name
        self.names = {lesson.name: {lesson.name, *lesson.aliases} for lesson in course.lessons.values()}
        self.tracks = {track.name for track in course.tracks}
        self.base = _common_folder(sources, self.tracks)
        self._defined: dict[str, frozenset[str]] = {}

    def choose(self, lesson: Lesson) -> Choice:
        """The file of `lesson`: `<track>/<lesson>.py`, else `<lesson>.py` at the top, else the one deeper; else what
        defines the lesson's functions: a notebook, or a Python file that is named for no lesson."""
        named = [path for path in self.sources if _stem(path) in self.names[lesson.name]]
        for paths in (_of_python(named), [path for path in named if not _is_python(path)], self._defining(lesson)):
            if paths:
                return self._best(lesson, paths, self._beside(lesson, paths) if set(paths) <= set(named) else [])
        return Choice()

    def _beside(self, lesson: Lesson, paths: list[str]) -> list[str]:
        """What else is there by the lesson's name, or as a copy of its file, and says something else."""
        names = self.names[lesson.name]
        taken = {name for own in self.names.values() for name in own} - names
        texts = {self.sources[path] for path in paths}
        like = [path for path in self.sources if path not in paths and _stem(_COPY.sub("", _bare(path))) in names]
        return [path for path in like if _stem(path) not in taken and self.sources[path] not in texts]

    def _best(self, lesson: Lesson, paths: list[str], beside: list[str]) -> Choice:
        """The one path of the best rank. Two of the same rank are two answers, unless they say the same."""
        ranked = sorted(paths, key=lambda path: (self._rank(lesson, path), path))
        best = [path for path in ranked if self._rank(lesson, path) == self._rank(lesson, ranked[0])]
        if len({self.sources[path] for path in best}) > 1:
            shown = ", ".join(best[:MOST_NAMED])
            return Choice("", (f"{lesson.name}: several files could be meant ({shown}){UNDECIDED}",))
        others = [*ranked[1:], *sorted(beside)][:MOST_NAMED]
        return Choice(ranked[0], (judged(ranked[0], others),) if others else ())

    def _rank(self, lesson: Lesson, path: str) -> tuple[int, int]:
        parts = PurePosixPath(path.removeprefix(self.base)).parts
        if len(parts) == 2 and parts[0] == lesson.track:
            return 0, 0
        return (1, 0) if len(parts) == 1 else (2, len(parts))

    def _defining(self, lesson: Lesson) -> list[str]:
        taken = {name for names in self.names.values() for name in names}
        unnamed = [path for path in self.sources if _stem(path) not in taken]
        if self.only_lesson and len(self.sources) == 1:
            return unnamed
        wanted = {function.name for function in lesson.functions}
        return [path for path in unnamed if wanted & self._names_in(path)]

    def _names_in(self, path: str) -> frozenset[str]:
        if path not in self._defined:
            self._defined[path] = frozenset(_defined(self.sources[path]))
        return self._defined[path]


def _bare(path: str) -> str:
    """The name of a file without its folders and its suffix, in small letters."""
    return PurePosixPath(path).stem.lower()


def _stem(path: str) -> str:
    """The name of a file as lessons are named: `core/Multi-Head.py` is multi_head."""
    return _bare(path).replace("-", "_").replace(" ", "_")


def _is_python(path: str) -> bool:
    return path.lower().endswith(".py")


def _of_python(paths: list[str]) -> list[str]:
    return [path for path in paths if _is_python(path)]


def _common_folder(paths: Mapping[str, str], tracks: set[str]) -> str:
    """The folder that holds everything, as zipping a folder makes it; a track's folder is not taken away."""
    base = ""
    while True:
        firsts = {path.removeprefix(base).partition("/")[::2] for path in paths}
        tops = {first for first, rest in firsts if rest}
        if len(tops) != 1 or any(not rest for _, rest in firsts) or tops & tracks:
            return base
        base += f"{tops.pop()}/"


def _defined(source: str) -> Iterator[str]:
    """The names that a source gives to functions, classes and values at its top level."""
    try:
        tree = parse(source)
    except SyntaxError:  # what it was meant to define can still be seen
        yield from re.findall(r"^(?:def|class)[ \t]+(\w+)", source, re.MULTILINE)
        return
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.If | ast.Try | ast.With):
            waiting += node.body
