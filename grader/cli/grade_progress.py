"""How far a run is, on standard error: a bar on a terminal, else a line for each submission."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from grader.cli.screen import colourful, is_terminal
from grader.reports.plain import score_text
from grader.reports.run_summary import trouble_of

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Lines:
    """A line as each submission is done: its number, id, score and what was the matter."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.troubled = 0

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def add(self, record: Mapping[str, Any]) -> None:
        """One more is done."""
        trouble = self._count(record)
        line = f"[{self.done}/{self.total}] {record['id']}  {score_text(record['score'])}"
        click.echo(f"{line}  ({trouble})" if trouble else line, err=True)

    def _count(self, record: Mapping[str, Any]) -> str:
        trouble = trouble_of(record)
        self.done += 1
        self.troubled += bool(trouble)
        return trouble


class Bar(Lines):
    """A bar with the rate, what was troublesome so far, and the time left."""

    def __enter__(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        colour: dict[str, Any] = {} if colourful(sys.stderr) else {"color_system": None}
        self.progress: Progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TextColumn("left:"), TimeRemainingColumn(compact=True),
            console=Console(stderr=True, **colour), redirect_stdout=False, redirect_stderr=False, transient=True,
        )  # fmt: skip
        self.task: TaskID = self.progress.add_task("Grading", total=self.total, rate="starting")
        self.began = time.monotonic()
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def add(self, record: Mapping[str, Any]) -> None:
        """One more is done."""
        self._count(record)
        rate = self.done / max(1e-3, time.monotonic() - self.began)
        shown = f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.0f}/min"
        troubled = f", {self.troubled} to look at" if self.troubled else ""
        self.progress.update(self.task, advance=1, rate=shown + troubled)


def progress_of(total: int) -> Lines:
    """The bar where it can be drawn, the lines elsewhere."""
    return Bar(total) if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb" else Lines(total)
