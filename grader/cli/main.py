"""From a click command to an exit code. No traceback of ours ever reaches a user.

0 done, 1 not yet, 2 wrong usage or a missing file, 3 a fault of ours, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from typing import IO, Any, NoReturn

import click

from grader.errors import SelfattendError

STOPPED = 130
OUR_FAULT = 3


class Complaint(click.ClickException):
    """One of our errors as click reports it: what, where and the next command, on standard error."""

    def __init__(self, error: SelfattendError) -> None:
        super().__init__(str(error))
        self.exit_code = error.exit_code  # type: ignore[misc]  # click declares it for the class, and reads it from the instance

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"Error: {self.message}", file=file or sys.stderr)


def run(command: click.Command, name: str) -> NoReturn:
    """Carry out what was typed, and end the process without the slow teardown of what was imported."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")  # a sign that the terminal's encoding lacks is no reason to fail
    code = _outcome(command, name)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # whoever read it has gone, which is no news
            code = code or 1
    os._exit(code)


def _outcome(command: click.Command, name: str) -> int:
    try:
        result = command.main(prog_name=name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code if isinstance(error, Complaint) else 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return STOPPED
    except SystemExit as end:  # shell completion, and a broken pipe, which click answers in silence
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        return 1
    except Exception as error:
        click.echo(_apology(error), err=True)
        return OUR_FAULT
    return result if isinstance(result, int) else 0


def _apology(error: Exception) -> str:
    """What to say of an error that nobody foresaw. The traceback goes to a file."""
    import platform
    import tempfile
    import traceback

    where = ""
    try:
        handle, where = tempfile.mkstemp(prefix="selfattend-", suffix=".log", text=True)
        with open(handle, "w", encoding="utf-8", errors="replace") as log:  # noqa: PTH123  a descriptor
            log.write(f"{' '.join(sys.argv)}\n{platform.platform()}, Python {sys.version}\n\n")
            log.write("".join(traceback.format_exception(error)))
    except OSError:  # no place to write: then the message alone
        pass
    what = f"This is our fault, not yours: the program met an unexpected error ({type(error).__name__}: {error})."
    next_step = "learn doctor; if it finds nothing, report this" + (" with the file above." if where else ".")
    return str(SelfattendError(what, where=where, next_step=next_step))
