"""The learner's command."""

from __future__ import annotations

from typing import NoReturn

import click

from grader.cli.group import HELP_OPTIONS, LazyGroup
from grader.cli.options import course_option, version_option
from grader.cli.run import run

COMMANDS = {
    "start": "grader.cli.start",
    "list": "grader.cli.list",
    "read": "grader.cli.read",
    "check": "grader.cli.check",
    "hint": "grader.cli.hint",
    "solution": "grader.cli.solution",
    "reset": "grader.cli.reset",
    "quiz": "grader.cli.quiz",
    "review": "grader.cli.review",
    "report": "grader.cli.report",
    "judge": "grader.cli.judge",
    "progress": "grader.cli.progress",
    "demo": "grader.cli.demo",
    "doctor": "grader.cli.doctor",
}

EPILOG = """\b
A lesson may be given by the beginning of its name, or by its number:
  learn check mul
  learn check 5

\b
Complete lesson names with Tab, in bash (or zsh_source, fish_source):
  eval "$(_LEARN_COMPLETE=bash_source learn)"
"""


@click.group(
    cls=LazyGroup, commands_in=COMMANDS, invoke_without_command=True, epilog=EPILOG, context_settings=HELP_OPTIONS
)
@course_option
@version_option
@click.pass_context
def learn(ctx: click.Context) -> None:
    """Transformers from scratch, with a judge that names your mistake.

    Alone, `learn` says where you are and what to do next.

    \b
    Example:
      learn start my-transformer      a folder with every exercise
      cd my-transformer
      learn read softmax              the lesson
      learn check softmax             your work, assessed
    """
    if ctx.invoked_subcommand is None:
        from grader.cli.position import show_position

        show_position(ctx)


def main() -> NoReturn:
    """The entry point."""
    run(learn, "learn")


if __name__ == "__main__":
    main()
