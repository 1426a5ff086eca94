"""A submission that checks can call: in a worker, or as functions of the course in this process."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.errors import SelfattendError, WorkerError
from grader.judge.checks.lesson_checks import LessonChecks
from grader.judge.errors import LearnerError
from grader.judge.processes.connection import Worker
from grader.judge.processes.load_submission import load_submission
from grader.judge.processes.remote_module import CallableModule, RemoteModule, no_answer, reply_of
from grader.judge.processes.reply_schema import read_forbidden_statement, reply_to
from grader.judge.processes.worker_pool import Workers
from grader.judge.transcript.prefetch import MAX_SECONDS, PrefetchedModule, may_be_taken, sequences_of
from grader.judge.transcript.replay import AnsweredModule
from grader.judge.transcript.transcript import Exchange
from grader.model import Submission

SECONDS_AFTER_TIMEOUT = 2.0  # for each further call, once one has timed out

NOT_LOOKED_FOR = "Mistakes were not looked for to the end: that is a fault of this program or of the course, not yours."
MAX_LEFT_OUT = 20  # statements of a file's top level that call what is forbidden
SECONDS_OF_SMALL_CALLS = 2.0  # for each call whose arguments the course keeps small, in a trace or a picture


@dataclass(frozen=True)
class Known:
    """What need not be run.

    Attributes:
        checks: Those that run no line but the reference's.
        replies: To all that a check asks, by its name.
        observations: What each probe observes, by its name.
    """

    checks: frozenset[str] = frozenset()
    replies: Mapping[str, Sequence[Exchange]] = field(default_factory=dict)
    observations: Mapping[str, Any] = field(default_factory=dict)


class LoadedSubmission:
    """Functions that checks can call, until the deadline of the lesson."""

    takes_runs = True  # checks that train a model are run
    tells_form = True  # what fails is looked at for faults of form
    is_of_course = False

    def __init__(self, checks: LessonChecks) -> None:
        self.checks, self.kinds = checks, checks.lesson.kinds
        self.forbids: Sequence[str] = checks.lesson.forbids
        self.limits = checks.answers.course.limits_for(checks.lesson)
        self.subject: CallableModule | None = None  # of the last process
        self.found: Mapping[str, tuple[str, list[str]]] = {}  # of each name to write: its kind and its parameters
        self.public: list[str] = []  # all public names
        self.printed: list[str] = []
        self.told: dict[str, bool] = {}  # by checks; whether it is shown where inputs are concealed
        self.deadline = time.monotonic() + self.limits.total_seconds
        self.may_draw = False  # dropout may be on, whatever the source says
        self.known = Known()

    @property
    def is_alive(self) -> bool:
        """Return True if the functions can be called."""
        return self.subject is not None

    def load(self) -> CallableModule:
        """Load the functions, in a new process if they have one. Raises LearnerError."""
        raise NotImplementedError

    def live_subject(self) -> CallableModule:
        """Return the functions, loaded again if their process died. Raises LearnerError."""
        if not self.is_alive:
            self.load()
        assert self.subject is not None
        return self.subject

    def may_keep_state(self) -> bool:
        """Return True unless it was seen that the functions answer the same when asked the same again."""
        return False

    def expect_small_calls(self) -> None:
        """Give up sooner on a call that does not end."""
        self.limits = replace(self.limits, call_seconds=min(self.limits.call_seconds, SECONDS_OF_SMALL_CALLS))

    def load_watched(self) -> CallableModule | None:
        """Load the functions so that their expressions can be watched, after all else; None where that cannot be."""
        return None

    def note_error(self, error: LearnerError) -> bool:
        """Take note of how a call ended; return True if the process died of it."""
        return False

    def take_output(self) -> str:
        """Return what was printed since the last time."""
        return ""

    def drop_output(self) -> None:
        """Forget what was printed since the last time."""

    @contextmanager
    def costs_no_score(self) -> Iterator[None]:
        """Let an error in what looks for mistakes, which an answer leads to, cost what it looks for alone.

        Of the course's own functions it is an error that their author must see.
        """
        try:
            yield
        except (SelfattendError, MemoryError):  # these are told, or end the process, whoever asked
            raise
        except Exception as error:
            if self.is_of_course:
                raise
            at = traceback.extract_tb(error.__traceback__)[-1]
            self.told[NOT_LOOKED_FOR] = True
            self.told[f"{type(error).__name__}: {error}, at {at.name} in {Path(at.filename).name}:{at.lineno}"] = False

    def close(self) -> None:
        """Let the process go."""

    def _define(self, names: Mapping[str, Any]) -> None:
        self.found, self.public = names["found"], names["public"]


class OwnFunctions(LoadedSubmission):
    """The course's own functions (a known mistake, an alternative): no separate process."""

    takes_runs = False  # one takes seconds, and there are dozens of versions on several seeds
    is_of_course = True

    def __init__(
        self,
        checks: LessonChecks,
        namespace: Mapping[str, Any],
        may_draw: bool = True,
        known: Known = Known(),
    ) -> None:
        super().__init__(checks)
        self.namespace, self.may_draw, self.known = namespace, may_draw, known

    def load(self) -> CallableModule:
        replies = {self.checks.transcripts[check]: replies for check, replies in self.known.replies.items()}
        self.subject = AnsweredModule(self.namespace, self.kinds, replies)
        self._define(reply_to("names", {}, self.subject.ask("names", names=list(self.kinds))))
        return self.subject


class LearnerFunctions(LoadedSubmission):
    """A learner's functions in a worker, which is replaced when it dies."""

    def __init__(
        self,
        checks: LessonChecks,
        submission: Submission,
        workers: Workers,
        device: str = "cpu",
        *,
        prefetch: bool = False,
    ) -> None:
        super().__init__(checks)
        self.submission, self.workers, self.device = submission, workers, device
        self.worker: Worker | None = None
        # their requests are sent when the submission is loaded
        self._transcripts = checks.asked_ahead if prefetch else []
        self._timed_out = False
        self._without: list[tuple[str, int, str]] = []  # statements that call what is forbidden

    @property
    def is_alive(self) -> bool:
        return self.worker is not None and self.worker.alive and self.subject is not None

    def load(self) -> CallableModule:
        worker, reply = self._load_in_worker()
        if self._transcripts:
            self.subject = PrefetchedModule(worker, self.kinds, lambda: self._load_plainly()[0])
            self.subject.keep(self._transcripts, reply.get("replies"))
        else:
            self.subject = self.make_subject(worker)
        self.subject.artefact, self.subject.told = self.submission.artefact, self.told
        return self.subject

    def load_watched(self) -> CallableModule | None:
        if self.worker is None or not self.worker.alive or self.device != "cpu":
            return None
        self.worker.close()  # it has seen hidden inputs, and could choose by them which line goes wrong
        worker = self.worker = self.workers.take()  # the calls in it are not watched, but the expressions
        worker.is_told = True  # a value of the reference is put in the place of what an expression gives
        self.expect_small_calls()
        worker.until = self.deadline + self.limits.probe_seconds
        sharing, lesson = self.workers.sharing, self.checks.lesson
        self._transcripts, self.subject = [], None  # what is asked later is asked of one unwatched
        reply = load_submission(worker, lesson, self.submission, self.device, (), shared=sharing, watched=True)
        return RemoteModule(worker, self.kinds) if "found" in reply else None

    def expect_small_calls(self) -> None:
        super().expect_small_calls()
        if self.worker is not None:
            self.worker.patience = self.limits.call_seconds

    def make_subject(self, worker: Worker) -> CallableModule:
        """Return what checks call, for a worker that has loaded the submission."""
        return RemoteModule(worker, self.kinds, self.device)

    def may_keep_state(self) -> bool:
        return not isinstance(self.subject, PrefetchedModule) or self.subject.differed

    def note_error(self, error: LearnerError) -> bool:
        self._timed_out |= error.kind == "timed-out"
        return self.worker is not None and not self.worker.alive

    def take_output(self) -> str:
        text = self.worker.take_output() if self.worker is not None else ""
        self.printed.append(text)
        return text

    def drop_output(self) -> None:
        if self.worker is not None:
            self.worker.take_output()

    def close(self) -> None:
        if self.worker is not None:
            self.workers.give_back(self.worker, self.submission)
            self.worker = None

    def _load_plainly(self) -> tuple[Worker, dict[str, Any]]:
        """Load without sending requests ahead: sent one by one, they show which the worker died of, or printed in.

        The process is another one, which has kept nothing of what was asked before.
        """
        self._transcripts = []
        if self.worker is not None:
            self.worker.close()  # not given back: it would be taken again, and a warning is printed once in a process
            self.worker = None
        return self._load_in_worker()

    def _load_in_worker(self) -> tuple[Worker, dict[str, Any]]:
        """Load in a new worker and return its reply."""
        self.close()
        self.worker = self.workers.take(self.forbids)
        try:
            reply = self._request_load(self.worker)
            if reply.get("unclean") is True:  # an earlier lesson of this learner left traces in the process
                reply = self._load_afresh(self.worker)
            reply = self._load_without_forbidden(reply)
        except WorkerError as error:
            if self._transcripts:
                return self._load_plainly()
            raise no_answer(error) from None
        finally:
            printed = self.take_output()
        if self._transcripts and (printed or not may_be_taken(reply)):
            self.printed.pop()
            return self._load_plainly()
        self._define(reply_of(self.worker, "load", {}, reply))
        return self.worker, reply

    def _load_afresh(self, worker: Worker) -> dict[str, Any]:
        """Load in another worker than this one; only one is ever kept, so that is a fresh one."""
        worker.close()
        self.worker = self.workers.take(self.forbids)
        return self._request_load(self.worker)

    def _load_without_forbidden(self, reply: dict[str, Any]) -> dict[str, Any]:
        """Load again, each time in a new worker, without the statements that call what is forbidden."""
        paths = {self.submission.path, *(path for path, _ in self.submission.siblings.values())}
        while (statement := read_forbidden_statement(reply, paths, self.forbids)) is not None:
            if len(self._without) == MAX_LEFT_OUT or time.monotonic() > self.deadline:
                raise LearnerError("forbidden", "ForbiddenCall", statement[-1])
            self._without.append(statement)
            assert self.worker is not None
            reply = self._load_afresh(self.worker)
        return reply

    def _request_load(self, worker: Worker) -> dict[str, Any]:
        limits = self.limits
        worker.patience = min(limits.call_seconds, SECONDS_AFTER_TIMEOUT if self._timed_out else limits.call_seconds)
        # after the checks come the probes that name a mistake: they have less time, and must end too
        worker.until = self.deadline + limits.probe_seconds
        return load_submission(
            worker,
            self.checks.lesson,
            self.submission,
            self.device,
            self.forbids,
            shared=self.workers.sharing,
            # what is asked ahead is known to keep no state; a class may run code of its own where it is defined
            runs_nothing=bool(self._transcripts) and not any("class" in text for text in self.submission.sources),
            without=self._without,
            seconds=min(MAX_SECONDS, worker.patience) if self._transcripts else None,
            **sequences_of(self._transcripts),
        )
