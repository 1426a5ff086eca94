"""Write a lesson as a notebook: its text, the exercise in a cell that checks itself, and what comes after."""

from __future__ import annotations

import json
from typing import Any

from grader.course import read_parts
from grader.files import read_file
from grader.model import Lesson


def make_notebook(lesson: Lesson, written: str = "") -> str:
    """Return the notebook; it begins with what the learner has *written*, or with the stub. Raises CourseError."""
    text = "".join(_fold(part.answer, part.hidden) + part.text for part in read_parts(lesson))
    code = (written or read_file(lesson.exercise_path)).strip("\n")
    codes = [
        "%load_ext grader.notebook",
        f"%%check {lesson.name}\n{code}",
        f"%trace {lesson.name}",
        f"%hint {lesson.name}",
    ]
    codes += [f'show("{lesson.name}")'] if lesson.pictures_path.is_file() else []
    codes.append(f'quiz(3, "{lesson.name}")')
    cells = [_cell("markdown", text.strip("\n")), *(_cell("code", code) for code in codes)]
    for number, cell in enumerate(cells, 1):
        cell["id"] = f"{lesson.name.replace('_', '-')}-{number}"
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _fold(name: str, answer: str) -> str:
    return f"\n<details><summary>{name}</summary>\n\n{answer}\n\n</details>\n\n" if name else ""


def _cell(kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})
