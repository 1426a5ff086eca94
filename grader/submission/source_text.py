"""Read one Python file as text, however an editor saved it."""

from __future__ import annotations

import errno
import json
import re
import stat
from contextlib import suppress
from pathlib import Path

from grader.errors import SubmissionError
from grader.files import at

MAX_BRACES = 5_000  # Python 3.11 reads an f-string in the square of those in it: 16 s for 40,000
MAX_BYTES = 250_000  # for the file, and for all that it imports; read in far less than the judge's 10 s

NAME_IT = "learn check LESSON --file FILE.py"
WITHOUT_DATA = "hand in your own code only, without data in it"
START = "learn start (it adds the files that are missing, and keeps yours)"

# PEP 263, of which we take the encodings that old editors write; others can be slow to decode on purpose.
_CODING_COMMENT = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_SINGLE_BYTE = frozenset({"ascii", "us-ascii", "latin-1", "iso-8859-1", "iso-8859-15", "cp1252", "windows-1252"})
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


def read_source(path: Path, if_missing: str = NAME_IT) -> str:
    """Read a Python file as text, with newlines as line ends.

    Raises SubmissionError; `if_missing` is its next step where there is no such file, or another thing in its place.
    """
    return to_source(read_bytes(path, if_missing), path)


def to_source(raw: bytes, path: Path) -> str:
    """Return what is in the Python file at *path* as `read_source` does. Raises SubmissionError."""
    source = decode_source(raw, path)
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
    return check_size(raw, path)


def check_size(raw: bytes, path: Path) -> bytes:
    """Return what is in a Python file. Raises SubmissionError if it is too large."""
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
