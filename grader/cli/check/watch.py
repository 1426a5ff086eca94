"""`learn watch`: save, and know. One screen with the verdict on the file saved last, and keys for what comes next."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.check.check import DEVICE, DEVICE_HELP, SHORT_SEEDS, find_passing, store_attempt
from grader.cli.check.show_results import CheckRun, fit_suggestions
from grader.cli.context import find_context, short_path
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option
from grader.course.learner_copy import passed_words, release_of
from grader.errors import SelfattendError
from grader.judge.own_limits import end_after
from grader.model import Lesson, LessonResult
from grader.submission import read_submission
from grader.terminal.console import has_reader, make_layout, put
from grader.terminal.keyboard import Keyboard
from grader.terminal.screen import Screen

if TYPE_CHECKING:
    from grader.judge.examination import Judge
    from grader.live.live_judge import LiveJudge

PROGRAM = """
from grader.cli.learn.group import main
from grader.judge.own_limits import lift_memory_limit
lift_memory_limit()
main()
"""
KEYS = {  # each a command on the lesson
    "h": ("hint", "hint {lesson}"),
    "r": ("read", "read {lesson}"),
    "t": ("shapes", "trace {lesson}"),
    "d": ("debug", "check {lesson} --pdb"),
    "k": ("questions", "quiz {lesson}"),
    "s": ("solution", "solution {lesson}"),
    "l": ("lessons", "list"),
}
OWN_KEYS = {"c": "all checks", "n": "next", "q": "quit"}


@click.command("watch")
@lesson_argument(required=False)
@click.option("--device", type=DEVICE, default="cpu", show_default=True, help=DEVICE_HELP)
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str | None, device: str) -> None:
    """Check your work each time that you save it.

    Without LESSON, the file saved last is followed. Keys need no Enter; q or Ctrl-C ends it. Where the output is no
    terminal, each verdict is printed below the last.

    \b
    Example:
      learn watch
      learn watch attention
    """
    context = find_context(ctx)
    context.require_workspace()
    from grader.judge.session import random_seed

    release = release_of(context.course)
    seed = release.seed(None) if release else random_seed(SHORT_SEEDS)
    run = CheckRun(context, context.progress(), device, seed, as_json=False, verbose=False)
    first = context.lesson(lesson, run.progress)
    _Watch(run, first, follows=lesson is None).run_until_quit()


@dataclass
class _Watch:
    """What is watched, and the last verdict on each lesson."""

    run: CheckRun
    lesson: Lesson
    follows: bool  # the file saved last, whichever it is
    verdicts: dict[str, LessonResult] = field(default_factory=dict)
    before: dict[str, float | None] = field(default_factory=dict)  # the score of the verdict before
    trouble: str = ""
    events: queue.SimpleQueue[tuple[str, Any]] = field(default_factory=queue.SimpleQueue)

    def run_until_quit(self) -> None:
        """Judge what is saved, and answer keys."""
        from grader.judge.session import judge_with

        context = self.run.context
        self.screen = Screen() if has_reader() and os.environ.get("TERM") != "dumb" else None
        self.keyboard = Keyboard(lambda key: self.events.put(("key", key)))
        put("Starting the judge ...")
        judge_with(context.course, context.course.lessons.values(), self._drive, device=self.run.device)

    def _drive(self, judge: Judge) -> None:
        from grader.live.live_judge import LiveJudge
        from grader.live.saved_files import SavedFiles

        workspace = self.run.context.require_workspace()
        files = {workspace.exercise_path(each).resolve(): each for each in self.run.context.course.lessons.values()}
        with LiveJudge(judge) as live, ExitStack() as stack:

            def on_save(path: Path) -> None:
                self.events.put(("saved", files[path]))
                live.overtake()

            stack.enter_context(SavedFiles(workspace.root, files, on_save))
            if self.screen:
                stack.enter_context(self._on_screen())
            self._examine(live)
            while self._answer(*self.events.get(), live):
                pass

    def _answer(self, kind: str, what: Any, live: LiveJudge) -> bool:
        """Answer an event; return False at the end."""
        if kind == "key" and what in ("q", "\x04"):
            return False
        if kind == "saved" and (self.follows or what is self.lesson):
            self.lesson = what
            self._examine(live)
        elif kind == "key" and what in KEYS:
            self._call(KEYS[what][1].format(lesson=self.lesson.name))
        elif kind == "key" and what == "c" and self.lesson.name in self.verdicts:
            self._page(self._text(verbose=True))
        elif kind == "key" and what == "n":
            self.lesson = self.run.context.current_lesson(self.run.progress) or self.lesson
            self._examine(live)
        elif kind == "drawn":
            self._draw()
        return True

    # --- the verdict --------------------------------------------------------------------------------------------------

    def _examine(self, live: LiveJudge) -> None:
        """Judge the lesson's file as it is now, unless a newer save overtakes that."""
        run, lesson = self.run, self.lesson
        self.trouble = ""
        self._draw(working=True)
        run.progress = run.context.progress()
        path = Path(short_path(run.context.require_workspace().exercise_path(lesson)))
        try:
            submission = read_submission(path, lesson, run.context.course, run.context.require_workspace().root)
            submission = replace(submission, passing=find_passing(run, submission))
            with end_after(run.context.course.limits_for(lesson).judging_seconds, f"Checking {lesson.name}"):
                verdict = live.examine(lesson, submission, run.seed, run.progress[lesson.name].hints_used)
        except SelfattendError as error:
            self.trouble, verdict = str(error), None
        if verdict is not None:
            self._keep(verdict, submission)
        self._draw()

    def _keep(self, verdict: LessonResult, submission: Any) -> None:
        """Show a verdict from now on; store it as an attempt if it is another than the last one."""
        last = self.verdicts.get(verdict.lesson)
        self.before[verdict.lesson] = last.score if last else self.run.progress[verdict.lesson].last_score
        self.run.results = [verdict]
        self.verdicts[verdict.lesson] = fit_suggestions(self.run, verdict)
        if last is None or (last.score, last.mistakes) != (verdict.score, verdict.mistakes):
            store_attempt(self.run, submission, verdict)
            self.run.progress = self.run.context.progress()

    def _text(self, verbose: bool = False) -> str:
        from grader.reports.formats.to_terminal import assessment

        verdict = self.verdicts.get(self.lesson.name)
        if self.trouble or verdict is None:
            return f"{self.lesson.title}\n{self.trouble}\n"
        before = self.before[self.lesson.name]
        return assessment(verdict, make_layout(verbose), title=self.lesson.title, before=before)

    # --- the screen ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _on_screen(self) -> Iterator[None]:
        """Take the screen and the keys; whatever happens, they are given back."""
        assert self.screen is not None
        handlers = {signal.SIGTSTP: self._stop_for_a_while, signal.SIGTERM: _end, signal.SIGWINCH: self._draw_again}
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            self._enter()
            yield
        finally:
            self._leave()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _enter(self) -> None:
        if self.screen:
            self.screen.enter()
            self.keyboard.start()

    def _leave(self) -> None:
        if self.screen:
            self.keyboard.stop()
            self.screen.leave()

    def _draw(self, working: bool = False) -> None:
        """Show the verdict, or the last one dimmed while a new one is made; without a screen print each verdict."""
        solved = [name for name, known in self.run.progress.items() if known.solved]
        passed = f"{len(solved)} of {len(self.run.progress)} {passed_words(self.run.context.course)}"
        state = "checking ..." if working else passed
        keys = "  ".join(f"{key} {says}" for key, (says, _) in KEYS.items())
        keys += "  " + "  ".join(f"{key} {says}" for key, says in OWN_KEYS.items())
        if self.screen:
            self.screen.draw(self._text(), f"{state}   {keys}", dimmed=working)
        elif not working:
            click.echo(self._text(), color=True)

    def _draw_again(self, *_: Any) -> None:
        self.events.put(("drawn", None))

    def _stop_for_a_while(self, *_: Any) -> None:
        """Answer Ctrl-Z: give the terminal back, stop, and take it again when the shell lets us go on."""
        self._leave()
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)
        self._enter()
        self._draw_again()

    def _call(self, command: str) -> None:
        """Run another command of `learn` in the terminal, then return to the screen."""
        self._leave()
        put(f"$ learn {command}")
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C there is for the command
        try:
            course = str(self.run.context.course.root)
            subprocess.run(
                [sys.executable, "-P", "-c", PROGRAM, *command.split()],
                env={**os.environ, "SELFATTEND_COURSE": course},
                check=False,
            )
        finally:
            signal.signal(signal.SIGINT, before)
        self._wait_for_enter()

    def _page(self, text: str) -> None:
        self._leave()
        click.echo_via_pager(text)
        self._enter()
        self._draw()

    def _wait_for_enter(self) -> None:
        if self.screen:
            put()
            click.prompt("Enter goes back to the screen", default="", show_default=False, prompt_suffix=" ")
        self._enter()
        self._draw()


def _end(*_: Any) -> None:
    raise SystemExit(128 + signal.SIGTERM)
