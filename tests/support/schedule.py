"""How `pytest -n` shares the tests out: whole files, so that what a file prepares is made once, the longest first."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

# Files whose tests share little or nothing, and would keep one process busy while the others are done.
EACH_FOR_ITSELF = (
    "batch/test_executors.py",
    "batch/test_resume.py",
    "cli/",
    "diagnosis/test_diagnosis.py",
    "docs/",
    "quiz/test_quiz_flow.py",
)
# Files whose tests named `group/test` share what the group prepares: the answers to a lesson, the attacks on a course.
IN_GROUPS = ("content/test_answers.py", "isolation/test_attacks.py")
LONGEST_FIRST = (
    "web/test_browser_",
    "web/test_class_pages.py",
    "isolation/test_attacks.py",
    "docs/",
    "reports/test_redaction.py",
    "judge/test_prefetch.py",
    "authoring/test_release.py",
    "content/test_answers.py",
    "batch/",
    "gradescope/",
    "judge/",
    "isolation/",
    "cli/test_cli_processes.py",
    "cli/",
)
IN_A_BROWSER = ("web/test_browser_", "web/test_class_pages.py")  # one process starts one for all of them
TESTS = Path(__file__).resolve().parents[1]


class Scheduler(LoadScopeScheduling):
    """Give each process a file, a group of tests or a test at a time, in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.removeprefix("tests/").partition("::")
        if file.startswith(IN_A_BROWSER):
            return "web"
        group, slash, _ = test.partition("[")[2].partition("/")
        if slash and file in IN_GROUPS:
            return f"{file}::{group}"
        return nodeid if file.startswith((*EACH_FOR_ITSELF, *IN_GROUPS)) else file


def rotate_rooms(config: pytest.Config, number: int, count: int) -> None:
    """Let each process begin to collect in another room: it finds compiled what another one has read before."""
    if [Path(each).resolve() for each in config.args] == [TESTS]:
        rooms = sorted({str(path if path.parent == TESTS else path.parent) for path in TESTS.glob("**/test_*.py")
                        if len(path.relative_to(TESTS).parts) < 3})  # fmt: skip
        start = len(rooms) * number // count
        config.args = rooms[start:] + rooms[:start]


def sort_longest_first(items: list[pytest.Item]) -> None:
    """Put the longest files first: what is long and comes last leaves the other processes idle."""

    def place(item: pytest.Item) -> tuple[int, str]:
        file = item.nodeid.removeprefix("tests/").partition("::")[0]
        return next((n for n, start in enumerate(LONGEST_FIRST) if file.startswith(start)), len(LONGEST_FIRST)), file

    items.sort(key=place)
