"""`learn judge`: says that marks by a language model were taken out, and what takes their place."""

from __future__ import annotations

import click

from grader.errors import UsageError

_ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True}


@click.command("judge", hidden=True, add_help_option=False, context_settings=_ANY_ARGUMENTS)
def command() -> None:
    """Say what became of marks by a language model."""
    raise UsageError(
        "marks by a language model were taken out; your own marks stay as they are",
        next_step="learn quiz open TOPIC --prompt, which prints a prompt for a model of your choice",
    )
