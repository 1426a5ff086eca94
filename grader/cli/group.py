"""A group of commands that imports a command only when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from grader.cli.run import Complaint
from grader.errors import SelfattendError

HELP_OPTIONS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}  # a group's commands inherit them


class LazyGroup(click.Group):
    """`commands_in` maps a command's name to the module that defines it, as a command called `command`."""

    def __init__(self, *args: Any, commands_in: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._commands_in = dict(commands_in)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which a learner meets them."""
        return list(self._commands_in)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command, imported now."""
        if name not in self._commands_in:
            return None
        command: click.Command = import_module(self._commands_in[name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the names that were perhaps meant."""
        name = args[0]
        if name in self._commands_in or name.startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib  # here: only a mistyped name needs it

        close = difflib.get_close_matches(name, self._commands_in)
        meant = " or ".join(f'"{ctx.command_path} {guess}"' for guess in close)
        hint = f"Did you mean {meant}?" if close else f'"{ctx.command_path} --help" lists the commands.'
        raise click.UsageError(f'There is no command "{name}". {hint}', ctx=ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Our errors become click's, which it reports with their exit code."""
        try:
            return super().invoke(ctx)
        except SelfattendError as error:
            raise Complaint(error) from error
