"""The files of Python that a notebook's cells write: `%%writefile softmax.py`; also once it was saved as Python."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from posixpath import normpath

from grader.intake.limits import is_source
from grader.intake.notebook.notebook_to_module import code_cells, exported_cells
from grader.submission import MAX_BYTES

APPEND = ("-a", "--append")
_WRITES = re.compile(r"\s*%%(?:write)?file(?:[ \t]+(.*)|)(?:\n|$)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")
_ROOT = re.compile(r"/+|[A-Za-z]:/*")
_COLABS = re.compile(r"^/content/(?!g?drive/)")  # where its notebooks run; a drive is mounted there


def written_files(
    raw: bytes, note: Callable[[str], None] = lambda text: None, *, is_exported: bool = False
) -> dict[str, tuple[int, str]]:
    """Return the text of each file by its name, with the number of the last code cell that writes it.

    *raw* is a notebook, or with `is_exported` a file of Python that may have been saved out of one.

    As when the cells are run in turn, that one counts alone, or is added with `-a`. Of an absolute path the last part
    is the name: where its notebook lay is known to nobody here. *note* is called with what is not understood. Raises
    NotebookError.
    """
    files: dict[str, tuple[int, str]] = {}
    cells_of = exported_cells if is_exported else code_cells
    for number, code in enumerate(cells_of(raw), 1) if b"file" in raw else ():
        if not (found := _WRITES.match(code)):
            continue
        name, adds = _read_line(found[1] or "")
        if not name:
            note(f"Code cell {number} was left out: {found[0].strip()} is not understood.")
        elif is_source(name):
            before = files.get(name, (0, ""))[1] if adds else ""
            # one more than a file may have, so that too large a one is noticed
            files[name] = number, (before + code[found.end() :])[: MAX_BYTES + 1]
    return _beside(files)


def _beside(files: dict[str, tuple[int, str]]) -> dict[str, tuple[int, str]]:
    """Return files by their names beside the notebook; what lies in several folders keeps them, to be told apart."""
    short = {name: name.rpartition("/")[2] if _ROOT.match(name) else name for name in files}
    count = Counter(short.values())
    return {short[name] if count[short[name]] == 1 else _ROOT.sub("", name, 1): files[name] for name in files}


def _read_line(line: str) -> tuple[str, bool]:
    """Return the file that a line names, as IPython reads it, and whether it is added to; no name if it is not known.

    Backslashes part folders, as on Windows, and a name may be in quotes; with `{` or `$` it is one that is known as the
    cell runs.
    """
    with suppress(ValueError):  # of a quote that has no end
        words = shlex.split(line, posix=False)
        names = [word for word in words if word not in APPEND]
        name = _QUOTED.sub(r"\2", names[0]) if len(names) == 1 else ""
        if name and not re.search(r"""^-|["'{$]""", name):
            return _COLABS.sub("", normpath(name.replace("\\", "/"))), len(words) > 1
    return "", False
