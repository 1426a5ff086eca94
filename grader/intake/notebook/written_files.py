"""The files of Python that a notebook's cells write: `%%writefile softmax.py`."""

from __future__ import annotations

import re

from grader.intake.limits import is_source
from grader.intake.notebook.notebook_to_module import code_cells
from grader.submission import MAX_BYTES

_WRITES = re.compile(r"\s*%%(?:write)?file[ \t]+(-a[ \t]+|--append[ \t]+)?(\S+)[ \t]*(?:\n|$)")


def written_files(raw: bytes) -> dict[str, tuple[int, str]]:
    """Return the text of each file by its name, with the number of the last code cell that writes it.

    As when the cells are run in turn, that one counts alone, or is added with `-a`. Raises NotebookError.
    """
    files: dict[str, tuple[int, str]] = {}
    for number, code in enumerate(code_cells(raw), 1) if b"file" in raw else ():
        if (found := _WRITES.match(code)) and is_source(found[2]):
            before = files.get(found[2], (0, ""))[1] if found[1] else ""
            # one more than a file may have, so that too large a one is noticed
            files[found[2]] = number, (before + code[found.end() :])[: MAX_BYTES + 1]
    return files
