"""A file of Python that was saved out of a notebook, read as the notebook itself would be.

Its functions, and what they need, are taken, on the lines that they have; what else stands between them, as a plot or a
mounted drive, is not run, and what fails costs nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from grader.intake.notebook.join_cells import guard_file
from grader.intake.notebook.lost_definitions import below_magic
from grader.intake.notebook.notebook_to_module import exported_calls, file_to_python, one_kind_of_ends
from grader.submission import MAX_BYTES

_MARK = re.compile(
    r"^(?:#[ ]In[ ]?\[[ \d]*\]:|\#[ ]?%%(?:[ ]|$)"  # nbconvert's; those of VS Code, Spyder and jupytext
    r"|\#[ ]Databricks[ ]notebook[ ]source$|\#[ ]jupyter:$|Automatically[ ]generated[ ]by[ ]Colab"
    r"|(?:from|import)[ ](?:IPython|google\.colab)\b)",
    re.MULTILINE,
)
_COMMENTED = re.compile(r"^# (?:%%(?: .*)?|\+.*)\n(?P<cell># %%\w.*(?:\n#.*)*)", re.MULTILINE)


def read_exported(source: str, note: Callable[[str], None] = lambda text: None, wanted: Collection[str] = ()) -> str:
    """Return such a file as a module of its definitions; any other as it is. *note* is called with what is left out.

    *wanted* are names that are to be defined, in whatever way.
    """
    text, read = file_to_python(source, note), one_kind_of_ends(source)
    if len(source) > MAX_BYTES or (text == source and not _MARK.search(read)):
        return text
    for line, cell in _magic_cells(read):
        if why := below_magic(cell, wanted):
            note(f"The cell in line {line} was left out: {why}")
    plain = read if text == source else text
    guarded = guard_file(plain, note, wanted)
    return text if guarded == plain else guarded


def _magic_cells(source: str) -> Iterator[tuple[int, str]]:
    """Yield the cells below a magic, as they were in the notebook, with the line where they stand."""
    found = list(exported_calls(source)) if "get_ipython" in source else []
    found += [
        (each.start("cell"), re.sub(r"^# ?", "", each["cell"], flags=re.M)) for each in _COMMENTED.finditer(source)
    ]
    for start, cell in found:
        yield source.count("\n", 0, start) + 1, cell
