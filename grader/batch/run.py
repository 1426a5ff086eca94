"""Grade a class from start to end; each result is written as it arrives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.batch.earlier_ids import find_exchanged, find_renamed
from grader.batch.executors import LOCAL, GradingExecutor, make_executor
from grader.batch.one_learner.read_within_limits import read_within_limits
from grader.batch.outputs import Outputs, parse_record
from grader.batch.results import Results, read_settings
from grader.batch.results_folder import store_path
from grader.batch.settings import Settings, make_settings
from grader.batch.shards import Shard
from grader.errors import CourseError, UsageError
from grader.files import resolved
from grader.intake.discover import MERGE, Discovery, discover
from grader.intake.formats.repositories import parse_deadline
from grader.intake.learner import STAMP, Learner, read_alike
from grader.intake.name_patterns import NamePattern
from grader.intake.roster import Roster
from grader.intake.unique_ids import suggest_ids
from grader.judge.own_limits import end_after, within_limits
from grader.judge.session import random_seed
from grader.model import MAX_PEOPLE, Course, Lesson
from grader.model.validate import MAX_NUMBER
from grader.record import Record
from grader.store.class_store import State

DISCOVERY_SECONDS = 600.0  # for all hand-ins of a class, which are listed and not read
LOOK_AT_NAMES = (
    "look among the hand-ins for one of very many files, or with very long names, and run the command again without it"
)
LOOK_AT_ROSTER = "look in the roster for far more lines than there are people"
REQUIRED_EQUAL = (  # settings by which results can be resumed, in words, with their options
    ("course", "another course", "--course"),
    ("lessons", "other lessons", "--lessons"),
    ("seed", "another seed", "--seed"),
    ("device", "another device", "--device"),
)


@dataclass(frozen=True)
class Plan:
    """The options of a run.

    `names`, `roster`, `attempts` and `before` say how hand-ins are found, as for `discover`, in text, path and date.
    `older` takes hand-ins, too, that are older than what was graded; `late` says that late work is to be deducted, for
    which all times must be read.
    `version` is this program's: results of another version are graded again. Without a `seed`, that of the results that
    are resumed is used, else a random one. `resume` grades only what is new or has changed; `regrade` grades again and
    keeps the old scores beside the new ones. `jobs` submissions are graded at the same time. `isolation` is that
    of `judge_with`. `pictures` are drawn of what is graded in this run.
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
    attempts: str = MERGE
    older: bool = False
    late: bool = False
    before: str | None = None
    only: Sequence[str] = ()
    limit: int | None = None
    regrade: bool = False
    shard: Shard | None = None
    isolation: str = "available"
    jobs: int | None = None
    engine: str = LOCAL
    pictures: bool = False
    reveal: bool = False
    no_code: bool = False
    gradescope: bool = False
    junit: bool = False


class Run:
    """A run that is ready to start.

    `todo` are the hand-ins to grade, `before` counts those graded already. `changed` are ids whose hand-in has changed
    since it was graded, but is not graded in this run: their results stay; `older` are ids whose hand-in is older than
    the one that was graded, whose result stays; `otherwise` counts those in `todo` that were graded with other
    settings. `renamed` are ids of before that were other ones of a person's in the roster, with the roster's; what was
    graded as `doubled` is left out, since that person's own id has a result. `exchanged` are ids of a file to which
    a human gave a score, and which is another's now: the file, and whose. `kept` are learners who were graded before,
    and have no hand-in now: their results stay.
    """

    def __init__(self, course: Course, plan: Plan) -> None:
        """Find the hand-ins and open the results. Raises UsageError for plans that cannot be carried out.

        A run without `resume` starts its executor first: if that fails, earlier results stay untouched.
        """
        _require_checks(plan.lessons)
        if resolved(plan.out) == resolved(plan.submissions):  # the next run would take results for hand-ins
            what = "the results would lie among the hand-ins"
            raise UsageError(what, where=str(plan.out), next_step="name another folder: --out results")
        self.course, self.plan = course, plan
        with end_after(DISCOVERY_SECONDS, "reading the roster", LOOK_AT_ROSTER):
            self.roster = Roster.read(plan.roster) if plan.roster else None
        self.found = _discover(course, plan, self.roster)
        if plan.late:
            _require_times(self.found)
        chosen = _choose(self.found.learners, plan.only)
        path = store_path(plan.out, plan.shard)
        before = read_settings(path) if plan.resume or plan.regrade else None
        seed = _choose_seed(plan, before)
        settings = make_settings(course, plan.lessons, seed, plan.device, plan.version, plan.isolation)
        self.settings: Settings = replace(settings, pictures=plan.pictures)
        header = self.settings.to_header()
        if plan.resume or plan.regrade:
            _require_same(before, header, path, plan)
        self._executor: GradingExecutor | None = None
        written = {"reveal": plan.reveal, "no_code": plan.no_code, "gradescope": plan.gradescope, "junit": plan.junit}
        outputs = None if plan.shard else Outputs(plan.out, **written)
        self._total = min(len(chosen), plan.limit or len(chosen))
        with ExitStack() as undo:
            undo.callback(self._stop, interrupt=True)
            go_on = (plan.resume or plan.regrade) and path.exists()
            results = Results(path, header, outputs, go_on=go_on, ready=self._start, attempts=plan.attempts)
            self.results = undo.enter_context(closing(results))
            self._rename()
            self._prepare(chosen)
            undo.pop_all()

    def _prepare(self, chosen: Collection[str]) -> None:
        """Find out who was graded already; the class files hold those, and who is added."""
        shard, regrade = self.plan.shard, self.plan.regrade
        mine = [learner for learner in self.found.learners if shard is None or shard.holds(learner)]
        done, stays, self.older = self._find_graded(mine)
        left = set(self.older) if regrade else done.union(self.older)
        wanted = [learner for learner in mine if learner.id in chosen and learner.id not in left]
        self.todo = wanted[: self.plan.limit]
        self._total = len(self.todo)
        waiting = {learner.id for learner in self.todo}
        self.before = len(done - waiting)
        states = self.results.states
        self.otherwise = sum(states[name].settings != self.results.key for name in waiting & states.keys())
        listed = {name for name, state in states.items() if state.listed}
        self.changed = sorted(listed & {learner.id for learner in mine} - stays - waiting - {*self.older})
        if self.changed:
            self.results.grade_again(self.changed)
        stays |= {*self.changed, *self.older}
        if regrade:
            self.results.grade_again(waiting)
            stays |= {name for name in waiting & states.keys() if states[name].listed}
        earlier = self._find_earlier()
        self.kept = sorted(set(earlier.values()))
        not_now = ({*stays, *earlier} - waiting) & states.keys()
        self.outdated = sorted(name for name in not_now if states[name].settings != self.results.key)
        self.results.list_only({*stays, *earlier})
        expected = [*(learner.id for learner in self.found.learners), *earlier]
        parts = [(shard.number, shard.of)] if shard else []
        titles = {name: self.course.lessons[name].title for name in self.settings.lessons}
        self.results.begin(
            {"course": self.course.title, "lessons": titles}, expected, self._describe_discovery(), parts=parts
        )
        if self.renamed:
            self.results.write_learners({*self.renamed.values()})

    def label(self, hand_in: str) -> str:
        """Return whose hand-in it is."""
        found = next((learner.name for learner in self.found.learners if learner.id == hand_in), "")
        record = None if found else self.results.store.record(hand_in, parse_record)
        return found or (record.name if record else "") or hand_in

    def _find_graded(self, learners: Sequence[Learner]) -> tuple[set[str], set[str], list[str]]:
        """Return who was graded on the present hand-in with these settings, and whose result stays until the next.

        The third list is of those whose hand-in is older than what was graded.
        """
        done, stays, older = set(), set(), []
        for learner in learners:
            state = self.results.states.get(learner.id)
            if state is None:
                continue
            digest, when = self._identify(learner, state)
            again = state.again or self.plan.regrade  # until there is a new score, the old one counts
            same_settings = state.settings == self.results.key or (again and state.listed)
            if self.results.is_done(learner.id, digest):
                done.add(learner.id)
            if same_settings and state.digest in ("", digest):
                stays.add(learner.id)
            elif not self.plan.older and state.listed and self._is_older(learner, state, digest, when):
                older.append(learner.id)
        return done, stays, sorted(older)

    def _is_older(self, learner: Learner, state: State, digest: str, when: float | None) -> bool:
        """Return True if a changed hand-in came in before the one that was graded, or was replaced by it before.

        *when* it was made, if its content says so.
        """
        if digest == state.digest:
            return False
        graded = self.results.store.record(learner.id, parse_record)
        before, now = graded.submitted if graded else None, learner.submitted
        if graded and before is now is None:
            before, now = graded.when, when
        if before is not None and now is not None and before != now:
            return now < before
        return read_alike(digest, state.digest) and digest in self.results.store.digests(learner.id) - {""}

    def _identify(self, learner: Learner, state: State) -> tuple[str, float | None]:
        """Return the digest of a hand-in, and its time if its content says that.

        If nothing would come of reading it, the digest is the one it was graded with.
        """
        if not state.digest:  # the grader failed on it
            return "", None
        if state.digest.startswith(STAMP) and state.digest == learner.stamp:  # it took too long, and is still the same
            return state.digest, None
        hand_in = read_within_limits(learner, self.course.limits)
        return learner.mark(hand_in.digest), hand_in.when

    def _rename(self) -> None:
        """Give who was graded before the ids that they have now; `doubled` are those who have another result there."""
        earlier = self.results.earlier_owners()
        found, self.doubled = find_renamed(earlier, self.found.learners, self.roster)
        self.renamed = {old: new for old, (new, _) in found.items() if new != old}
        self.exchanged = find_exchanged(earlier, self.renamed, self.found.learners)
        if self.renamed and self.plan.shard:
            old, new = next(iter(self.renamed.items()))
            what = f"ids of who was graded before are others now, as {old}, who is {new}: parts are divided by ids"
            raise UsageError(what, where=str(self.results.path), next_step="name another folder with --out")
        self.results.rename(found)
        here = {learner.id for learner in self.found.learners}  # a note of each says with whom it was handed in
        self.results.grade_again([new for new, owner in found.values() if owner.together and new in here])

    def _find_earlier(self) -> dict[str, str]:
        """Return earlier hand-ins of learners who have none now, each with its learner.

        Of one person's under two ids the one that is not theirs now does not count.
        """
        now = {name for one in self.found.learners for name in (one.id, one.learner)}
        owners = self.results.store.owners() if self.results.states else {}
        absent = {name: one.learner for name, one in owners.items() if name not in now and one.learner not in now}
        self.doubled = [name for name in self.doubled if name in absent]
        doubled = {*self.doubled}
        return {name: learner for name, learner in absent.items() if name not in doubled}

    def _describe_discovery(self) -> dict[str, Any]:
        """Return what is stored about how the hand-ins were found."""
        found = self.found
        people = {name: self.roster.find((name,)) for name in self.kept} if self.roster else {}
        there = {person.id for person in people.values() if person}
        self.missing = [one for one in found.missing if one["id"] not in there]  # but those with a result
        strangers = [name for name, person in people.items() if person is None]
        unlisted = [*found.unlisted, *strangers]
        ignored = found.ignored[:MAX_PEOPLE]  # names of anything
        return {"ignored": ignored, "missing": self.missing, "unlisted": unlisted, "older": self.older}

    def _start(self) -> None:
        self._executor = make_executor(self.plan.engine, self.course, self.settings, self.plan.jobs, self._total)
        self._executor.start()

    def grade(self, on_record: Callable[[Record], None]) -> None:
        """Grade everyone in `todo`, and call *on_record* with each result.

        Results stay written, whatever ends this. Raises KeyboardInterrupt, SelfattendError.
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
            for graded in self._executor.grade(self.todo):
                for record in self.results.add_all(graded):
                    on_record(record)
        except BaseException:
            self._stop(interrupt=True)
            raise
        self._stop()

    def _stop(self, *, interrupt: bool = False) -> None:
        """End all processes."""
        executor, self._executor = self._executor, None
        if executor is not None:
            if interrupt:
                executor.interrupt()
            executor.close()

    def close(self) -> None:
        """Release the results folder."""
        self._stop()
        self.results.close()


def _discover(course: Course, plan: Plan, roster: Roster | None) -> Discovery:
    """Find the hand-ins within limits: names, archives and folders are what learners made of them."""
    with within_limits(DISCOVERY_SECONDS, course.limits.memory_mb, "looking for hand-ins", LOOK_AT_NAMES):
        return discover(
            plan.submissions,
            plan.out,
            names=NamePattern.parse(plan.names) if plan.names else None,
            roster=roster,
            attempts=plan.attempts,
            before=parse_deadline(plan.before) if plan.before else 0,
            lessons=[lesson.name for lesson in plan.lessons],
        )


def _require_times(found: Discovery) -> None:
    """Raise UsageError for the first text in the place of a time that is none: its owner would pass for punctual."""
    for text, where in found.unread_times:
        what = f'"{text}" is no time that is read, so nobody knows whether this work is late'
        next_step = "export the submissions anew, or write it so: 2026-11-20 22:59:00 Z; or grade without [late]"
        raise UsageError(what, where=where, next_step=next_step)


def _choose(learners: Sequence[Learner], only: Sequence[str]) -> Collection[str]:
    known = {learner.id: learner.name for learner in learners}
    for name in only:
        if name not in known:
            close = suggest_ids(name, known)
            guess = f"; did you mean {' or '.join(close)}?" if close else ""
            raise UsageError(f'there is no submission "{name}"{guess}', next_step="name one with --only ID")
    return set(only) or known.keys()


def _require_checks(lessons: Sequence[Lesson]) -> None:
    for lesson in lessons:
        if not lesson.checks_path.is_file():
            what = f'the hidden checks of "{lesson.name}" are not here'
            next_step = "use a course that has them: --course DIR, or name other lessons with --lessons"
            raise CourseError(what, where=str(lesson.checks_path), next_step=next_step)


def _require_same(before: Mapping[str, Any] | None, header: Mapping[str, Any], path: Path, plan: Plan) -> None:
    """Raise UsageError unless the settings are those of the results to resume.

    Only this program and the content of the course may have changed: other scores would not be comparable.
    """
    if before is None:
        if plan.regrade:
            what = "there are no results here to grade again"
            raise UsageError(what, where=str(path), next_step="leave out --regrade")
        return
    was, now = {**before, "course": before["course"]["id"]}, {**header, "course": header["course"]["id"]}
    for name, of, option in REQUIRED_EQUAL:
        if was[name] != now[name]:
            first, second = (",".join(each) if isinstance(each, list) else each for each in (was[name], now[name]))
            these = "these" if name == "lessons" else "this"
            what = f"the results here are of {of} than {these}: {first}, not {second}"
            next_step = f"repeat the command with {option} {first}, or begin anew with another --out"
            raise UsageError(what, where=str(path), next_step=next_step)


def _choose_seed(plan: Plan, before: Mapping[str, Any] | None) -> int:
    if plan.seed is not None:
        if plan.seed >= MAX_NUMBER:
            raise UsageError("a seed has at most 128 bits", next_step="give a smaller one, such as --seed 7")
        return plan.seed
    if before is not None:
        return int(before["seed"])
    if plan.shard:
        raise UsageError("the parts of a class need the same seed", next_step="give all of them one: --seed N")
    return random_seed()
