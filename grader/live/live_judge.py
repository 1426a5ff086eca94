"""Examine what was saved last; what a newer save has overtaken is left off in the middle."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import TypeVar

from grader.judge.examination import Judge
from grader.judge.tracing.shapes import TracedCall
from grader.model import Lesson, LessonResult, Submission
from grader.model.picture import Picture

OVERTAKEN = signal.SIGUSR1

Made = TypeVar("Made")


class LiveJudge:
    """A judge whose examinations end when `overtake` is called; a context of the main thread."""

    def __init__(self, judge: Judge, on_score: Callable[[LessonResult], object] = lambda _: None) -> None:
        """Take a judge; *on_score* takes each result whose score is known before its mistakes are."""
        self._judge = judge
        judge.on_score = on_score
        judge.asks_ahead = True
        judge.keep_fingerprints()
        self._is_examining = self._was_overtaken = False

    def __enter__(self) -> LiveJudge:
        self._before = signal.signal(OVERTAKEN, self._leave_off)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._is_examining = False
        signal.signal(OVERTAKEN, self._before)

    def examine(self, lesson: Lesson, submission: Submission, seed: int, hints_used: int = 0) -> LessonResult | None:
        """Return the verdict; None if it was overtaken."""
        self._judge.launcher.warm_for = lesson.forbids  # the next save is likely to be of the same lesson
        return self._unless_overtaken(lambda: self._judge.examine(lesson, submission, seed, hints_used))

    def answer_ahead(self, lesson: Lesson) -> Iterator[None]:
        """Find what known mistakes answer, one answer at each step: most of what naming one costs at first."""
        judge = self._judge
        for diagnostician in [] if judge.answers.release else judge.diagnosticians(lesson).values():
            yield from diagnostician.outputs.answer_ahead()
            if judge.kept:
                judge.kept.write(lesson, diagnostician.outputs)

    def draw_pictures(self, lesson: Lesson, submission: Submission) -> list[Picture] | None:
        """Return the pictures of a submission; None if they were overtaken. Raises what `Judge.draw_pictures` does."""
        return self._unless_overtaken(lambda: self._judge.draw_pictures(lesson, submission))

    def trace(self, lesson: Lesson, submission: Submission) -> list[TracedCall] | None:
        """Return what each function made; None if that was overtaken. Raises what `Judge.trace` does."""
        return self._unless_overtaken(lambda: self._judge.trace(lesson, submission))

    def _unless_overtaken(self, work: Callable[[], Made]) -> Made | None:
        self._was_overtaken = False
        try:
            self._is_examining = True
            result = work()
            self._is_examining = False
        except KeyboardInterrupt:
            if not self._was_overtaken:
                raise
            return None
        finally:
            self._is_examining = False
        return result

    def overtake(self) -> None:
        """End the examination that runs, if one does. Any thread may call this."""
        if self._is_examining and (main := threading.main_thread().ident):
            signal.pthread_kill(main, OVERTAKEN)

    def _leave_off(self, _number: int, _frame: FrameType | None) -> None:
        """Raise what checks do not catch, as Ctrl-C does."""
        if self._is_examining:
            self._is_examining, self._was_overtaken = False, True
            raise KeyboardInterrupt
