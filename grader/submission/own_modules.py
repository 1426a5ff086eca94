"""Follow the imports of a learner's file into the learner's own modules, and give these plain names."""

from __future__ import annotations

import ast
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from functools import cache, cached_property, partial
from keyword import iskeyword
from pathlib import Path

from grader.errors import SubmissionError
from grader.model import Course, Lesson
from grader.source.library_parts import COME_ALONG
from grader.source.parse import imported_module, imports_in, nodes_in, parse
from grader.source.scopes import imported_name, module_names
from grader.submission.own_files import FilesOnDisk
from grader.submission.source_text import MAX_BYTES, check_size, to_source

OF_PACKAGE = "__init__.py"

# how a browser, or Canvas, numbers a copy: softmax (1), softmax-1
COPY_NUMBER = r"\(\d{1,3}\)|-\d{1,2}"
_NUMBERED = re.compile(rf"(?<![ _-])[ _-]*(?:{COPY_NUMBER})$")

# Names that only the real package may have: what the checks run on, and what torch imports when it needs it.
_OUR_NAMES = frozenset({"__main__", "conftest", "grader"})
# fmt: off
_PACKAGE_NAMES = frozenset({
    "torch", "numpy", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "rich", "click",
})
# fmt: on

RESERVED = sys.stdlib_module_names | _PACKAGE_NAMES | COME_ALONG | _OUR_NAMES


class OwnModules:
    """The learner's modules that a file imports, and those that these import in turn."""

    def __init__(
        self,
        path: Path,
        lesson: Lesson,
        course: Course,
        root: Path | None,
        workspace: Path | None,
        files: FilesOnDisk,
    ) -> None:
        self._files = files
        self.found: dict[str, tuple[str, str]] = {}
        self.notes: list[str] = []
        self._file = path.absolute()
        self._home = self._file.parent
        self._tracks = [track.name for track in course.tracks]
        in_track = self._home.name in self._tracks
        parent = self._home.parent if in_track else self._home
        self._root = root.absolute() if root else parent
        others = [parent / name for name in self._tracks if in_track and name != self._home.name]
        self._folders = [folder for folder in (self._home, *others) if folder.is_relative_to(self._root)]
        self._workspace = workspace or self._root
        self._folders += [workspace / name for name in self._tracks] if workspace else []
        above = [folder for folder in (self._home, *self._home.parents) if folder.is_relative_to(self._root)]
        around = [place for folder in above for place in (folder, folder / "src")]
        self._around = self._holding_of(around)
        self._places = self._holding_of(dict.fromkeys((*self._folders, *around)))
        self._holding = cache(self._holding_of)  # of the one folder in which a relative import looks
        self._installed = RESERVED.union(name.replace("-", "_") for name in course.packages)
        self._lesson = lesson.name  # the name of the file itself, whatever it is called
        self._of_packages: dict[str, Path] = {}  # files, by the plain names that they got
        self._given: dict[Path, set[str]] = {}  # the names that the file of a package gives
        self._chars_left = MAX_BYTES  # of all that comes along
        self._names_left = MAX_BYTES  # of what is read for its names alone, some of which comes along as well

    def follow(self, source: str) -> str:
        """Collect what *source* imports, transitively, and return it with the names that the modules get.

        A source with a syntax error imports nothing.
        """
        source = _rename_imports(source, partial(self._plain_name, self._file))
        waiting = deque(imported_modules(source))
        seen: set[str] = set()
        while waiting:
            module = waiting.popleft()
            if module not in seen:
                seen.add(module)
                waiting += imported_modules(self._take(module))
        return source

    def _take(self, module: str) -> str:
        """Keep the file of *module* if it is one of the learner's; return its source, or ""."""
        name, _, rest = module.partition(".")
        file = self._find(name)
        if file is None or file.name == OF_PACKAGE:
            self._note_track(name, rest)
        if file is None:
            return ""
        if name in RESERVED:
            self._note_reserved(name, file)
        elif name not in self.found:
            return self._keep(name, file)
        return ""

    def _find(self, name: str) -> Path | None:
        """Return the file of a module: also a notebook, a copy that a browser has numbered, or that of a package."""
        named = self._of_packages.get(name) or self._find_file(name) or self._find_below(self._around, name, OF_PACKAGE)
        copies = self._copies.get(name, []) if self._home in self._folders else []
        return named or (copies[0] if len(copies) == 1 and self._files.is_file(copies[0]) else None)

    def _find_file(self, name: str) -> Path | None:
        return self._find_below(self._places, f"{name}.py") or self._find_below(self._places, f"{name}.ipynb")

    @cached_property
    def _copies(self) -> dict[str, list[Path]]:
        """The files beside with a number behind the name of their module, by that name."""
        found: dict[str, list[Path]] = {}
        for file in map(self._home.joinpath, self._files.names_in(self._home)):
            if file.suffix == ".py" and (name := without_number(file.stem)) != file.stem:
                found.setdefault(name, []).append(file)
        return found

    def _holding_of(self, folders: Iterable[Path]) -> dict[str, list[Path]]:
        """Return which folders hold each name: of thousands of imports most lead nowhere, and are looked up here."""
        found: dict[str, list[Path]] = {}
        for folder in folders:
            for name in self._files.names_in(folder):
                found.setdefault(name, []).append(folder)
        return found

    def _find_below(self, folders: Mapping[str, Sequence[Path]], *parts: str) -> Path | None:
        """Return the first file of that path in the folders that hold its first part."""
        found = (each.joinpath(*parts) for each in folders.get(parts[0], ()))
        return next(filter(self._files.is_file, found), None)

    def _plain_name(self, importer: Path, module: str, part: str = "", is_looked_into: bool = True) -> str:
        """Return the plain name that a module gets, or one that is *part* of it, if it is of the learner's packages.

        It is "" for any other, and for what a module gives of itself. *module* is as *importer* writes it, and where
        that looks into nothing, `from a import a` is the function of a/a.py: `sys.path` leads to that folder.
        """
        file = self._find_in_package(importer, module)
        if part and file and (file.name != OF_PACKAGE or self._gives(file, part)):
            return ""
        if part:
            file = self._find_in_package(importer, f"{module}{'' if module.endswith('.') else '.'}{part}")
        if file and part == module and not is_looked_into and self._gives(file, part):
            return ""
        return self._name_file(file) if file else ""

    def _find_in_package(self, importer: Path, module: str) -> Path | None:
        """Return the file of a module: a relative one lies below the folder of its *importer*, or one above that."""
        dots = len(module) - len(module.lstrip("."))
        first, *inner = module[dots:].split(".")
        if dots:
            own = (self._root, self._workspace)
            folder = [each for each in [*importer.parents][dots - 1 : dots] if any(map(each.is_relative_to, own))]
            folders = self._holding(tuple(folder))
        elif not first or first in self._installed:
            return None
        elif plain := self._find_file(first):
            return plain if (importer, module) == (self._file, self._lesson) else None
        else:
            folders = self._around
        if not first:
            return self._find_below(folders, OF_PACKAGE)
        *above, last = (first, *inner)
        ways = [f"{last}.py"], [last, OF_PACKAGE], [f"{last}.ipynb"]
        return next((file for way in ways if (file := self._find_below(folders, *above, *way))), None)

    def _name_file(self, file: Path) -> str:
        """Return the name of a file, or of its package, and where that has another meaning the path to it.

        `types.py` at the top has no other path: there a word comes before it. The lesson's name is that of its file.
        """
        name = file.parent.name if file.name == OF_PACKAGE else file.stem
        held_by = self._find(name)
        is_free = held_by in (None, file) or (held_by == file.with_name(OF_PACKAGE) and self._files.is_empty(held_by))
        if self._is_taken(name, file) or not is_free or file == self._root / OF_PACKAGE:
            within = self._root if file.is_relative_to(self._root) else self._workspace
            path = "_".join(file.relative_to(within).with_suffix("").parts)
            name = f"own_{path}" if self._is_taken(path, file) else path
        is_name = name.isidentifier() and not iskeyword(name) and not self._is_taken(name, file)
        return name if is_name and self._of_packages.setdefault(name, file) == file else ""

    def _is_taken(self, name: str, file: Path) -> bool:
        return name in self._installed or (name == self._lesson and file != self._file)

    def _gives(self, file: Path, name: str) -> bool:
        """Return True if a file binds a name, or has it of one of which it takes all names."""
        if file not in self._given:
            names, waiting, seen = set[str](), [file], {file}
            for each in waiting:  # grows while it is read
                more, others = self._names_of(each)
                names |= more
                waiting += others - seen
                seen |= others
            self._given[file] = names
        return name in self._given[file]

    def _names_of(self, file: Path) -> tuple[Set[str], set[Path]]:
        """Return the names that a file binds, and the files of which it takes all; nothing beyond what may be read.

        A name that it imports only out of itself is not its own: it is the module of that name.
        """
        with suppress(SubmissionError, SyntaxError):
            source = "" if self._names_left < 0 or self._leads_out(file) else self._read(file)
            self._names_left -= len(source)
            leads_to = {node: self._find_in_package(file, imported_module(node)) for node in imports_in(source)}
            stars = {other for node, other in leads_to.items() if other and node.names[0].name == "*"}
            taken = [(other, each) for node, other in leads_to.items() for each in node.names]
            modules = {each for other, each in taken if other == file and each.asname in (None, each.name)}
            given = {imported_name(each) for _, each in taken if each not in modules}
            names = module_names(source)
            return names.assigned | (names.imported & given), stars
        return frozenset(), set()

    def _leads_out(self, file: Path) -> bool:
        resolved = self._files.resolved
        return not any(resolved(file).is_relative_to(resolved(folder)) for folder in (self._root, self._workspace))

    def _read(self, file: Path) -> str:
        return to_source(self._files.read_bytes(file), file)

    def _keep(self, name: str, file: Path) -> str:
        if self._leads_out(file):
            self._note(f"{file.name} is left out: it is a link that leads out of {self._root}")
            return ""
        try:
            source = _rename_imports(self._read(file), partial(self._plain_name, file))
        except SubmissionError as error:
            self._note(f"{file.name}, which your file imports, is left out: {error.what}")
            return ""
        self._chars_left -= len(source)
        if self._chars_left < 0:
            self._note(f"{file.name} is left out: the files that yours imports are larger than 250 kB together")
            return ""
        self.found[name] = (str(file), source)
        return source

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _note_reserved(self, name: str, file: Path) -> None:
        if file.parent == self._home and file not in self._of_packages.values():
            why = "the checks use that name" if name in _OUR_NAMES else f"the real {name} is used"
            self._note(f"{file.name} beside your file is ignored: {why}; rename it")

    def _note_track(self, name: str, rest: str) -> None:
        if name in self._tracks and rest and self._files.is_file(self._root / name / f"{rest}.py"):
            self._note(f"{name}.{rest} is not found from here: write `from {rest} import ...` instead")


def without_number(name: str) -> str:
    """Return the name of a file, without its suffix, without the number of a copy as well."""
    return _NUMBERED.sub("", name)


def why_unread(raw: bytes, path: Path) -> str:
    """Return why what is in a file is no Python source that can be read; empty if it is."""
    try:
        parse(to_source(check_size(raw, path), path))
    except SubmissionError as error:
        return error.what
    except SyntaxError as error:
        return f"{error.msg}, line {error.lineno}" if error.lineno else str(error)
    return ""


def imported_modules(source: str) -> list[str]:
    """Return the modules that a source imports anywhere, dotted and sorted, without relative ones."""
    names: set[str] = set()
    for node in imports_in(source):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif node.module and not node.level:
            names.add(node.module)
    return sorted(names)


def imported_beside(source: str) -> set[str]:
    """Return the first names of the modules that a source imports out of its own folder, by one dot."""
    beside = [node for node in imports_in(source) if isinstance(node, ast.ImportFrom) and node.level == 1]
    names = (name for node in beside for name in ([node.module] if node.module else [each.name for each in node.names]))
    return {name.partition(".")[0] for name in names}


def _rename_imports(source: str, find: Callable[..., str]) -> str:
    """Return *source*, on the same lines, with imports out of the learner's packages as those of plain modules.

    What is sent to a worker, and what reads a source, knows the learner's files by plain names alone. *find* gives that
    of a module, or of a part of it, "" for any that is not the learner's. `import a.b`, which binds `a`, stays.
    """
    lines = source.split("\n")
    imports = imports_in(source)
    parts = nodes_in(parse(source)) if imports else []
    opened = {part.value.id for part in parts if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name)}
    # from the end, so that the places of others stay what they are
    for node in sorted(imports, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        if made := _rename(node, find, opened):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            before, after = lines[first].encode()[: node.col_offset], lines[last].encode()[node.end_col_offset :]
            lines[first : last + 1] = [f"{before.decode()}{made}{after.decode()}", *[""] * (last - first)]
    return "\n".join(lines)


def _rename(node: ast.Import | ast.ImportFrom, find: Callable[..., str], opened: Set[str]) -> str:
    """Return an import as it is to be written in one line; "" for one that stays as it is.

    *opened* are the names of which its source reads an attribute.
    """
    if isinstance(node, ast.Import):
        names = [find(each.name) if each.asname or "." not in each.name else "" for each in node.names]
        pairs = [(new or old.name, old) for new, old in zip(names, node.names, strict=True)]
        plain = [ast.alias(new, old.asname or old.name) if new != old.name else old for new, old in pairs]
        return ast.unparse(ast.Import(plain)) if plain != node.names else ""
    module = imported_module(node)
    names = [find(module, each.name, imported_name(each) in opened) for each in node.names]
    rest = [each for each, name in zip(node.names, names, strict=True) if not name]
    whole = find(module) if rest else ""
    if rest and (not whole or (whole == module and not any(names))):
        return ""
    plain = [ast.alias(new, old.asname or old.name) for new, old in zip(names, node.names, strict=True) if new]
    made = [ast.Import(plain)] if plain else []
    return "; ".join(map(ast.unparse, [*made, ast.ImportFrom(whole, rest, 0)] if rest else made))
