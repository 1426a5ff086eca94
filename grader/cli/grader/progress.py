"""How far a run is, on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from grader.record import Record
from grader.reports.formats.run_summary import find_trouble
from grader.terminal.console import has_colour, is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

MOST_LINES = 20  # in a log, for as many parts of the class
PAUSE_S = 3.0  # between two of them, at least


class Lines:
    """A line for each twentieth of the class, every few seconds at most: how many, how fast, how many to look at, how
    long it will take."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.troubled = 0

    def __enter__(self) -> Lines:
        self.began = self.newest = self.said = time.monotonic()
        self.shown = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def add(self, record: Record) -> None:
        """One more is done."""
        self.done += 1
        self.newest = time.monotonic()
        self.troubled += bool(find_trouble(record))
        self.show()

    def show(self) -> None:
        """Say how far it is."""
        is_due = self.done - self.shown >= self.total / MOST_LINES and self.newest - self.said >= PAUSE_S
        if is_due or self.done == self.total:
            self.shown, self.said = self.done, self.newest
            wait = self.wait(self.newest)
            click.echo(f"[{self.done}/{self.total}] {self.how_fast()}{', ' if wait else ''}{wait}", err=True)

    @property
    def rate(self) -> float:
        """Submissions a second, from the beginning to the newest of them."""
        return self.done / max(1e-3, self.newest - self.began)

    def wait(self, now: float) -> str:
        """How long it will take from now on. Where by the rate it should be done, no guess is made: a submission may
        hang for as long as its limits let it."""
        left = self.total - self.done
        if not left or not self.done:
            return ""
        idle = now - self.newest
        guess = left / self.rate - idle
        if guess < 0.5 and idle >= 1:
            return f"{left} to go, nothing new for {duration(idle)}"
        return f"{duration(max(1.0, guess))} left"

    def how_fast(self) -> str:
        """The rate, and how many a human should look at."""
        rate = self.rate
        shown = f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.0f}/min"
        return f"{shown}, {self.troubled} to look at" if self.troubled else shown


class Bar(Lines):
    """A bar with the rate, what was troublesome so far, and the time left."""

    def __enter__(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
        from rich.text import Text

        class Times(ProgressColumn):
            """How long it has taken and will take, by the clock: also while nothing comes."""

            def render(_self, task: Task) -> Text:  # noqa: N805  `self` is the bar
                now = time.monotonic()
                wait = self.wait(now)
                return Text(f"{duration(now - self.began)} so far{', ' if wait else ''}{wait}")

        colour: dict[str, Any] = {} if has_colour(sys.stderr) else {"color_system": None}
        self.progress: Progress = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"), Times(),
            console=Console(stderr=True, **colour), redirect_stdout=False, redirect_stderr=False, transient=True,
        )  # fmt: skip
        self.task: TaskID = self.progress.add_task("Grading", total=self.total, rate="starting")
        super().__enter__()
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def show(self) -> None:
        """Move the bar."""
        doing = "Grading" if self.done < self.total else "Writing the files"
        self.progress.update(self.task, advance=1, description=doing, rate=self.how_fast())


def duration(seconds: float) -> str:
    """A time to wait: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def progress_of(total: int) -> Lines:
    """The bar where it can be drawn, the lines elsewhere."""
    return Bar(total) if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb" else Lines(total)
