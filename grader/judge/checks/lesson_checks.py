"""The checks of one lesson on one seed, together with what they compare with."""

from __future__ import annotations

from functools import cached_property, partial
from random import Random

from grader.errors import CourseError
from grader.judge.checks.check import Check
from grader.judge.checks.check_runner import CheckRunner
from grader.judge.checks.mending import MendingModule
from grader.judge.course_answers import CourseAnswers
from grader.judge.diagnosis.ask_again import make_probe
from grader.judge.diagnosis.name_mistake import Diagnostician
from grader.judge.errors import LearnerError
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.processes.remote_module import CallableModule, LocalModule
from grader.judge.transcript.prefetch import PrefetchedModule
from grader.judge.transcript.replay import AnsweredModule, Player
from grader.judge.transcript.transcript import Recorder, Transcript
from grader.judge.values.random_inputs import Rand, derive
from grader.model import Lesson

SHARE_ASKED_TWICE = 0.1  # of the checks: what answers otherwise the second time keeps something, or draws it


class LessonChecks:
    """Runs the checks of one lesson on one seed, on any number of submissions."""

    def __init__(self, runner: CheckRunner, answers: CourseAnswers, lesson: Lesson, seed: int) -> None:
        self.runner, self.answers, self.lesson, self.seed = runner, answers, lesson, seed
        self._recorded: dict[str, Transcript] = {}
        self._passed: set[str] = set()

    @cached_property
    def checks(self) -> list[Check]:
        """The checks in their order."""
        return self.runner.checks.get(self.answers.checks_file(self.lesson), [])

    def run(self, check: Check, submission: CallableModule, again: bool = False) -> BaseException | None:
        """Run a check and return what it raised: replayed over what is known, as far as that goes.

        Args:
            again: It passed, and is run once more, with other random numbers where the submission draws any.
        """
        submission.seed(int(again))
        if check.is_run:
            return self._run(check, submission, self.answers.load(self.lesson))
        if isinstance(submission, PrefetchedModule | AnsweredModule):
            done, error = submission.replay(self.transcripts[check.name], partial(self._run, check))
            if done:
                return error
        # one of many known versions, which are all compared with the same answers
        if isinstance(submission, LocalModule) and self.answers.release is None:
            reference = Player(self.lesson.kinds, self.transcripts[check.name].reference)
            error = self._run(check, submission, reference)
            if not reference.parted:
                return error
        return self._run(check, submission, self.answers.reference(self.lesson, check.item.name, self.seed))

    @cached_property
    def asked_twice(self) -> frozenset[str]:
        """The checks that are run twice where they pass: of each function that of most points, and some drawn ones."""
        light = [each for each in self.checks if not each.is_run]
        heaviest = {each.function_in(self.lesson): each.name for each in sorted(light, key=lambda c: c.points)}
        draws = Random(derive(self.seed, self.lesson.name, "asked twice"))
        return frozenset(heaviest.values()) | {each.name for each in light if draws.random() < SHARE_ASKED_TWICE}

    @cached_property
    def asked_ahead(self) -> list[Transcript]:
        """The transcripts in the order in which checks run one by one: those of checks that are run twice stand twice.

        But not where the reference itself answers otherwise the second time: the weights of a new model are such an
        answer, and would speak against every submission.
        """
        return [each for name, each in self.transcripts.items() for _ in range(1 + (name in self._compared_twice))]

    @cached_property
    def _compared_twice(self) -> frozenset[str]:
        found = [check for check in self.checks if check.name in self.asked_twice]
        return frozenset(each.name for each in found if self._record(each).is_answered_as(self.transcript(each)))

    def find_form_faults(self, check: Check, submission: CallableModule) -> frozenset[str]:
        """Return the faults of form that are all that a check has to find; empty if something else is wrong too."""
        mending, error = self._run_mended(check, submission)
        if isinstance(error, LearnerError):
            raise error
        return frozenset(mending.faults) if error is None else frozenset()

    def _run_mended(self, check: Check, submission: CallableModule) -> tuple[MendingModule, BaseException | None]:
        """Run a check on mended answers: beside what is recorded of the reference, as far as that goes."""
        if self.answers.release is None:
            known = self.transcripts[check.name]
            model, reference = (Player(self.lesson.kinds, each) for each in (known.submission, known.reference))
            mending = MendingModule(submission, model)
            error = self._run(check, mending, reference)
            if not (model.parted or reference.parted):
                return mending, error
        mending = self.mending(check, submission)
        return mending, self._run(check, mending, self.answers.reference(self.lesson, check.item.name, self.seed))

    def mending(self, check: Check, submission: CallableModule) -> MendingModule:
        """Return a submission whose answers to a check are brought into the form of the reference's."""
        model, _ = self.answers.reference_twice(self.lesson, check.item.name, self.seed)
        return MendingModule(submission, model.twin() if isinstance(model, LocalModule) else model)

    def run_on_reference(self, check: Check) -> BaseException | None:
        """Run a check on the reference itself and return what it raised."""
        return self._run(check, *self.answers.reference_twice(self.lesson, check.item.name, self.seed))

    @cached_property
    def transcripts(self) -> dict[str, Transcript]:
        """The transcript of each check that is no run, by its name: what it asks of a right submission."""
        return {check.name: self.transcript(check) for check in self.checks if not check.is_run}

    @property
    def passed_by_reference(self) -> frozenset[str]:
        """The names of the checks that the reference passed when their transcripts were recorded."""
        return frozenset(self._passed & self.transcripts.keys())

    def transcript(self, check: Check) -> Transcript:
        """Return the transcript of one check; it is recorded once."""
        if check.name not in self._recorded:
            self._recorded[check.name] = self._record(check)
        return self._recorded[check.name]

    def _record(self, check: Check) -> Transcript:
        reference = self.answers.load(self.lesson)
        transcript = Transcript()
        submission = Recorder(reference.twin(), self.lesson.kinds, transcript.submission)
        error = self._run(check, submission, Recorder(reference.twin(), self.lesson.kinds, transcript.reference))
        if error is None:
            self._passed.add(check.name)
        return transcript

    def _run(self, check: Check, submission: CallableModule, reference: CallableModule) -> BaseException | None:
        return self.runner.run(check, submission, reference, self._rand)

    def _rand(self, name: str) -> Rand:
        return self.answers.rand(self.lesson, name, self.seed)


def make_diagnostician(checks: LessonChecks, mistake_set: MistakeSet) -> Diagnostician:
    """Return what names the mistakes of one function by what its checks ask. `checks`: on the seed of probes.

    Raises:
        CourseError: A mistake is to be recognised by a check or probe that there is not.
    """
    lesson = checks.lesson
    mine = [check for check in checks.checks if check.function_in(lesson) == mistake_set.function]
    asked = [
        make_probe(check.name, check.stage, checks.transcript(check), mistake_set)
        for check in mine
        if mistake_set.is_recognised_by(check.name) and not check.is_run
    ]
    try:
        mistake_set.require_checks({check.name for check in mine})
        return Diagnostician(mistake_set, lesson.kinds, checks.answers.course.arrays, asked)
    except ValueError as error:
        raise CourseError(str(error), where=str(lesson.mistakes_path)) from error
