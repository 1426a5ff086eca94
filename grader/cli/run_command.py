"""Run a click command and turn its end into an exit code; users never see a traceback of ours.

0 done, 1 not yet, 2 wrong usage or a missing file, 3 a fault of ours, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import IO, Any, NoReturn

import click

from grader.errors import SelfattendError
from grader.terminal.console import is_terminal, wrap_error
from grader.terminal.text import clean

NOT_YET = 1
STOPPED = 130
OUR_FAULT = 3
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class ReportedError(click.ClickException):
    """One of our errors for click: what, where and the next command, on standard error."""

    def __init__(self, error: SelfattendError) -> None:
        super().__init__(str(error))
        self.exit_code = error.exit_code  # type: ignore[misc]  # click declares it for the class, and reads it from the instance

    def show(self, file: IO[Any] | None = None) -> None:
        # a name in it may be somebody else's, and would control the terminal
        click.echo(_fit(clean(f"Error: {self.message}")), file=file or sys.stderr)


def _fit(error: str) -> str:
    """Wrap an error for a terminal; in a pipe one line is one error."""
    return wrap_error(error) if is_terminal(sys.stderr) else error


def run(command: click.Command, name: str) -> NoReturn:
    """Run the command and end the process, without the slow teardown of imported modules."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")  # a sign that the terminal's encoding lacks must not fail
    code = _run(command, name)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the reader has gone
            code = code or 1
    os._exit(code)


def _open_closed_streams() -> None:
    """Put nothing in the place of a stream that was closed (`>&-`, a daemon's): else the next file opened takes it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, number)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115  # of the process
            if nowhere != number:
                os.close(nowhere)


def _run(command: click.Command, name: str) -> int:
    try:
        result = command.main(prog_name=name, standalone_mode=False)
    except ReportedError as error:
        error.show()
        return error.exit_code
    except click.ClickException as error:  # of click's own, which does not wrap them
        shown = io.StringIO()
        error.show(shown)
        click.echo(_fit(shown.getvalue()), nl=False, err=True)
        return 2
    except SelfattendError as error:  # of a command that is in no group
        ReportedError(error).show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return STOPPED
    except SystemExit as end:  # shell completion, and a broken pipe, which click answers in silence
        return end.code if isinstance(end.code, int) else 0
    except BrokenPipeError:
        return 1
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            where = os.fsdecode(error.filename or "standard output")
            ReportedError(
                SelfattendError("No space is left.", where=where, next_step="make room, then call this again")
            ).show()
            return NOT_YET
        click.echo(_fit(_report_unexpected(error)), err=True)
        return OUR_FAULT
    return result if isinstance(result, int) else 0


def _report_unexpected(error: Exception) -> str:
    """Write the traceback of an unexpected error to a file and return what to tell the user."""
    import platform
    import tempfile
    import traceback

    where = ""
    try:
        handle, where = tempfile.mkstemp(prefix="selfattend-", suffix=".log", text=True)
        with open(handle, "w", encoding="utf-8", errors="replace") as log:  # noqa: PTH123  a descriptor
            log.write(f"{' '.join(sys.argv)}\n{platform.platform()}, Python {sys.version}\n\n")
            log.write("".join(traceback.format_exception(error)))
    except OSError:  # nowhere to write
        pass
    what = f"This is our fault, not yours: the program met an unexpected error ({type(error).__name__}: {error})."
    next_step = "learn doctor; if it finds nothing, report this" + (" with the file above." if where else ".")
    return str(SelfattendError(what, where=where, next_step=next_step))
