"""`grader`, the instructor's program."""

from __future__ import annotations

from typing import NoReturn

import click

from grader.cli.lazy_group import HELP_OPTIONS, LazyGroup
from grader.cli.options import course_option, version_option
from grader.cli.run_command import run

COMMANDS = {
    "run": "grader.cli.grader.run",
    "merge": "grader.cli.gradebook.merge",
    "report": "grader.cli.gradebook.report",
    "open": "grader.cli.gradebook.open",
    "export": "grader.cli.gradebook.export",
    "override": "grader.cli.gradebook.override",
    "return": "grader.cli.gradebook.return_feedback",
    "release": "grader.cli.grader.release",
    "bundle": "grader.cli.grader.bundle",
    "items": "grader.cli.grader.items",
    "audit": "grader.cli.grader.audit",
    "new": "grader.cli.grader.new",
    "show": "grader.cli.grader.show",
    "doctor": "grader.cli.doctor.doctor",
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
    """Run the program."""
    run(grader, "grader")


if __name__ == "__main__":
    main()
