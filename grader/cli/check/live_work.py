"""A learner's work, judged as it is saved: what `learn watch` and `learn web` show."""

from __future__ import annotations

import queue
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from grader.cli.check.check import choose_seed
from grader.cli.check.keep import fill_file, find_passing, store_attempt
from grader.cli.check.show_results import CheckRun, fit_suggestions
from grader.cli.context import CourseContext, short_path
from grader.errors import SelfattendError
from grader.files import is_file, read_whole, resolved
from grader.judge.errors import LearnerError
from grader.judge.own_limits import end_after
from grader.judge.session import interruptible
from grader.model import Lesson, LessonResult, Submission
from grader.submission import read_submission
from grader.workspace import find

if TYPE_CHECKING:
    from grader.judge.examination import Judge
    from grader.judge.tracing.shapes import TracedCall
    from grader.live.live_judge import LiveJudge
    from grader.model.picture import Picture

DONE = object()


def make_live_work(context: CourseContext, device: str = "cpu") -> LiveWork:
    """Return the work of which nothing is judged yet."""
    seed = choose_seed(context, None)
    return LiveWork(CheckRun(context, context.progress(), device, seed, as_json=False, verbose=False))


@dataclass
class LiveWork:
    """The last verdict on each lesson, the score before it, and what kept the last save from having one."""

    run: CheckRun
    verdicts: dict[str, LessonResult] = field(default_factory=dict)
    before: dict[str, float | None] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    events: queue.SimpleQueue[tuple[str, Any]] = field(default_factory=queue.SimpleQueue)
    on_score: Callable[[LessonResult], object] = lambda _: None  # takes a result before its mistakes are known
    _live: LiveJudge = field(init=False)
    _ahead: Iterator[None] = field(default_factory=lambda: iter(()))  # what is done while nothing happens

    def with_judge(self, drive: Callable[[LiveJudge], None]) -> None:
        """Start the judge and call `drive`."""
        from grader.judge.session import judge_with
        from grader.live.live_judge import LiveJudge

        def begin(judge: Judge) -> None:
            with LiveJudge(judge, lambda result: self.on_score(result)) as self._live:
                drive(self._live)

        course = self.run.context.course
        judge_with(course, course.lessons.values(), begin, device=self.run.device)

    def judge_saves(self, drive: Callable[[], None], follows: Callable[[Lesson], bool]) -> None:
        """Start the judge and call `drive`; meanwhile each save of a lesson that it follows is an event.

        Ctrl-C is one, too: Python loses what is raised in some of its imports, and `drive` waits without end.
        """
        workspace = self.run.context.require_workspace()
        lessons = self.run.context.course.lessons.values()
        files = {resolved(workspace.exercise_path(lesson)): lesson for lesson in lessons}

        def begin(live: LiveJudge) -> None:
            from grader.live.saved_files import SavedFiles

            def on_save(path: Path) -> None:
                if follows(files[path]):
                    self.events.put(("saved", files[path]))
                    live.overtake()

            with SavedFiles(workspace.root, files, on_save):
                drive()

        with interruptible(lambda: self.events.put(("stopped", None))):
            self.with_judge(begin)

    def saved_last(self) -> Lesson | None:
        """Return the lesson whose file was saved last; None where that was checked since, or is the empty exercise."""
        workspace = self.run.context.require_workspace()
        lessons = {workspace.exercise_path(lesson): lesson for lesson in self.run.context.course.lessons.values()}
        saved = {path: path.stat().st_mtime for path in lessons if is_file(path)}
        if not saved:
            return None
        path = max(saved, key=lambda each: saved[each])
        checked, stub = self.run.progress[lessons[path].name].last_when, lessons[path].exercise_path
        is_checked = checked is not None and saved[path] <= checked.timestamp()
        with suppress(OSError):
            return None if is_checked or read_whole(path) == read_whole(stub) else lessons[path]
        return None

    def take(self, wait: bool = True) -> tuple[str, Any]:
        """Return the next event. Raises queue.Empty, and KeyboardInterrupt where Ctrl-C came and was lost."""
        while wait and self.events.empty() and next(self._ahead, DONE) is not DONE:
            pass  # a step is taken
        event = self.events.get(block=wait)
        if event[0] == "stopped":
            raise KeyboardInterrupt
        return event

    def examine(self, lesson: Lesson, submission: Submission | None = None) -> bool:
        """Judge a submission, or the lesson's file as it is now; return False if a newer save overtook that."""
        run = self.run
        run.progress = run.context.progress()
        self.troubles.pop(lesson.name, None)
        try:
            if run.context.workspace is not None:  # another way may be followed since
                run.context = replace(run.context, workspace=find(run.context.workspace.root))
            submission = submission or self._read(lesson)
            submission = replace(submission, passing=find_passing(run, submission))
            with end_after(run.context.course.limits_for(lesson).judging_seconds, f"Checking {lesson.name}"):
                verdict = self._live.examine(lesson, submission, run.seed, run.progress[lesson.name].hints_used)
        except SelfattendError as error:
            self.troubles[lesson.name] = str(error)
            return True
        if verdict is None:
            return False
        self._keep(verdict, submission)
        self._ahead = iter(()) if verdict.passed else self._live.answer_ahead(lesson)
        return True

    def fill_file(self, lesson: Lesson, source: str) -> str:
        """Write what passes elsewhere into the lesson's file, if that is empty; return what is to be said."""
        hints_used = self.run.progress[lesson.name].hints_used
        return fill_file(
            self.run, lesson, source, lambda file: self._live.examine(lesson, file, self.run.seed, hints_used)
        )

    def overtake(self) -> None:
        """End the examination that runs, if one does. Any thread may call this."""
        self._live.overtake()

    def draw_pictures(self, lesson: Lesson, submission: Submission | None = None) -> list[Picture]:
        """Draw what a submission, or the lesson's file, answers; empty where nothing can be drawn."""
        with self._within_limits(lesson, "Drawing"):
            return self._live.draw_pictures(lesson, submission or self._read(lesson)) or []
        return []

    def trace(self, lesson: Lesson, submission: Submission) -> list[TracedCall]:
        """Return what each function of a submission made; empty where nothing can be watched."""
        with self._within_limits(lesson, "Tracing"), suppress(SyntaxError, RecursionError):
            return self._live.trace(lesson, submission) or []
        return []

    def describe_shapes(self, lesson: Lesson) -> dict[str, Any] | None:
        """Return what the lines of the lesson's file made, as a page shows it; None if a newer save overtook that."""
        from grader.judge.tracing.shape_words import describe_ending, describe_letters, describe_lines

        with self._within_limits(lesson, "Tracing"), suppress(SyntaxError, RecursionError):
            submission = self._read(lesson)
            if (calls := self._live.trace(lesson, submission)) is None:
                return None
            lines = [
                {"line": line, "notes": [{"standing": each.standing, "says": ", ".join(each.says)} for each in notes]}
                for line, notes in describe_lines(calls, submission.source)
            ]
            says = [f"{describe_ending(call)}. {describe_letters(call)}".rstrip() for call in calls if call.lines]
            return {"says": says, "lines": lines}
        return {"says": [], "lines": []}

    @contextmanager
    def _within_limits(self, lesson: Lesson, does: str) -> Iterator[None]:
        """Do something of which nothing is shown where it fails or takes too long."""
        limits = self.run.context.course.limits_for(lesson)
        with suppress(SelfattendError, LearnerError), end_after(limits.judging_seconds, f"{does} {lesson.name}"):
            yield

    def _read(self, lesson: Lesson) -> Submission:
        context = self.run.context
        workspace = context.require_workspace()
        path = Path(short_path(workspace.exercise_path(lesson)))
        return read_submission(path, lesson, context.course, workspace.root)

    def _keep(self, verdict: LessonResult, submission: Submission) -> None:
        """Show a verdict from now on; store it as an attempt if it is another than the last one."""
        run, last, known = self.run, self.verdicts.get(verdict.lesson), self.run.progress[verdict.lesson]
        self.before[verdict.lesson] = last.score if last else known.last_score
        run.results = [verdict]
        self.verdicts[verdict.lesson] = fit_suggestions(run, verdict)
        told = (last.score, last.mistakes) if last else (known.last_score, known.last_mistakes)
        if told != (verdict.score, verdict.mistakes):
            run.troubles = []  # of an attempt before this one
            store_attempt(run, submission, verdict)
            run.progress = run.context.progress()


def end_as_ctrl_c(_number: int, frame: FrameType | None) -> None:
    """Answer SIGTERM as Ctrl-C is answered: whatever else is raised within a check counts as the check's error."""
    interrupt = signal.getsignal(signal.SIGINT)
    if callable(interrupt):
        interrupt(signal.SIGINT, frame)
    raise SystemExit(128 + signal.SIGTERM)
