"""Say what to do where a file that was named is not there."""

from __future__ import annotations

import os
from pathlib import Path

from grader.cli.check.notebook_file import SUFFIX
from grader.cli.context import CourseContext, current_folder, short_path
from grader.errors import SubmissionError
from grader.files import is_file
from grader.terminal.text import command_line

WRITE_THEM = "learn start --notebook (it writes a notebook for each lesson, and keeps yours)"


def require_there(context: CourseContext, path: Path, command: str) -> None:
    """Raise SubmissionError where nothing is at a path that was given to `learn COMMAND`."""
    if not os.path.lexists(path):
        next_step = _find_other(context, path, command) or f"learn {command} LESSON --file FILE{path.suffix}"
        raise SubmissionError("there is no such file", where=str(path), next_step=next_step)


def _find_other(context: CourseContext, path: Path, command: str) -> str:
    """Return the command for the workspace's file of that name, or the one that writes it; "" if it has none."""
    if context.workspace is None:
        return ""
    root = context.workspace.root
    there = [root / track.name / path.name for track in context.course.tracks]
    if found := next(filter(is_file, there), None):
        return command_line("learn", command, short_path(found))
    if path.suffix == SUFFIX and path.stem in context.course.lessons:
        return WRITE_THEM if current_folder() == root else f"{command_line('cd', str(root))}; {WRITE_THEM}"
    return ""
