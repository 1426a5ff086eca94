"""A whole run: who is to be graded, with what, and where; each result written as it comes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.batch.executors import LOCAL, GradingExecutor, make_executor
from grader.batch.outputs import Outputs
from grader.batch.results import Results, read_settings
from grader.batch.results_folder import store_path
from grader.batch.settings import Settings, settings_for
from grader.batch.shards import Shard
from grader.errors import CourseError, UsageError
from grader.intake.discover import Discovery, discover
from grader.intake.formats.repositories import parse_deadline
from grader.intake.hand_in import read_hand_in
from grader.intake.learner import Learner
from grader.intake.name_patterns import NamePattern
from grader.intake.roster import Roster
from grader.judge.session import random_seed
from grader.model import Course, Lesson
from grader.record import Record

GIVEN = (  # what a run is given by name, and its results are of
    ("course", "another course", "--course"),
    ("lessons", "other lessons", "--lessons"),
    ("seed", "another seed", "--seed"),
    ("device", "another device", "--device"),
)


@dataclass(frozen=True)
class Plan:
    """What was asked for.

    `names`, `roster`, `attempts` and `before` say how hand-ins are found, as `discover` does; the first two as text and
    path, `before` as a date.
    `version` is that of this program: results of another one are graded again. `seed` None: the one of the results that
    are gone on with, else a new one. `resume`: grade only what is new or has changed. `regrade`: grade again, and keep
    the old scores beside the new ones. `jobs`: how many at the same time. `isolation`: "required", "available" or
    "process".
    """

    submissions: Path
    out: Path
    lessons: Sequence[Lesson]
    version: str
    seed: int | None = None
    device: str = "cpu"
    resume: bool = False
    names: str | None = None
    roster: Path | None = None
    attempts: str = "newest"
    before: str | None = None
    only: Sequence[str] = ()
    limit: int | None = None
    regrade: bool = False
    shard: Shard | None = None
    isolation: str = "available"
    jobs: int | None = None
    engine: str = LOCAL
    reveal: bool = False


class Run:
    """A run that is ready to begin. `todo` are the hand-ins to grade, `before` how many were graded already. `changed`
    are ids that were graded before in another state than they are in now, and will not be graded in this run;
    `otherwise` says how many in `todo` were graded before with other settings. `kept` are the learners who were graded
    before and are not among the hand-ins: their results stay."""

    def __init__(self, course: Course, plan: Plan) -> None:
        """Raises UsageError and its kin for what cannot be: no submissions, no such learner, no place to write. A run
        that begins anew has begun to start its engine then: unless that works, nothing that is there is touched."""
        _require_checks(plan.lessons)
        self.course, self.plan = course, plan
        self.roster = Roster.read(plan.roster) if plan.roster else None
        self.found = _found(plan, self.roster)
        chosen = _chosen(self.found.learners, plan.only)
        path = store_path(plan.out, plan.shard)
        seed = _seed(plan, path)
        self.settings: Settings = settings_for(course, plan.lessons, seed, plan.device, plan.version, plan.isolation)
        header = self.settings.to_header()
        if plan.resume or plan.regrade:
            _require_same(path, header, plan)
        self._executor: GradingExecutor | None = None
        outputs = None if plan.shard else Outputs(plan.out, reveal=plan.reveal)
        self._most = min(len(chosen), plan.limit or len(chosen))  # to be graded
        try:
            go_on = (plan.resume or plan.regrade) and path.exists()
            self.results = Results(path, header, outputs, go_on=go_on, ready=self._start)
            try:
                self._prepare(chosen)
            except BaseException:
                self.results.close()
                raise
        except BaseException:
            self._end(interrupt=True)
            raise

    def _prepare(self, chosen: Collection[str]) -> None:
        """Find out who was graded already; the class files hold those, and whoever is added."""
        shard, regrade = self.plan.shard, self.plan.regrade
        mine = [learner for learner in self.found.learners if shard is None or shard.holds(learner)]
        done, stays = self._known(mine)
        wanted = [learner for learner in mine if learner.id in chosen and (regrade or learner.id not in done)]
        self.todo = wanted[: self.plan.limit]
        self._most = len(self.todo)
        waiting = {learner.id for learner in self.todo}
        self.before = len(done - waiting)
        states = self.results.states
        self.otherwise = sum(states[name].settings != self.results.key for name in waiting & states.keys())
        self.changed = sorted(states.keys() & {learner.id for learner in mine} - stays - waiting)
        if regrade:
            self.results.grade_again(waiting)
            stays |= {name for name in waiting & states.keys() if states[name].listed}
        earlier = self._earlier()
        self.kept = sorted(set(earlier.values()))
        self.results.list_only({*stays, *earlier})
        expected = [*(learner.id for learner in self.found.learners), *earlier]
        parts = [(shard.number, shard.of)] if shard else []
        self.results.begin(self._titles(), expected, self._found(), parts=parts)

    def _known(self, learners: Sequence[Learner]) -> tuple[set[str], set[str]]:
        """Who was graded on exactly what they have handed in now, with these settings; and whose result stays in the
        class files until there is another."""
        done, stays = set(), set()
        for learner in learners:
            state = self.results.states.get(learner.id)
            if state is None:
                continue
            digest = read_hand_in(learner).digest
            again = state.again or self.plan.regrade  # until there is a new score, the old one counts
            same_settings = state.settings == self.results.key or (again and state.listed)
            if self.results.is_done(learner.id, digest):
                done.add(learner.id)
            if same_settings and state.digest in ("", digest):
                stays.add(learner.id)
        return done, stays

    def _earlier(self) -> dict[str, str]:
        """The hand-ins that were graded before, of learners who are not among those here, each with its learner."""
        ids = {learner.id for learner in self.found.learners}
        learners = {learner.learner for learner in self.found.learners}
        listed = {result.id: result.learner for result in self.results.store.results()}
        absent = {
            name: listed[name] if name in listed else str(json.loads(self.results.store.record(name))["learner"])
            for name in self.results.states.keys() - ids
        }
        return {name: absent[name] for name in sorted(absent) if absent[name] not in learners}

    def _titles(self) -> dict[str, Any]:
        lessons = {name: self.course.lessons[name].title for name in self.settings.lessons}
        return {"course": self.course.title, "lessons": lessons}

    def _found(self) -> dict[str, Any]:
        """What is kept of how the hand-ins were found."""
        found = self.found
        people = {name: self.roster.find((name,)) for name in self.kept} if self.roster else {}
        there = {person.id for person in people.values() if person}
        self.missing = [one for one in found.missing if one["id"] not in there]  # nobody with a result is
        strangers = [name for name, person in people.items() if person is None]
        return {"ignored": found.ignored, "missing": self.missing, "unlisted": [*found.unlisted, *strangers]}

    def _start(self) -> None:
        self._executor = make_executor(self.plan.engine, self.course, self.settings, self.plan.jobs, self._most)
        self._executor.start()

    def grade(self, on_record: Callable[[Record], None]) -> None:
        """Grade everyone in `todo`; `on_record` hears of each as it is done.

        What is done is written and stays written, whatever ends this. Raises KeyboardInterrupt, SelfattendError.
        """
        try:
            if self.todo:
                self._grade(on_record)
        finally:
            self.results.finish(self.course)

    def _grade(self, on_record: Callable[[Record], None]) -> None:
        try:
            if self._executor is None:
                self._start()
            assert self._executor is not None
            for learner, graded in self._executor.grade(self.todo):
                on_record(self.results.add(learner, graded))
        except BaseException:
            self._end(interrupt=True)
            raise
        self._end()

    def _end(self, *, interrupt: bool = False) -> None:
        """Leave no process."""
        executor, self._executor = self._executor, None
        if executor is not None:
            if interrupt:
                executor.interrupt()
            executor.close()

    def close(self) -> None:
        """Let another run have the results folder."""
        self._end()
        self.results.close()


def _found(plan: Plan, roster: Roster | None) -> Discovery:
    return discover(
        plan.submissions,
        plan.out,
        names=NamePattern.parse(plan.names) if plan.names else None,
        roster=roster,
        attempts=plan.attempts,
        before=parse_deadline(plan.before) if plan.before else 0,
    )


def _chosen(learners: Sequence[Learner], only: Sequence[str]) -> Collection[str]:
    known = {learner.id: learner.name for learner in learners}
    for name in only:
        if name not in known:
            close = _close(name, known)
            guess = f"; did you mean {' or '.join(close)}?" if close else ""
            raise UsageError(f'there is no submission "{name}"{guess}', next_step="name one with --only ID")
    return set(only) or known.keys()


def _close(wanted: str, known: Mapping[str, str]) -> list[str]:
    """The ids that are written much like what was wanted, or whose names are."""
    import difflib  # here: only a mistyped name needs it

    plain = {own: " ".join(sorted(re.findall(r"\w+", name.casefold()))) for own, name in known.items() if name}
    names = difflib.get_close_matches(" ".join(sorted(re.findall(r"\w+", wanted.casefold()))), set(plain.values()))
    named = [f"{own} ({known[own]})" for own, name in plain.items() if name in names]
    return named or difflib.get_close_matches(wanted, known)


def _require_checks(lessons: Sequence[Lesson]) -> None:
    for lesson in lessons:
        if not lesson.checks_path.is_file():
            what = f'the hidden checks of "{lesson.name}" are not here'
            next_step = "use a course that has them: --course DIR, or name other lessons with --lessons"
            raise CourseError(what, where=str(lesson.checks_path), next_step=next_step)


def _require_same(path: Path, header: Mapping[str, Any], plan: Plan) -> None:
    """Results are gone on with by what they were begun with; only the content of the course, and this program, may have
    changed. What those who are not graded now were given would stand beside scores of another kind."""
    before = read_settings(path)
    if before is None:
        if plan.regrade:
            what = "there are no results here to grade again"
            raise UsageError(what, where=str(path), next_step="leave out --regrade")
        return
    was, now = {**before, "course": before["course"]["id"]}, {**header, "course": header["course"]["id"]}
    for name, of, option in GIVEN:
        if was[name] != now[name]:
            first, second = (_in_words(value) for value in (was[name], now[name]))
            these = "these" if name == "lessons" else "this"
            what = f"the results here are of {of} than {these}: {first}, not {second}"
            next_step = f"repeat the command with {option} {first}, or begin anew with another --out"
            raise UsageError(what, where=str(path), next_step=next_step)


def _in_words(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)


def _seed(plan: Plan, path: Path) -> int:
    if plan.seed is not None:
        return plan.seed
    before = read_settings(path) if plan.resume or plan.regrade else None
    if before is not None:
        return int(before["seed"])
    if plan.shard:
        raise UsageError("the parts of a class need the same seed", next_step="give all of them one: --seed N")
    return random_seed()
