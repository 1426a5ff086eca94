"""Show on standard error how far a run is: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from grader.record import Record
from grader.reports.formats.run_summary import find_trouble
from grader.terminal.console import has_colour, is_terminal

if TYPE_CHECKING:
    from rich.progress import TaskID

MAX_LINES = 20  # in a log
MIN_PAUSE_S = 3.0  # between two lines


class ProgressLines:
    """A line for each twentieth of the class, every few seconds at most."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.troubled = 0

    def __enter__(self) -> ProgressLines:
        self.began = self.newest = self.said = time.monotonic()
        self.shown = 0
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def add(self, record: Record) -> None:
        """Count a submission that is done."""
        self.done += 1
        self.newest = time.monotonic()
        self.troubled += bool(find_trouble(record))
        self.show()

    def show(self) -> None:
        """Print a line if one is due."""
        is_due = self.done - self.shown >= self.total / MAX_LINES and self.newest - self.said >= MIN_PAUSE_S
        if is_due or self.done == self.total:
            self.shown, self.said = self.done, self.newest
            wait = self.time_left(self.newest)
            click.echo(f"[{self.done}/{self.total}] {self.rate_text()}{', ' if wait else ''}{wait}", err=True)

    @property
    def rate(self) -> float:
        """Submissions a second, from the beginning to the newest of them."""
        return self.done / max(1e-3, self.newest - self.began)

    def time_left(self, now: float) -> str:
        """Estimate the time left; no guess once it is overdue, as a submission may hang up to its limits."""
        left = self.total - self.done
        if not left or not self.done:
            return ""
        idle = now - self.newest
        guess = left / self.rate - idle
        if guess < 0.5 and idle >= 1:
            return f"{left} to go, nothing new for {duration(idle)}"
        return f"{duration(max(1.0, guess))} left"

    def rate_text(self) -> str:
        """Write the rate, and how many a human should look at."""
        rate = self.rate
        shown = f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.0f}/min"
        return f"{shown}, {self.troubled} to look at" if self.troubled else shown


class ProgressBar(ProgressLines):
    """A bar with the rate, how many to look at, and the time left."""

    def __enter__(self) -> ProgressBar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
        from rich.text import Text

        class Times(ProgressColumn):
            """The time taken and left, updated also while nothing is done."""

            def render(_self, task: Task) -> Text:  # noqa: N805  `self` is the bar
                now = time.monotonic()
                wait = self.time_left(now)
                return Text(f"{duration(now - self.began)} so far{', ' if wait else ''}{wait}")

        colour: dict[str, Any] = {} if has_colour(sys.stderr) else {"color_system": None}
        columns = [TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn()]
        self.progress = Progress(
            *columns,
            TextColumn("{task.fields[rate]}"),
            Times(),
            console=Console(stderr=True, **colour),
            redirect_stdout=False,
            redirect_stderr=False,
            transient=True,
        )
        self.task: TaskID = self.progress.add_task("Grading", total=self.total, rate="starting")
        super().__enter__()
        self.progress.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.progress.stop()

    def show(self) -> None:
        """Move the bar."""
        doing = "Grading" if self.done < self.total else "Writing the files"
        self.progress.update(self.task, advance=1, description=doing, rate=self.rate_text())


def duration(seconds: float) -> str:
    """Write a duration: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def make_progress(total: int) -> ProgressLines:
    """Return a bar if standard error is a terminal, else lines."""
    return (ProgressBar if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb" else ProgressLines)(total)
