"""What an audit proves by running a lesson's checks: on the stub, the reference, alternatives and known mistakes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Container, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from grader.authoring.audit.lesson_audit import LessonAudit
from grader.authoring.audit.reached import ReachedSteps, not_asking
from grader.authoring.release.record_answers import unrecordable
from grader.course.frontmatter import read_front_matter
from grader.files import read_file
from grader.judge.checks.check import Check
from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.checks.loaded_submission import Known, OwnFunctions
from grader.judge.checks.run_checks import Outcome, run_checks
from grader.judge.course_files import line_in, load_file
from grader.judge.diagnosis.mistake_outputs import PROBE_SEED
from grader.judge.diagnosis.name_mistake import Diagnostician
from grader.judge.errors import LearnerError
from grader.judge.examination import Judge
from grader.judge.mistakes.mistake_set import Alternative, Mistake, MistakeSet, Probe, group_joinable
from grader.judge.processes.remote_module import LocalModule
from grader.judge.transcript.transcript import Exchange
from grader.judge.values.compare import largest_error
from grader.judge.values.random_inputs import Rand, derive
from grader.judge.values.wrong_forms import FORMS, in_form
from grader.judge.verdict.feedback import score_of
from grader.model import Lesson, LessonResult, Submission
from grader.submission import read_artefact

MIN_MARGIN = 10.0  # in tolerances of the probe
MIN_CHECKS = 8  # for each function to write
Replies = Mapping[str, Sequence[Exchange]]  # of each check
NOT_FAILED = ("passed", "skipped", "grader-error")


class Proof:
    """Puts one lesson to the proof on the seed of probes and on 1, 2, 3 ...; what is wrong goes into its audit.

    On the seed of probes the checks ask a mistake what the probes do, which are those checks: it is asked once.
    """

    def __init__(self, judge: Judge, lesson: Lesson, report: LessonAudit, seeds: int) -> None:
        self.judge, self.lesson, self.report = judge, lesson, report
        self.on_seed = {PROBE_SEED: judge.lesson_checks(lesson, PROBE_SEED)}
        for seed in range(1, seeds):
            self.on_seed[seed] = LessonChecks(judge.runner, judge.answers, lesson, seed)
        self.checks = judge.checks_of(lesson)
        self.unsound: set[str] = set()  # checks that the reference does not pass
        self.failed: set[str] = set()  # names of tests that failed something
        self._reached_steps: dict[tuple[str, int], ReachedSteps] = {}

    def run(self) -> None:
        """Carry out every proof."""
        self.report.checks = len(self.checks)
        self._check_needs()
        self.base = dict(vars(load_file(self.lesson.solution_path)))
        diagnosticians = self.judge.diagnosticians(self.lesson)
        self._prove_reference()
        if not all([self._prove_questions(each) for each in diagnosticians.values()]):
            return  # no mistake can be named
        self._prove_stub()
        self._prove_pictures()
        for function in self.lesson.functions:
            mine = [check for check in self.checks if check.function_in(self.lesson) == function.name]
            if len(mine) < MIN_CHECKS:
                what = f"{function.name}: {len(mine)} checks; at least {MIN_CHECKS} are needed."
                self.report.add(what, self.lesson.checks_path)
            if function.name not in diagnosticians:
                self.report.add(f"{function.name}: no family of known mistakes.", self.lesson.mistakes_path)
        for error in unrecordable(self.judge, self.lesson):
            self.report.add_error(error)
        for diagnostician in diagnosticians.values():
            self._prove_mistake_set(diagnostician)
        self._prove_forms()
        self._prove_checks()
        self._check_traps({mistake.id for each in diagnosticians.values() for mistake in each.mistake_set.mistakes})

    # --- checks -------------------------------------------------------------------------------------------------------

    def _check_needs(self) -> None:
        known: set[str] = set()
        for check in self.checks:
            for need in check.needs:
                if need not in known:
                    what = f"no check before {check.test} is called test_{need}: `needs` is to name one."
                    self._add_once(what, check.path, check.line)
            known |= check.called

    def _prove_checks(self) -> None:
        """Note the checks that nothing failed: the cases of a parametrized one count together."""
        for check in self.checks:
            has_mistakes = self.report.matrix.get(check.function_in(self.lesson))
            if check.is_run:
                continue  # wrong versions are not trained here
            if has_mistakes and check.test not in self.failed and check.name not in self.unsound:
                what = f"{check.test} fails neither the stub nor any known mistake: add the one that it is there for."
                self._add_once(what, check.path, check.line)

    def _add_once(self, what: str, path: Path, line: int) -> None:
        before = list(self.report.problems)
        self.report.add(what, path, line)
        if self.report.problems[-1] in before:
            self.report.problems.pop()

    def _check_traps(self, known: Container[str]) -> None:
        """Note the ids in the text's `[traps]` that no known mistake has: nothing would ever unfold them."""
        head = read_front_matter(self.lesson.text_path).table("traps")
        for begins, ids in self.lesson.traps.items():
            for each in ids:
                if each not in known:
                    what = f'"{begins}" in [traps] names "{each}", which is no known mistake of this lesson.'
                    self.report.add_error(head.error(what, begins, each))

    # --- right versions -----------------------------------------------------------------------------------------------

    def _prove_reference(self) -> None:
        """Let the reference pass every check in a worker, and in this process on every seed."""
        for seed, checks in self.on_seed.items():
            for outcome in self._run(self.base, seed, known=Known(checks.passed_by_reference)):
                if outcome.kind != "passed" and outcome.check.name not in self.unsound:
                    self.unsound.add(outcome.check.name)
                    what = f"The reference does not pass on seed {seed}"
                    self._add_failure(what, self.base, outcome.check, outcome.kind)
        in_worker = self._examine_file(self.lesson.solution_path)
        if not in_worker.passed and not self.unsound:
            bad = next((check for check in in_worker.checks if not check.passed), None)
            why = f"{bad.id} {bad.outcome}: {_first_line(bad.message)}" if bad else in_worker.state
            self.report.add(f"The reference does not pass in a worker: {why}", self.lesson.solution_path)

    def _prove_alternatives(self, mistake_set: MistakeSet) -> None:
        """Run each right version alone on the first seed; on the others those together that change different steps."""
        first, *others = self.on_seed
        good = [each for each in mistake_set.alternatives if self._prove_right(each, mistake_set, [first])]
        count = 0
        for group in group_joinable(good):
            count += self._prove_together(group, mistake_set, others)
        before, total = self.report.alternatives
        self.report.alternatives = before + count, total + len(mistake_set.alternatives)

    def _prove_together(self, group: Sequence[Alternative], mistake_set: MistakeSet, seeds: Sequence[int]) -> int:
        """Return how many of a group are right: all, if they are so together; else either half is looked at."""
        if len(group) == 1:
            return int(self._prove_right(group[0], mistake_set, seeds))
        changes = dict(ChainMap(*(dict(each.changes) for each in group)))
        if self._find_failure(Alternative("", changes), mistake_set, seeds) is None:
            return len(group)
        half = len(group) // 2
        return sum(self._prove_together(part, mistake_set, seeds) for part in (group[:half], group[half:]))

    def _prove_right(self, right: Alternative, mistake_set: MistakeSet, seeds: Sequence[int]) -> bool:
        """Return True if a right version passes on these seeds every check that the reference passes."""
        found = self._find_failure(right, mistake_set, seeds)
        if found is not None:
            seed, outcome = found
            what = f"{mistake_set.function}, alternative “{right.name}” is rejected on seed {seed}"
            namespace = self._with(mistake_set, right.changes, right.version)
            place = self.lesson.mistakes_path, right.line
            self._add_failure(what, namespace, outcome.check, outcome.kind, place)
        return found is None and not self.unsound

    def _find_failure(
        self, right: Alternative, mistake_set: MistakeSet, seeds: Sequence[int]
    ) -> tuple[int, Outcome] | None:
        """Return the first check that a right version fails, and the reference passes, with its seed."""
        namespace = self._with(mistake_set, right.changes, right.version)
        for seed in seeds:
            unreached = self._reached(mistake_set, seed).unreached(right.changes, right.version)
            for outcome in self._run(namespace, seed, known=Known(unreached - self.unsound)):
                if outcome.kind != "passed" and outcome.check.name not in self.unsound:
                    return seed, outcome
        return None

    def _add_failure(
        self,
        what: str,
        namespace: Mapping[str, Any],
        check: Check,
        kind: str,
        place: tuple[Path, int] | None = None,
    ) -> None:
        """Note that a right version failed a check, with the line at which it does."""
        error = self._error_of(check, namespace)
        if isinstance(error, LearnerError):
            said = f"{error.type_name}: {error.text}" if error.type_name else error.text
        else:
            said = (f"{type(error).__name__}: " if kind == "grader-error" else "") + str(error or "")
        line = (line_in(error, check.path) if error else 0) or check.line
        path, number = place or (check.path, line)
        where = f" ({check.path.name}:{line})" if place else ""
        self.report.add(f"{what}: {check.name} {kind}{where}: {_first_line(said)}", path, number)

    def _error_of(self, check: Check, namespace: Mapping[str, Any]) -> BaseException | None:
        """Run a check once more, for its traceback."""
        for checks in self.on_seed.values():
            error = checks.run(check, LocalModule(namespace, self.lesson.kinds))
            if error is not None:
                return error
        return None

    # --- wrong versions -----------------------------------------------------------------------------------------------

    def _prove_stub(self) -> None:
        stub = self._examine_file(self.lesson.exercise_path)
        self._note_failed(stub)
        if stub.passed or {mistake.id for mistake in stub.mistakes} != {"stub"}:
            named = ", ".join(mistake.id for mistake in stub.mistakes) or "nothing"
            what = f"The stub must fail as `stub`; it scored {stub.score} and was named {named}."
            self.report.add(what, self.lesson.exercise_path)

    def _prove_mistake_set(self, diagnostician: Diagnostician) -> None:
        mistake_set, path = diagnostician.mistake_set, self.lesson.mistakes_path
        function = mistake_set.function
        for what, known in (("mistake", mistake_set.mistakes), ("correct alternative", mistake_set.alternatives)):
            if not known:
                self.report.add(f"{function}: its family has no {what} yet; nothing is proved without.", path)
        self.report.matrix[function] = {}
        recorded = [self._record(diagnostician, 1 << index) for index in range(len(mistake_set.mistakes))]
        for mistake, replies in zip(mistake_set.mistakes, recorded, strict=True):
            self._prove_mistake(diagnostician, mistake, replies)
        self._prove_alternatives(mistake_set)

    def _prove_questions(self, diagnostician: Diagnostician) -> bool:
        """Return True if the reference answers every probe and example of a mistake set without an error."""
        mistake_set, problems = diagnostician.mistake_set, len(self.report.problems)
        reference = diagnostician.outputs.subject_with(())
        for probe in mistake_set.probes:
            error = _error_on(probe, reference, diagnostician.arrays)
            if error is not None:
                code = probe.run.__code__
                line = line_in(error, self.lesson.mistakes_path) or code.co_firstlineno
                what = f"the probe “{probe.name}” ends with {type(error).__name__}: {error}"
                self.report.add(f"{mistake_set.function}: {what}", self.lesson.mistakes_path, line)
        for example in mistake_set.examples:
            try:
                getattr(self.judge.answers.load(self.lesson), mistake_set.function)(*example.args, **example.kwargs)
            except LearnerError as error:
                what = f"{mistake_set.function}: on this example the reference raises {error}"
                self.report.add(what, self.lesson.mistakes_path, example.line)
        return len(self.report.problems) == problems

    def _record(self, diagnostician: Diagnostician, mistake: int) -> Replies:
        """Return what a mistake replies to each check that runs a line of it: before the answers alone are needed."""
        outputs, asked = diagnostician.outputs, self.on_seed[PROBE_SEED].transcripts
        reached = [index for index, mistakes in enumerate(outputs.reached) if mistake & mistakes]
        names = {index: outputs.probes[index].name for index in reached}
        return {name: outputs.record(index, mistake) for index, name in names.items() if name in asked}

    def _prove_mistake(self, diagnostician: Diagnostician, mistake: Mistake, replies: Replies) -> None:
        namespace = self._with(diagnostician.mistake_set, mistake.changes, mistake.version)
        first, *others = self.on_seed
        may_draw = mistake.version is not None or "dropout" in str(mistake.changes)
        known = self._known(diagnostician, mistake, may_draw, replies)
        result = self.judge.examine_own(self.lesson, namespace, first, may_draw, known)
        caught = self._note_failed(result)
        self.report.matrix[diagnostician.mistake_set.function][mistake.label] = caught
        passed = [seed for seed in (first, *others) if not self._is_rejected(namespace, seed, caught, may_draw)]
        ids = [found.id for found in result.mistakes]
        self.report.rejected = _add_to(self.report.rejected, not passed)
        self.report.named = _add_to(self.report.named, ids == [mistake.id])
        if passed:
            seeds = f" on seed {', '.join(map(str, passed))} of {len(self.on_seed)}"
            some = "" if len(passed) == len(self.on_seed) else seeds
            self._add_mistake(f"{mistake.label} passes every check{some}.", mistake)
        if ids != [mistake.id]:
            self._add_mistake(f"{mistake.label} is named {', '.join(ids) or 'nothing'}.", mistake)
        margin = _margin(diagnostician, mistake)
        if margin < MIN_MARGIN:
            what = f"{mistake.label}: its margin is {margin:.1f} tolerances; {MIN_MARGIN:g} are needed."
            self._add_mistake(what, mistake)

    def _prove_forms(self) -> None:
        """Put each fault of form into each function of the reference, and note what it scores."""
        for function in [function for function in self.lesson.functions if function.name in self.base]:
            known = Known(not_asking(self.on_seed[PROBE_SEED], function.name) - self.unsound)
            for name, form in FORMS.items():
                changed: list[str] = []
                namespace = {**self.base, function.name: in_form(self.base[function.name], form, changed)}
                results = self.judge.check_own(self.lesson, namespace, PROBE_SEED, known)
                score = score_of(results)
                if changed and all(check.passed for check in results):
                    what = f"{function.name}: “{name}” passes every check."
                    self.report.add(what, self.lesson.checks_path)
                elif changed and score is not None:
                    self.report.forms.setdefault(name, {})[function.name] = score

    def _add_mistake(self, what: str, mistake: Mistake) -> None:
        self.report.add(what, self.lesson.mistakes_path, mistake.line)

    def _known(self, diagnostician: Diagnostician, mistake: Mistake, may_draw: bool, replies: Replies) -> Known:
        """Return the checks that run no line of a mistake, its replies, and what is surely observed of it."""
        mistake_set, outputs = diagnostician.mistake_set, diagnostician.outputs
        checks = self._reached(mistake_set, PROBE_SEED).unreached(mistake.changes, mistake.version)
        number = _number_of(mistake, mistake_set)
        reached = [number & each for each in outputs.reached]
        asked = [index for index, mistakes in enumerate(reached) if not (mistakes and may_draw)]
        observations = {outputs.probes[index].name: outputs.answer(index, reached[index]) for index in asked}
        return Known(checks - self.unsound, replies, observations)

    def _reached(self, mistake_set: MistakeSet, seed: int) -> ReachedSteps:
        key = mistake_set.function, seed
        if key not in self._reached_steps:
            self._reached_steps[key] = ReachedSteps(self.on_seed[seed], self.base, mistake_set)
        return self._reached_steps[key]

    def _is_rejected(self, namespace: Mapping[str, Any], seed: int, caught: Sequence[str], may_draw: bool) -> bool:
        """Return True if a check fails a wrong version: first are asked those that `caught` it, the shortest first."""
        if seed == PROBE_SEED:
            return bool(caught)
        asked = self.on_seed[seed].transcripts
        likely = [check for check in self.checks if check.name in caught]
        likely.sort(key=lambda check: len(asked[check.name].submission) if check.name in asked else inf)
        return any(
            outcome.kind not in NOT_FAILED
            for checks in (likely, None)
            for outcome in self._run(namespace, seed, checks, may_draw)
        )

    def _note_failed(self, result: LessonResult) -> list[str]:
        """Return the names of the checks that a wrong version failed, and remember that they failed something."""
        prefix = f"{self.lesson.name}."
        failed = [check for check in result.checks if check.form or check.outcome not in NOT_FAILED]
        names = {check.id.removeprefix(prefix) for check in failed}
        self.failed |= {check.test for check in self.checks if check.name in names}
        return [check.name for check in self.checks if check.name in names]

    def _prove_pictures(self) -> None:
        """Draw the reference, in which no picture may show a difference, and the stub, in which each has to."""
        for path, is_right in ((self.lesson.solution_path, True), (self.lesson.exercise_path, False)):
            submission = Submission(self.lesson.name, str(path), read_file(path))
            for picture in self.judge.draw_pictures(self.lesson, submission):
                if picture.is_right != is_right:
                    what = f"the picture `{picture.name}` of {path.name} says: {picture.notes[0]}"
                    self.report.add(what, self.lesson.pictures_path)

    # --- runs ---------------------------------------------------------------------------------------------------------

    def _with(self, mistake_set: MistakeSet, changes: Mapping[str, Any], version: Any = None) -> dict[str, Any]:
        return {**self.base, mistake_set.function: mistake_set.build(changes, version)}

    def _examine_file(self, path: Path) -> LessonResult:
        submission = Submission(self.lesson.name, str(path), read_file(path), artefact=read_artefact(path))
        return self.judge.examine(self.lesson, submission, PROBE_SEED)

    def _run(
        self,
        namespace: Mapping[str, Any],
        seed: int,
        checks: Sequence[Check] | None = None,
        may_draw: bool = True,
        known: Known = Known(),  # noqa: B008  it is frozen
    ) -> Iterator[Outcome]:
        """Run the checks on the course's own functions."""
        loaded = OwnFunctions(self.on_seed[seed], namespace, may_draw, known)
        loaded.load()
        yield from run_checks(self.on_seed[seed], Submission(self.lesson.name, "", ""), loaded, checks)


def _error_on(probe: Probe, subject: LocalModule, arrays: str) -> Exception | None:
    """Return what a probe raises on the reference."""
    try:
        probe.run(subject, Rand(derive(PROBE_SEED, probe.name), arrays))
    except Exception as error:
        return error
    finally:
        subject.release()
    return None


def _margin(diagnostician: Diagnostician, mistake: Mistake) -> float:
    """Return the largest distance from the reference on any probe, in tolerances of that probe.

    It is looked for until it is large enough.
    """
    outputs, number, largest = diagnostician.outputs, _number_of(mistake, diagnostician.mistake_set), 0.0
    for index, probe in enumerate(diagnostician.probes):
        if outputs.reached[index] & number:
            distance = largest_error(outputs.answer(index, number), outputs.answer(index, 0)) / probe.atol
            largest = max(largest, distance)
        if largest >= MIN_MARGIN:
            break
    return largest


def _number_of(mistake: Mistake, mistake_set: MistakeSet) -> int:
    return 1 << mistake_set.mistakes.index(mistake)


def _add_to(count: tuple[int, int], good: bool) -> tuple[int, int]:
    return count[0] + good, count[1] + 1


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else "it is not repeated: it does not fail each time"
