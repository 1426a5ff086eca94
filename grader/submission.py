"""Read a learner's file, and the learner's own files that it imports, as text. Nothing is run."""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import stat
import sys
from collections import deque
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from functools import cached_property, partial
from keyword import iskeyword
from pathlib import Path

from grader.errors import SubmissionError
from grader.files import at, is_file, read_bounded, resolved
from grader.model import Course, Lesson, Submission
from grader.source.library_parts import COME_ALONG
from grader.source.parse import imported_module, imports_in
from grader.source.scopes import module_names

MAX_BRACES = 5_000  # Python 3.11 reads an f-string in the square of those in it: 16 s for 40,000
OF_PACKAGE = "__init__.py"
ARTEFACT_SUFFIX = ".safetensors"  # of weights that a learner trained
MAX_ARTEFACT_BYTES = 8 << 20
MAX_BYTES = 250_000  # for the file, and for all that it imports; read in far less than the judge's 10 s

NAME_IT = "learn check LESSON --file FILE.py"
WITHOUT_DATA = "hand in your own code only, without data in it"
START = "learn start (it adds the files that are missing, and keeps yours)"

# Names that only the real package may have: what the checks run on, and what torch imports when it needs it.
_OUR_NAMES = frozenset({"conftest", "grader"})
# fmt: off
_PACKAGE_NAMES = frozenset({
    "torch", "numpy", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "rich", "click",
})
# fmt: on

RESERVED = sys.stdlib_module_names | _PACKAGE_NAMES | COME_ALONG | _OUR_NAMES

# PEP 263, of which we take the encodings that old editors write; others can be slow to decode on purpose.
_CODING_COMMENT = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_SINGLE_BYTE = frozenset({"ascii", "us-ascii", "latin-1", "iso-8859-1", "iso-8859-15", "cp1252", "windows-1252"})
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def read_submission(
    path: Path, lesson: Lesson, course: Course, root: Path | None = None, workspace: Path | None = None
) -> Submission:
    """Return the submission of *lesson* in the file at *path*, with the learner's own modules that it imports.

    Modules are looked for beside the file and, if it lies in the folder of a track, in those of the other tracks, then
    in the folders above and `src` in each, but never outside *root*: the learner's folder, or the file itself where it
    is all that was handed in. What is not there is taken from the tracks of *workspace*, whose owner checks a file from
    elsewhere. The learner's packages, and modules of these, get plain names, in the source as well.
    Raises SubmissionError if the file itself cannot be read, or a link leads out of *root* to it: in somebody else's
    folder it may be any file of the user's. A fault of another file is a note.
    """
    if root and not resolved(path).is_relative_to(resolved(root)):
        what = "a link leads from here to a file outside of the workspace"
        raise _make_error(what, path, "put the file itself there, then repeat the command")
    in_workspace = path.absolute().parent.name == lesson.track
    source = read_source(path, if_missing=START if in_workspace else NAME_IT)
    siblings = _Siblings(path, course, root, workspace)
    source = siblings.follow(source)
    artefact = read_artefact(path) if lesson.kind == "capstone" else None
    notes = tuple(siblings.notes)
    if lesson.kind == "capstone" and artefact is None and os.path.lexists(beside := artefact_path(path)):
        why = "it is a link" if beside.is_symlink() else "it is no file that can be read"
        notes += (f"{beside.name} is left out: {why}",)
    return Submission(lesson.name, str(path), source, siblings.found, notes, artefact=artefact)


def artefact_path(path: Path) -> Path:
    """Return where the weights lie that belong to a submission."""
    return path.with_suffix(ARTEFACT_SUFFIX)


def read_artefact(path: Path) -> bytes | None:
    """Return the weights beside a submission, cut at one byte more than is allowed; None without an ordinary file."""
    artefact = artefact_path(path)
    try:
        return read_bounded(artefact, MAX_ARTEFACT_BYTES + 1) if is_file(artefact) else None
    except OSError:
        return None


def read_source(path: Path, if_missing: str = NAME_IT) -> str:
    """Read a Python file as text, with newlines as line ends.

    Raises SubmissionError; `if_missing` is its next step where there is no such file, or another thing in its place.
    """
    source = decode_source(read_bytes(path, if_missing), path)
    if _is_notebook(source):
        rename = f"rename it to {path.stem}.ipynb, or save it as Python in Jupyter or Colab"
        raise _make_error("the file is a notebook, whatever its name says", path, rename)
    if source.count("{") > MAX_BRACES:
        raise _make_error(f"the file has more than {MAX_BRACES} curly brackets", path, WITHOUT_DATA)
    return source


def _is_notebook(source: str) -> bool:
    """Return True for the JSON of a notebook, which may be an expression of Python as well."""
    if not (source.lstrip().startswith("{") and '"cells"' in source and '"nbformat"' in source):
        return False
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(source).get("cells"), list)
    return False


def read_bytes(path: Path, if_missing: str = NAME_IT) -> bytes:
    """Return what is in a Python file. Raises SubmissionError as `read_source` does."""
    instead = if_missing if if_missing == NAME_IT else f"move it away, then {if_missing}"
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # opening a pipe would wait for a writer
            what = "a Python file is needed, and this is a folder" if stat.S_ISDIR(mode) else "this is no ordinary file"
            raise _make_error(what, path, instead)
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _make_error("there is no such file", path, if_missing) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        next_step = instead if getattr(error, "errno", None) == errno.ELOOP else "make it readable for yourself"
        raise _make_error(f"the file cannot be read: {reason}", path, next_step) from None
    if len(raw) > MAX_BYTES:
        raise _make_error("the file is larger than 250 kB", path, WITHOUT_DATA)
    return raw


def decode_source(raw: bytes, path: Path) -> str:
    """Return the text of a Python file, with newlines as line ends. Raises SubmissionError, which names *path*."""
    save = "save the file as UTF-8 in your editor"
    if raw.startswith(UTF16_BOMS):
        raise _make_error("the file is saved as UTF-16; Python reads UTF-8", path, save)
    start = len(UTF8_BOM) if raw.startswith(UTF8_BOM) else 0
    encoding = _declared_encoding(raw[start:])
    if not encoding.startswith(("utf-8", "utf8")) and encoding not in _SINGLE_BYTE:
        raise _make_error(f"the file declares the encoding {encoding}", path, f"{save}, and remove that declaration")
    try:
        source = raw[start:].decode(encoding if encoding in _SINGLE_BYTE else "utf-8")
    except UnicodeDecodeError as error:
        offset = start + error.start
        line = raw.count(b"\n", 0, offset) + 1
        what = f"the file is not UTF-8 text: byte 0x{raw[offset]:02x} at offset {offset}, line {line}"
        raise SubmissionError(what, where=at(path, line), next_step=save) from None
    return source.replace("\r\n", "\n").replace("\r", "\n")


def encode_source(source: str) -> bytes:
    """Return what `decode_source` reads as this text. Raises UnicodeEncodeError: its encoding may lack a sign."""
    encoding = _declared_encoding(source.encode("utf-8", "replace"))
    return source.encode(encoding if encoding in _SINGLE_BYTE else "utf-8")


def _declared_encoding(raw: bytes) -> str:
    """Return the encoding named in a comment on the first two lines, else "utf-8"."""
    for line in raw.split(b"\n", 2)[:2]:
        if declared := _CODING_COMMENT.match(line):
            return declared[1].decode("ascii", "replace").lower().replace("_", "-")
        if not re.match(rb"[ \t\f]*(#.*)?\r?$", line):
            break  # a second line counts only after an empty line or a comment
    return "utf-8"


def _make_error(what: str, path: Path, next_step: str) -> SubmissionError:
    return SubmissionError(what, where=str(path), next_step=next_step)


class _Siblings:
    """The learner's modules that a file imports, and those that these import in turn."""

    def __init__(self, path: Path, course: Course, root: Path | None, workspace: Path | None) -> None:
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
        self._around = [place for folder in above for place in (folder, folder / "src")]
        self._installed = RESERVED.union(name.replace("-", "_") for name in course.packages)
        self._places = [*dict.fromkeys((*self._folders, *self._around))]
        self._listed: dict[Path, frozenset[str]] = {}  # what lies in a folder
        self._of_packages: dict[str, Path] = {}  # files, by the plain names that they got
        self._given: dict[Path, set[str]] = {}  # the names that the file of a package gives
        self._chars_left = MAX_BYTES

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
        return self._find_file(name) or self._find_below(self._around, name, OF_PACKAGE)

    def _find_file(self, name: str) -> Path | None:
        if name in self._of_packages:
            return self._of_packages[name]
        places = (self._file_in(folder, f"{name}{end}") for end in (".py", ".ipynb") for folder in self._places)
        copies = self._copies.get(name, []) if self._home in self._folders else []
        one_copy = copies[0] if len(copies) == 1 and is_file(copies[0]) else None
        return next(filter(None, places), one_copy)

    def _find_below(self, folders: Sequence[Path], *parts: str) -> Path | None:
        return next(filter(None, (self._file_in(folder, *parts) for folder in folders)), None)

    def _file_in(self, folder: Path, *parts: str) -> Path | None:
        """Return a file below a folder; of what does not lie in that, nothing is asked of the disk."""
        if folder not in self._listed:
            with suppress(OSError):
                self._listed[folder] = frozenset(each.name for each in folder.iterdir())
        is_listed = parts[0] in self._listed.setdefault(folder, frozenset())
        return file if is_listed and is_file(file := folder.joinpath(*parts)) else None

    @cached_property
    def _copies(self) -> dict[str, list[Path]]:
        """The files beside with a number behind the name of their module, by that name."""
        found: dict[str, list[Path]] = {}
        with suppress(OSError):
            for file in self._home.glob("*(*).py"):
                found.setdefault(re.sub(r" ?\(\d+\)$", "", file.stem), []).append(file)
        return found

    def _plain_name(self, importer: Path, module: str, part: str = "") -> str:
        """Return the plain name that a module gets, or one that is *part* of it, if it is of the learner's packages.

        It is "" for any other, and for what a module gives of itself. *module* is as *importer* writes it.
        """
        file = self._find_in_package(importer, module)
        if part and file and (file.name != OF_PACKAGE or self._gives(file, part)):
            return ""
        if part:
            file = self._find_in_package(importer, f"{module}{'' if module.endswith('.') else '.'}{part}")
        return self._name_file(file) if file else ""

    def _find_in_package(self, importer: Path, module: str) -> Path | None:
        """Return the file of a module: a relative one lies below the folder of its *importer*, or one above that."""
        dots = len(module) - len(module.lstrip("."))
        first, *inner = module[dots:].split(".")
        if dots:
            own = (self._root, self._workspace)
            folders = [each for each in [*importer.parents][dots - 1 : dots] if any(map(each.is_relative_to, own))]
        elif first in self._installed or self._find_file(first):
            return None
        else:
            folders = self._around
        if not first:
            return self._find_below(folders, OF_PACKAGE)
        *above, last = (first, *inner)
        return self._find_below(folders, *above, f"{last}.py") or self._find_below(folders, *above, last, OF_PACKAGE)

    def _name_file(self, file: Path) -> str:
        """Return the name of a file, or of its package, and where that has another meaning the path to it."""
        name = file.parent.name if file.name == OF_PACKAGE else file.stem
        held_by = self._find(name)
        is_free = held_by in (None, file) or (held_by == file.with_name(OF_PACKAGE) and not held_by.stat().st_size)
        if name in self._installed or not is_free or file == self._root / OF_PACKAGE:
            within = self._root if file.is_relative_to(self._root) else self._workspace
            name = "_".join(file.relative_to(within).with_suffix("").parts)
        is_name = name.isidentifier() and not iskeyword(name) and name not in self._installed
        return name if is_name and self._of_packages.setdefault(name, file) == file else ""

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
        """Return the names that a file binds, and the files of which it takes all; nothing beyond what may be read."""
        with suppress(SubmissionError, SyntaxError):
            source = "" if self._chars_left < 0 or self._leads_out(file) else read_source(file)
            self._chars_left -= len(source)
            stars = [imported_module(node) for node in imports_in(source) if node.names[0].name == "*"]
            others = (self._find_in_package(file, star) for star in stars)
            return module_names(source).bound, {other for other in others if other}
        return frozenset(), set()

    def _leads_out(self, file: Path) -> bool:
        return not any(resolved(file).is_relative_to(resolved(folder)) for folder in (self._root, self._workspace))

    def _keep(self, name: str, file: Path) -> str:
        if self._leads_out(file):
            self._note(f"{file.name} is left out: it is a link that leads out of {self._root}")
            return ""
        try:
            source = _rename_imports(read_source(file), partial(self._plain_name, file))
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
        if file.parent == self._home:
            why = "the checks use that name" if name in _OUR_NAMES else f"the real {name} is used"
            self._note(f"{file.name} beside your file is ignored: {why}; rename it")

    def _note_track(self, name: str, rest: str) -> None:
        if name in self._tracks and rest and is_file(self._root / name / f"{rest}.py"):
            self._note(f"{name}.{rest} is not found from here: write `from {rest} import ...` instead")


def imported_modules(source: str) -> list[str]:
    """Return the modules that a source imports anywhere, dotted and sorted, without relative ones."""
    names: set[str] = set()
    for node in imports_in(source):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif node.module and not node.level:
            names.add(node.module)
    return sorted(names)


def _rename_imports(source: str, find: Callable[..., str]) -> str:
    """Return *source*, on the same lines, with imports out of the learner's packages as those of plain modules.

    What is sent to a worker, and what reads a source, knows the learner's files by plain names alone. *find* gives that
    of a module, or of a part of it, "" for any that is not the learner's. `import a.b`, which binds `a`, stays.
    """
    lines = source.split("\n")
    # from the end, so that the places of others stay what they are
    for node in sorted(imports_in(source), key=lambda node: (node.lineno, node.col_offset), reverse=True):
        if made := _rename(node, find):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            before, after = lines[first].encode()[: node.col_offset], lines[last].encode()[node.end_col_offset :]
            lines[first : last + 1] = [f"{before.decode()}{made}{after.decode()}", *[""] * (last - first)]
    return "\n".join(lines)


def _rename(node: ast.Import | ast.ImportFrom, find: Callable[..., str]) -> str:
    """Return an import as it is to be written in one line; "" for one that stays as it is."""
    if isinstance(node, ast.Import):
        names = [find(each.name) if each.asname and "." in each.name else "" for each in node.names]
        plain = [ast.alias(new or old.name, old.asname) for new, old in zip(names, node.names, strict=True)]
        return ast.unparse(ast.Import(plain)) if any(names) else ""
    module = imported_module(node)
    names = [find(module, each.name) for each in node.names]
    rest = [each for each, name in zip(node.names, names, strict=True) if not name]
    whole = find(module) if rest else ""
    if rest and (not whole or (whole == module and not any(names))):
        return ""
    plain = [ast.alias(new, old.asname or old.name) for new, old in zip(names, node.names, strict=True) if new]
    made = [ast.Import(plain)] if plain else []
    return "; ".join(map(ast.unparse, [*made, ast.ImportFrom(whole, rest, 0)] if rest else made))
