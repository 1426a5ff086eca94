"""`learn`: the learner's commands."""

from __future__ import annotations

from typing import NoReturn

import click

from grader.cli.lazy_group import HELP_OPTIONS, LazyGroup
from grader.cli.options import course_option, version_option
from grader.cli.run_command import run
from grader.errors import UsageError

COMMANDS = {
    "start": "grader.cli.learn.start",
    "list": "grader.cli.learn.list",
    "read": "grader.cli.learn.read",
    "check": "grader.cli.check.check",
    "watch": "grader.cli.check.watch",
    "web": "grader.cli.check.web",
    "trace": "grader.cli.check.trace",
    "show": "grader.cli.check.show",
    "build": "grader.cli.check.build",
    "hint": "grader.cli.learn.hint",
    "solution": "grader.cli.learn.solution",
    "reset": "grader.cli.learn.reset",
    "quiz": "grader.cli.quiz.group",
    "review": "grader.cli.quiz.repeat:review",
    "report": "grader.cli.standing.report",
    "progress": "grader.cli.standing.progress",
    "hand-in": "grader.cli.learn.hand_in",
    "demo": "grader.cli.learn.demo",
    "doctor": "grader.cli.doctor.doctor",
}

MEANT = dict.fromkeys(("test", "run", "verify", "grade", "submit"), "check")
MEANT |= dict.fromkeys(("status", "score", "scores"), "progress")

ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True}

EPILOG = """A lesson may be given by the beginning of its name, or by its number:

\b
  learn check mul
  learn check 5

Complete lesson names with Tab, in bash (or zsh_source, fish_source):

\b
  eval "$(_LEARN_COMPLETE=bash_source learn)"
"""


def _explain_word(ctx: click.Context, word: str) -> str:
    """Say what a word is that is no command: a lesson, or what `learn` does alone; "" if it is neither."""
    if word in ("next", "continue", "home"):
        return '"learn" alone says what is next.'
    from grader.cli.context import find_context  # here: a command that is known needs no course
    from grader.course import find_lesson
    from grader.errors import SelfattendError

    try:
        lesson = find_lesson(find_context(ctx).course, word).name
    except SelfattendError:
        return ""
    return f'It is a lesson: "learn read {lesson}", "learn check {lesson}".'


@click.group(
    cls=LazyGroup,
    commands_in=COMMANDS,
    meant=MEANT,
    never_meant=("reset",),  # it takes the learner's file away
    explain=_explain_word,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings=HELP_OPTIONS,
)
@course_option
@version_option
@click.pass_context
def learn(ctx: click.Context) -> None:
    """Transformers from scratch, with a judge that names your mistake.

    Alone, `learn` says where you are and what to do next.

    \b
    Example:
      learn start my-transformer      a folder of exercises
      cd my-transformer
      learn read softmax              the lesson
      learn check softmax             your work, assessed
    """  # noqa: D401 (the title of `learn --help`)
    if ctx.invoked_subcommand is None:
        from grader.cli.learn.next_step import show_position

        show_position(ctx)


@learn.command("judge", hidden=True, add_help_option=False, context_settings=ANY_ARGUMENTS)
def judge() -> None:
    """Say what became of marks by a language model."""
    raise UsageError(
        "marks by a language model were taken out; your own marks stay as they are",
        next_step="learn quiz open TOPIC --prompt, which prints a prompt for a model of your choice",
    )


def main() -> NoReturn:
    """Run the command."""
    run(learn, "learn")


if __name__ == "__main__":
    main()
