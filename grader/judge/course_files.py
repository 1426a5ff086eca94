"""Load the course's own files of Python. They are trusted; submissions never come this way."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from grader.errors import CourseError


def load_file(path: Path) -> ModuleType:
    """Load a file as a module. Raises CourseError for whatever it raises."""
    name = f"selfattend_course_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise CourseError(f"{path.name} cannot be used: {type(error).__name__}: {error}", where=str(path)) from error
    return module
