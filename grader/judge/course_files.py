"""Load the course's own files of Python. They are trusted; submissions never come this way."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from grader.errors import CourseError, SelfattendError
from grader.files import AUDIT, at


def load_file(path: Path) -> ModuleType:
    """Load a file as a module. Raises CourseError, with the line, for whatever it raises."""
    name = f"selfattend_course_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SelfattendError:
        raise  # of another file of the course, which it loads
    except Exception as error:
        what = f"{path.name} cannot be used: {type(error).__name__}: {error}"
        raise CourseError(what, where=at(path, line_in(error, path)), next_step=AUDIT) from error
    return module


def line_in(error: BaseException, path: Path) -> int:
    """Return the line of a file to which an error belongs, 0 if there is none.

    It is the line that raised the error if that is in the file, else the line from which all else was called.
    """
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno or 0
    steps = [(frame.f_code.co_filename == str(path), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [line for is_own, line in steps if is_own]
    return (own[-1] if steps[-1][0] else own[0]) if own else 0
