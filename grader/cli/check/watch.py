"""`learn watch`: save, and know. One screen with the verdict on the file saved last, and keys for what comes next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
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
from grader.files import is_file
from grader.model import Lesson, LessonResult
from grader.terminal.console import handling, has_reader, make_layout, put, signs, wrap, wrap_error
from grader.terminal.keyboard import Keyboard, forget_typed, read_key, shown_again
from grader.terminal.screen import Screen
from grader.terminal.text import capitalize, clean, plural, score_text, unexplained_score

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
PAGED = ("c", "w", "p")  # what takes the verdict's place, a page at a time
STAYING = ("c", "w")  # also after a save; prints say nothing of whether it was right
NOT_LOADED = "Your file could not be loaded, so none of it was run: q goes back to why.\n"
NO_PICTURE = "This lesson has no picture.\n"
NOTHING_DRAWN = "Nothing could be drawn of this; the verdict says why.\n"
GO_BACK = "Enter goes back to the screen, q quits "
NONE_LEFT = "There is no other lesson that you have not solved.\n"
PATIENT_SECONDS = 3.0  # of a check, before it is told what it may be waiting for
STATE = "10.0 / 10, 10 more pages"  # as long as it gets where a page is shown
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
    pages: list[str] = field(default_factory=list)  # what a key has put in the verdict's place; the first is shown
    paged: str = ""  # that key
    is_judged: bool = True  # else what was saved last was overtaken
    is_scored: bool = False  # what is judged now: it is its mistakes that are looked for

    def run_until_quit(self) -> None:
        """Judge what is saved, and answer keys."""
        self.screen = Screen() if has_reader() and os.environ.get("TERM") != "dumb" else None
        self.keyboard = Keyboard(self._take_key)
        self.work.on_score = self._show_score
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
        elif kind == "drawn":  # in a terminal of another size, perhaps
            self.pages = self._pages_of(self.paged) if self.pages else []
            self._draw()
        elif kind == "key" and what in PAGED:
            self._turn_page(what)
        elif kind == "saved":
            self._go_to(what)
        elif what == "n":
            following = self._next_lesson()
            self._go_to(following) if following else self._turn_page("n")
        elif what in KEYS:
            self.pages = []
            if not self._call(KEYS[what][1].format(lesson=self.lesson.name)):
                return False
            if not self.is_judged or what == "h":  # how many hints there were is told with the verdict
                self._examine()
        return True

    def _go_to(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self._examine()

    def _next_lesson(self) -> Lesson | None:
        """Return the lesson to solve after this one, or before it where none comes after it; None if none is left."""
        context = self.work.run.context
        along = context.course.lessons_along(context.way)
        place = along.index(self.lesson)
        others = along[place + 1 :] + along[:place]
        return next((lesson for lesson in others if not self.work.run.progress[lesson.name].solved), None)

    # --- the verdict --------------------------------------------------------------------------------------------------

    def _examine(self) -> None:
        """Judge the lesson's file as it is now, unless a newer save overtakes that, and show what came of it."""
        self.is_scored = False
        self._draw(working="checking ...")
        with self._explaining_the_wait():
            self.is_judged = self.work.examine(self.lesson)
        shown, self.pages = self.pages, []
        if shown and self.paged in STAYING:
            self._turn_page(self.paged)
        else:
            self._draw()

    @contextmanager
    def _explaining_the_wait(self) -> Iterator[None]:
        """Say why an old verdict still stands there, where a call of the learner's takes long, or has no end."""
        if not self.screen:
            yield
            return
        seconds = self.work.run.context.course.limits_for(self.lesson).call_seconds
        says = f"checking ... still running: one call may take {seconds:g} s"
        timer = threading.Timer(PATIENT_SECONDS, lambda: None if self.is_scored else self._draw(says))
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # or it could draw over the verdict

    def _show_score(self, result: LessonResult) -> None:
        """Show a score while what was wrong is still looked for."""
        self.is_scored = True
        self._draw(working=f"{unexplained_score(result.score)} ...")

    def _text(self, verbose: bool = False, rows: int = 0) -> str:
        """Return the verdict; in short, within so many rows, if they are known."""
        from grader.reports.formats.to_terminal import MAX_LINES, assessment

        unkept = self._unkept()
        rows = max(rows - unkept.count("\n"), 1) if rows else MAX_LINES
        verdict, trouble = self.work.verdicts.get(self.lesson.name), self.work.troubles.get(self.lesson.name, "")
        if trouble or verdict is None:
            return f"{self.lesson.title}\n{wrap_error(trouble)}\n"
        before = self.work.before[self.lesson.name]
        look = make_layout(verbose, more="c" if self.screen else f"learn check {verdict.lesson} -v")
        text = unkept + assessment(
            verdict, look, title=self.lesson.title, before=before, with_marks=not verbose, rows=rows
        )
        learned = verdict.passed and ", ".join(self.lesson.concepts)
        return f"{text}{wrap(f'Learned: {learned}.')}\n" if learned else text

    def _unkept(self) -> str:
        """Return why the last attempt could not be stored, as lines; it stands first, since the end may not fit."""
        return "".join(
            f"{signs().trouble} {wrap_error(capitalize(each), 2).lstrip()}\n" for each in self.work.run.troubles
        )

    def _score(self) -> str:
        name = self.lesson.name
        verdict = None if name in self.work.troubles else self.work.verdicts.get(name)
        return f"{score_text(verdict.score if verdict else None)} / 10"

    def _turn_page(self, key: str) -> None:
        """Show what a key asks for; the same key goes on, and after the last page back to the verdict."""
        if self.pages and self.paged == key:
            self.pages.pop(0)
        else:
            self.paged, self.pages = key, self._pages_of(key)
        self._draw()

    def _pages_of(self, key: str) -> list[str]:
        """Return the pages that a key shows."""
        is_unread = self.lesson.name in self.work.troubles  # it is gone, perhaps: what is known is of an older one
        if key == "w" and not is_unread:
            return self._pictures()
        text = NONE_LEFT if key == "n" else self._prints() if key == "p" and not is_unread else self._text(verbose=True)
        return self.screen.cut(text, self._footer(STATE)) if self.screen else []

    def _pictures(self) -> list[str]:
        from grader.terminal.picture import draw

        rows = self.screen.room(self._footer(STATE)) if self.screen else 0
        found = sorted(self.work.draw_pictures(self.lesson), key=lambda picture: picture.is_right)
        return [draw(each, make_layout(), rows=rows) for each in found] or [
            NOTHING_DRAWN if is_file(self.lesson.pictures_path) else NO_PICTURE
        ]

    def _prints(self) -> str:
        verdict = self.work.verdicts.get(self.lesson.name)
        printed = clean(verdict.output) if verdict else ""
        if not printed and verdict and verdict.state == "would-not-import":
            return NOT_LOADED
        return f"Printed by your code:\n\n{printed}" if printed else "Your code printed nothing.\n"

    # --- the screen ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _on_screen(self) -> Iterator[None]:
        """Take the screen and the keys; whatever happens, they are given back."""
        assert self.screen is not None
        handlers: dict[signal.Signals, Any] = {signal.SIGTERM: end_as_ctrl_c}
        handlers |= {signal.SIGTSTP: self._stop_for_a_while, signal.SIGWINCH: self._draw_again}
        with handling(handlers):
            try:
                self._enter()
                yield
            finally:
                self._leave()

    def _enter(self) -> None:
        if self.screen:
            self.screen.enter()
            self.keyboard.start()

    def _leave(self) -> None:
        if self.screen:
            self.keyboard.stop()
            self.screen.leave()

    def _draw(self, working: str = "") -> None:
        """Show the verdict, or the last one dimmed while a new one is made; without a screen print each verdict."""
        context = self.work.run.context
        known = [self.work.run.progress[name] for name in context.way.lessons]
        passed = f"{sum(each.solved for each in known)} of {len(known)} {passed_words(context.course)}"
        state = working or passed
        if self.pages:
            state = self._score() + (f", {plural(len(self.pages) - 1, 'more page')}" if len(self.pages) > 1 else "")
        if self.screen:
            footer = self._footer(state)
            text = self.pages[0] if self.pages else self._text(rows=self.screen.room(footer))
            self.screen.draw(text, footer, dimmed=bool(working))
        elif not working:
            click.echo(self._text(), color=True)

    def _footer(self, state: str) -> str:
        """Put what each key does behind the state; where a page is shown its key goes on, and q leads back."""
        says = {key: says for key, (says, _) in KEYS.items()} | OWN_KEYS
        if self.pages:
            says |= {self.paged: "goes on" if len(self.pages) > 1 else "back", "q": "back"}
        return f"{state}   " + "  ".join(f"{key} {what}" for key, what in says.items())

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

    def _call(self, command: str) -> bool:
        """Run another command of `learn` in the terminal, then return to the screen; return False if not wanted."""
        self._leave()
        put(f"$ learn {command}")
        with handling({signal.SIGTSTP: signal.SIG_DFL}):
            with handling({signal.SIGINT: signal.SIG_IGN}):  # Ctrl-C there is for the command
                course = str(self.work.run.context.course.root)
                subprocess.run(
                    [sys.executable, "-P", "-c", PROGRAM, *command.split()],
                    env={**os.environ, "SELFATTEND_COURSE": course},
                    check=False,
                )
            if self.screen and self._wait_for_key() in QUIT:
                return False
        self._enter()
        self._draw()
        return True

    @staticmethod
    def _wait_for_key() -> str:
        forget_typed()  # or the page that was asked for would be gone before it is read
        put()
        with shown_again(lambda: click.echo(GO_BACK, nl=False)):
            click.echo(GO_BACK, nl=False)
            key = read_key()
        put()
        return key
