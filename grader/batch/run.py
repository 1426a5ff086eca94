"""A whole run: who is to be graded, with what, by how many processes; each result written as it comes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from grader.batch.discover import Found, Learner, discover
from grader.batch.hand_in import read_hand_in
from grader.batch.record import Record
from grader.batch.results import Results, read_header
from grader.batch.settings import Settings, settings_for
from grader.batch.stations import Grader
from grader.errors import CourseError, UsageError
from grader.judge.session import random_seed
from grader.model import Course, Lesson, Limits

AHEAD = 2  # submissions waiting for each process, so that none is ever idle


@dataclass(frozen=True)
class Plan:
    """What was asked for. `seed` None: the one of the results that are resumed, else a new one. `engine` is the version
    of this program: results of another one are not gone on with."""

    submissions: Path
    out: Path
    lessons: Sequence[Lesson]
    engine: str
    seed: int | None = None
    device: str = "cpu"
    resume: bool = False
    only: Sequence[str] = ()
    limit: int | None = None


class Run:
    """A run that is ready to begin; `todo` are the learners to grade, `before` how many were graded already."""

    def __init__(self, course: Course, plan: Plan) -> None:
        """Raises UsageError and its kin for what cannot be: no submissions, no such learner, no place to write."""
        _require_checks(plan.lessons)
        self.course = course
        self.found: Found = discover(plan.submissions, leave_out=plan.out)
        chosen = _chosen(self.found.learners, plan.only)
        self.settings: Settings = settings_for(course, plan.lessons, _seed(plan), plan.device, plan.engine)
        self.results = Results(plan.out, self.settings.to_header(), resume=plan.resume)
        done = self._done()
        self.todo = [learner for learner in chosen if learner.id not in done][: plan.limit]
        self.before = len(done)

    def _done(self) -> set[str]:
        """Who was graded already, on exactly what they have handed in now; the rest leave the results."""
        known = {learner.id: learner for learner in self.found.learners}
        for learner_id in list(self.results.lines):
            learner = known.get(learner_id)
            if learner is None or read_hand_in(learner).digest != self.results.digest_of(learner):
                self.results.forget(learner_id)
        return set(self.results.lines)

    def grade(self, on_record: Callable[[Record], None], jobs: int) -> None:
        """Grade everyone in `todo` with `jobs` processes; `on_record` hears of each as it is done.

        What is done is written and stays written, whatever ends this. Raises KeyboardInterrupt, SelfattendError.
        """
        grader = Grader(self.settings, _most_seconds(self.course.limits, len(self.settings.lessons)))
        executor = ThreadPoolExecutor(jobs)
        try:
            for learner, record in _graded(executor, grader.grade, self.todo, jobs * AHEAD):
                self.results.add(learner, record)
                on_record(record)
        except BaseException:
            grader.interrupt()
            raise
        finally:
            executor.shutdown(cancel_futures=True)
            grader.close()
            self.results.finish(self.found.learners, self.found.ignored)

    def close(self) -> None:
        """Let another run have the results folder."""
        self.results.close()


def usable_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _graded(
    executor: Executor, grade: Callable[[Learner], Record], learners: Sequence[Learner], ahead: int
) -> Iterator[tuple[Learner, Record]]:
    """Each learner's record as it is done; at most `ahead` are waiting, so a class of any size fits in memory."""
    waiting: dict[Future[Record], Learner] = {}
    coming = iter(learners)
    while True:
        while len(waiting) < ahead and (learner := next(coming, None)) is not None:
            waiting[executor.submit(grade, learner)] = learner
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future.result()


def _chosen(learners: Sequence[Learner], only: Sequence[str]) -> list[Learner]:
    known = [learner.id for learner in learners]
    for name in only:
        if name not in known:
            import difflib  # here: only a mistyped name needs it

            close = difflib.get_close_matches(name, known)
            guess = f"; did you mean {' or '.join(close)}?" if close else ""
            raise UsageError(f'there is no submission "{name}"{guess}', next_step="name one with --only ID")
    return [learner for learner in learners if learner.id in only] if only else list(learners)


def _require_checks(lessons: Sequence[Lesson]) -> None:
    for lesson in lessons:
        if not lesson.checks_path.is_file():
            what = f'the hidden checks of "{lesson.name}" are not here'
            next_step = "use a course that has them: --course DIR, or name other lessons with --lessons"
            raise CourseError(what, where=str(lesson.checks_path), next_step=next_step)


def _seed(plan: Plan) -> int:
    if plan.seed is not None:
        return plan.seed
    header = read_header(plan.out) if plan.resume else None
    recorded = header.get("seed") if header else None
    return recorded if isinstance(recorded, int) else random_seed()


def _most_seconds(limits: Limits, lessons: int) -> float:
    """After this long a grading process is taken for dead. Its checks keep to `total_seconds`; after them come the
    probes that name a mistake, each of which may take a call's time."""
    return lessons * (2 * limits.total_seconds + 40 * limits.call_seconds) + 60.0
