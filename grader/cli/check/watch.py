"""`learn watch`: save, and know. One screen with the verdict on the file saved last, and keys for what comes next."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import click

from grader.cli.check.check import DEVICE, DEVICE_HELP
from grader.cli.check.live_work import LiveWork, end_as_ctrl_c, make_live_work
from grader.cli.context import find_context
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option
from grader.course.learner_copy import passed_words
from grader.model import Lesson
from grader.terminal.console import has_reader, make_layout, page, put, wrap
from grader.terminal.keyboard import Keyboard
from grader.terminal.screen import Screen
from grader.terminal.text import clean, score_text

PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored here while it runs
from grader.cli.learn.group import main
from grader.judge.own_limits import lift_memory_limit
lift_memory_limit()
main()
"""
KEYS = {  # each a command on the lesson
    "h": ("hint", "hint {lesson} --next"),
    "r": ("read", "read {lesson}"),
    "t": ("shapes", "trace {lesson}"),
    "d": ("debug", "check {lesson} --pdb"),
    "k": ("questions", "quiz {lesson}"),
    "s": ("solution", "solution {lesson}"),
    "l": ("lessons", "list"),
    "b": ("browser", "web {lesson}"),
}
QUIT = ("q", "\x04")
FOOTER_LINES = 4  # that a picture leaves to the keys
OWN_KEYS = {"c": "all checks", "w": "picture", "p": "prints", "n": "next", "q": "quit"}


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
    work = make_live_work(context, device)
    begin = work.saved_last() if lesson is None else None
    _Watch(work, begin or context.lesson(lesson, work.run.progress), follows=lesson is None).run_until_quit()


@dataclass
class _Watch:
    """What is watched, and the screen on which it is shown."""

    work: LiveWork
    lesson: Lesson
    follows: bool  # the file saved last, whichever it is
    pages: list[str] = field(default_factory=list)  # what a key has put in place of the verdict; the first is shown
    paged: str = ""  # that key
    is_judged: bool = True  # else what was saved last was overtaken

    def run_until_quit(self) -> None:
        """Judge what is saved, and answer keys."""
        self.screen = Screen() if has_reader() and os.environ.get("TERM") != "dumb" else None
        self.keyboard = Keyboard(self._take_key)
        put("Starting the judge ...")
        self.work.judge_saves(self._drive, lambda lesson: self.follows or lesson is self.lesson)

    def _take_key(self, key: str) -> None:
        """Keep a key until it can be answered; who leaves, or asks for what needs no verdict, waits for no check."""
        self.work.events.put(("key", key))
        if key in KEYS or key == "n" or (key in QUIT and not self.pages):
            self.work.overtake()

    def _drive(self) -> None:
        with self._on_screen() if self.screen else nullcontext():
            self._examine()
            while self._answer(*self.work.take()):
                pass

    def _answer(self, kind: str, what: Any) -> bool:
        """Answer an event; return False at the end."""
        if kind == "key" and what == "q" and self.pages:  # as a pager is left
            self.pages = []
            self._draw()
        elif kind == "key" and what in QUIT:
            return False
        elif kind == "drawn":
            self._draw()
        elif kind == "key" and what in ("w", "p"):
            self._turn_page(what)
        elif kind == "saved" or what == "n":
            current = self.work.run.context.current_lesson(self.work.run.progress)
            self.lesson = what if kind == "saved" else current or self.lesson
            self._examine()
        elif what in KEYS:
            self.pages = []
            self._call(KEYS[what][1].format(lesson=self.lesson.name))
            if not self.is_judged or what == "h":  # how many hints there were is told with the verdict
                self._examine()
        elif what == "c" and self.lesson.name in self.work.verdicts:
            self.pages = []
            self._page(self._text(verbose=True))
        return True

    # --- the verdict --------------------------------------------------------------------------------------------------

    def _examine(self) -> None:
        """Judge the lesson's file as it is now, unless a newer save overtakes that, and show what was shown of it."""
        self._draw(working=True)
        self.is_judged = self.work.examine(self.lesson)
        shown, self.pages = self.pages, []
        if shown:
            self._turn_page(self.paged, is_asked=False)
        else:
            self._draw()

    def _text(self, verbose: bool = False) -> str:
        from grader.reports.formats.to_terminal import assessment

        verdict, trouble = self.work.verdicts.get(self.lesson.name), self.work.troubles.get(self.lesson.name, "")
        if trouble or verdict is None:
            return f"{self.lesson.title}\n{trouble}\n"
        before = self.work.before[self.lesson.name]
        look = make_layout(verbose, more="c" if self.screen else f"learn check {verdict.lesson} -v")
        text = assessment(verdict, look, title=self.lesson.title, before=before, with_marks=not verbose)
        learned = verdict.passed and ", ".join(self.lesson.concepts)
        return f"{text}{wrap(f'Learned: {learned}.')}\n" if learned else text

    def _score(self) -> str:
        verdict = self.work.verdicts.get(self.lesson.name)
        return f"{score_text(verdict.score if verdict else None)} / 10"

    def _turn_page(self, key: str, is_asked: bool = True) -> None:
        """Show pictures or what was printed; the same key goes on, and after the last back to the verdict.

        What is longer than the screen goes through the pager where a key asked for it: behind it no save is judged.
        """
        if self.pages and self.paged == key:
            self.pages.pop(0)
        else:
            rows = shutil.get_terminal_size().lines - FOOTER_LINES
            self.paged, self.pages = key, self._pictures(rows) if key == "w" else [self._prints()]
            if self.pages[0].count("\n") > rows and key == "p":
                text = self.pages.pop()
                return self._page(text) if is_asked else self._draw()
        return self._draw()

    def _pictures(self, rows: int) -> list[str]:
        from grader.terminal.picture import draw

        found = sorted(self.work.draw_pictures(self.lesson), key=lambda picture: picture.is_right)
        return [draw(each, make_layout(), rows=rows) for each in found] or ["Nothing can be drawn here.\n"]

    def _prints(self) -> str:
        verdict = self.work.verdicts.get(self.lesson.name)
        printed = clean(verdict.output) if verdict else ""
        return f"Printed by your code:\n\n{printed}" if printed else "Your code printed nothing.\n"

    # --- the screen ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _on_screen(self) -> Iterator[None]:
        """Take the screen and the keys; whatever happens, they are given back."""
        assert self.screen is not None
        handlers: dict[signal.Signals, Any] = {signal.SIGTERM: end_as_ctrl_c}
        handlers |= {signal.SIGTSTP: self._stop_for_a_while, signal.SIGWINCH: self._draw_again}
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
        run = self.work.run
        solved = [name for name, known in run.progress.items() if known.solved]
        passed = f"{len(solved)} of {len(run.progress)} {passed_words(run.context.course)}"
        state = "checking ..." if working else passed
        keys = "  ".join(f"{key} {says}" for key, (says, _) in KEYS.items())
        keys += "  " + "  ".join(f"{key} {says}" for key, says in OWN_KEYS.items())
        if self.pages:
            back = f"{len(self.pages) - 1} more" if len(self.pages) > 1 else "back"
            state = f"{self._score()}, {self.paged}: {back}"
        if self.screen:
            text = self.pages[0] if self.pages else self._text()
            self.screen.draw(text, f"{state}   {keys}", dimmed=working)
        elif not working:
            click.echo(self._text(), color=True)

    def _draw_again(self, *_: Any) -> None:
        self.work.events.put(("drawn", None))

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
        usual = {signal.SIGINT: signal.SIG_IGN, signal.SIGTSTP: signal.SIG_DFL}  # Ctrl-C there is for the command
        before = {number: signal.signal(number, handler) for number, handler in usual.items()}
        try:
            course = str(self.work.run.context.course.root)
            subprocess.run(
                [sys.executable, "-P", "-c", PROGRAM, *command.split()],
                env={**os.environ, "SELFATTEND_COURSE": course},
                check=False,
            )
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        self._wait_for_enter()

    def _page(self, text: str) -> None:
        self._leave()
        page(text)
        self._enter()
        self._draw()

    def _wait_for_enter(self) -> None:
        if self.screen:
            put()
            click.prompt("Enter goes back to the screen", default="", show_default=False, prompt_suffix=" ")
        self._enter()
        self._draw()
