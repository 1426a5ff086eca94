"""Build the two repositories of a class on GitHub: the instructor's, and the template of the learners'.

private/     .github/workflows/grade.yml, class.csv, assignment.toml, README.md, the program and the whole course
template/    .github/workflows/check.yml, the exercises, README.md, program/ with the release for learners
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Template

from grader.authoring.release.pack_program import program_files
from grader.authoring.release.wheel import write_wheel
from grader.course.toml_writer import toml_text
from grader.github.class_list import ClassMember, write_class
from grader.model import Course, Lesson

FILES = Path(__file__).parent / "files"
WORKFLOWS = Path(".github/workflows")
WRITE = {"issue": " and *Issues: read and write*", "file": " *and write*"}
FORM = {"issue": "an issue", "file": "a file in feedback/"}
TEMPLATE_README = """\
# {title}

Write your answers in the files here: {files}. To work with hints and questions on your own machine, with Python 3.11 or
newer:

```sh
pip install program/*.whl
learn start .
learn
```

Each push is checked with the public checks: see *Actions*. Your instructor has more of them.
"""


class _Workflow(Template):
    """A template whose signs are none of GitHub's, of a shell's or of YAML's."""

    delimiter = "%%"


@dataclass(frozen=True)
class GitHubSettings:
    """When and how a class is graded: the deadline (UTC), `form` is "issue" or "file", `title` that of the feedback."""

    due: datetime
    form: str
    title: str
    seed: int


def write_private(
    folder: Path, course: Course, lessons: Sequence[Lesson], members: Sequence[ClassMember], settings: GitHubSettings
) -> None:
    """Write the instructor's repository. Raises UsageError if the program is not installed, OSError."""
    for name, content in program_files(course):
        _write(folder / name, content)
    due = settings.due.astimezone(UTC)
    shown = {"due": f"{due:%Y-%m-%d %H:%M} UTC", "form": settings.form, "title": settings.title}
    starts = due + timedelta(seconds=-due.second % 60)  # a schedule knows no seconds, and a day ends with its last one
    cron = f"{starts.minute} {starts.hour} {starts.day} {starts.month} *"
    workflow = _Workflow(_read("grade.yml")).substitute(shown, cron=cron, year=starts.year)
    _write(folder / WORKFLOWS / "grade.yml", workflow.encode())
    names = [lesson.name for lesson in lessons]
    assignment = {
        "lessons": names, "roster": "class.csv", "before": due.isoformat(), "seed": settings.seed, "out": "results"
    }  # fmt: skip
    _write(folder / "assignment.toml", toml_text(assignment).encode())
    write_class(folder / "class.csv", members)
    told = shown | {"title": course.title, "form": FORM[settings.form], "write": WRITE[settings.form]}
    _write(folder / "README.md", Template(_read("README.md")).substitute(told).encode())


def write_template(folder: Path, release: Path, course: Course, lessons: Sequence[Lesson]) -> None:
    """Write the template of the learners' repositories, with a program that carries *release*. Raises as above."""
    for lesson in lessons:
        _write(folder / lesson.track / f"{lesson.name}.py", lesson.exercise_path.read_bytes())
    _write(folder / WORKFLOWS / "check.yml", _read("check.yml").encode())
    _write(folder / ".gitignore", b".selfattend/\n__pycache__/\n")
    files = ", ".join(f"`{lesson.track}/{lesson.name}.py`" for lesson in lessons)
    _write(folder / "README.md", TEMPLATE_README.format(title=course.title, files=files).encode())
    (folder / "program").mkdir()
    write_wheel(release, folder / "program")
    shutil.rmtree(release)


def _read(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
