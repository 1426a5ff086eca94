"""The process that judges cells, seen from the kernel."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import Any

COMMAND = (sys.executable, "-P", "-m", "grader.cli.check.judge_cells")  # -P: no module of the notebook's folder
COLOURS = ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")  # which a kernel asks for
SECONDS_TO_END = 5
ENDED = "The judge has ended; run the cell again."


def plain_environment() -> dict[str, str]:
    """Return the variables of a process whose text stands beside HTML: no colour."""
    return {name: value for name, value in os.environ.items() if name not in COLOURS} | {"NO_COLOR": "1"}


class CellJudge:
    """A judge that stays for as long as the kernel does."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        """Return the process, started where there is none."""
        if self._process is not None:
            return self._process
        with ExitStack() as files:
            self._errors = files.enter_context(TemporaryFile("w+", encoding="utf-8", errors="replace"))
            self._process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                encoding="utf-8",
                env=plain_environment(),
                start_new_session=True,  # what interrupts a cell does not reach it
            )
            self._files = files.pop_all()
        return self._process

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the answer to a request; {"trouble": TEXT} where there is none."""
        process = self.start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(f"{json.dumps(request)}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:  # it has ended
            line = ""
        except KeyboardInterrupt:  # the answer would come to the next request
            self.close()
            raise
        if line:
            return json.loads(line)  # type: ignore[no-any-return]
        self._errors.seek(0)
        said = self._errors.read().strip()
        self.close()
        return {"trouble": said or ENDED}

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate(timeout=SECONDS_TO_END)
            self._files.close()
