"""The instructor's command."""

from __future__ import annotations

from typing import NoReturn

import click

from grader.cli.group import HELP_OPTIONS, LazyGroup
from grader.cli.options import course_option, version_option
from grader.cli.run import run

COMMANDS = {
    "run": "grader.cli.grade_run",
    "merge": "grader.cli.grade_merge",
    "report": "grader.cli.grade_report",
    "export": "grader.cli.grade_export",
    "release": "grader.cli.grade_release",
    "bundle": "grader.cli.grade_bundle",
    "items": "grader.cli.grade_items",
    "audit": "grader.cli.grade_audit",
    "new": "grader.cli.grade_new",
    "doctor": "grader.cli.grade_doctor",
}


@click.group(cls=LazyGroup, commands_in=COMMANDS, context_settings=HELP_OPTIONS | {"max_content_width": 100})
@course_option
@version_option
def grader() -> None:
    """Grade a class, and keep the course itself honest.

    \b
    Example:
      grader run submissions --out results      grade everybody in a folder
      grader audit                              prove that every check does its work
      grader new my_lesson --course my-course   begin a lesson
    """


def main() -> NoReturn:
    """The entry point."""
    run(grader, "grader")


if __name__ == "__main__":
    main()
