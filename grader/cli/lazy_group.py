"""Groups of commands that import a command only when it is called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from grader.cli.run_command import ReportedError
from grader.errors import SelfattendError

HELP_OPTIONS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}  # a group's commands inherit them


class LazyGroup(click.Group):
    """A group whose `commands_in` maps a command's name to its module, or to `module:name` if it is not `command`.

    `meant` maps other words to the commands that they mean; no word is taken for one of `never_meant`. `explain`
    returns a sentence on a word that is something else here, or "".
    """

    def __init__(
        self,
        *args: Any,
        commands_in: Mapping[str, str],
        meant: Mapping[str, str] | None = None,
        never_meant: Sequence[str] = (),
        explain: Callable[[click.Context, str], str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._commands_in = dict(commands_in)
        self._meant = dict(meant or {})
        self._never_meant = never_meant
        self._explain = explain

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands: those of the table, in its order, then those added to the group."""
        return [*self._commands_in, *self.commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command."""
        if name not in self._commands_in:
            return super().get_command(ctx, name)
        module, _, function = self._commands_in[name].partition(":")
        command: click.Command = getattr(import_module(module), function or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name is answered with similar ones."""
        name = args[0]
        names = self.list_commands(ctx)
        if name in names or name.startswith("-"):
            return super().resolve_command(ctx, args)
        import difflib  # here: only a mistyped name needs it

        close = [self._meant[name]] if name in self._meant else difflib.get_close_matches(name, names)
        close = [guess for guess in close if guess not in self._never_meant]
        meant = " or ".join(f'"{ctx.command_path} {guess}"' for guess in close)
        told = self._explain(ctx, name) if self._explain and name not in self._meant else ""
        found = f"Did you mean {meant}?" if close else f'"{ctx.command_path} --help" lists the commands.'
        raise click.UsageError(f'There is no command "{name}". {told or found}', ctx=ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Turn our errors into click's, which are reported with their exit code."""
        try:
            return super().invoke(ctx)
        except SelfattendError as error:
            raise ReportedError(error) from error


class CommandWithCommands(click.Command):
    """A command whose first argument may be the name of a subcommand."""

    def __init__(self, name: str | None, *args: Any, commands_in: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)
        self._group = LazyGroup(name, commands_in=commands_in)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the group's context if a subcommand is named, first or after the course."""
        position = 0
        while args[position : position + 1] == ["--course"]:
            position += 2
        name = "".join(args[position : position + 1])
        if name in self._group.list_commands(click.Context(self)):
            rest = [*args[:position], *args[position + 1 :]]
            return self._group.make_context(info_name, [name, *rest], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show one usage for both."""
        return [*super().collect_usage_pieces(ctx), "| COMMAND"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, then the commands."""
        super().format_options(ctx, formatter)
        self._group.format_commands(ctx, formatter)
