"""Grade on a cluster with Dask (https://distributed.dask.org), for classes that one machine takes too long for.

Hand-ins are sent as content, so the workers need no shared file system. A task grades a parcel of up to 50 of them;
each result is put into a queue as soon as it is known. A worker that dies loses nothing: its parcels go to others,
where they are resumed, and duplicate results are dropped. Anyone who can reach a scheduler can run code on its workers:
keep it in a private network, or behind TLS.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

from grader.batch.cluster.dask_task import (
    STOP,
    Parcel,
    code_digest,
    describe,
    end_run,
    from_message,
    grade_parcel,
    import_distributed,
    pack_course,
)
from grader.batch.make_record import Graded, make_failed
from grader.batch.one_learner.read_within_limits import read_within_limits
from grader.batch.settings import Settings
from grader.errors import GraderError, SelfattendError, UsageError
from grader.intake.hand_in import HandIn
from grader.intake.learner import Learner
from grader.model import Course

MAX_HAND_INS = 50  # in a parcel
MAX_PARCEL_BYTES = 4 << 20  # of a parcel of more than one hand-in
QUEUED_PER_THREAD = 2  # parcels
CONNECT_SECONDS = 15.0
WAIT_SECONDS = 1.0  # for a result, before checking whether tasks have failed
MAX_TRIES = 3  # parcels that a hand-in was sent in without a result


class DaskExecutor:
    """The workers of one scheduler, which may come and go while it grades."""

    def __init__(self, address: str, course: Course, settings: Settings, jobs: int | None) -> None:
        """Connect. Raises UsageError without the package, the scheduler, workers, or the same program on them."""
        self.settings, self.address, self.jobs = settings, address, jobs
        self.limits = course.limits_for(*(course.lessons[name] for name in settings.lessons))
        self.course = pack_course(course)
        self.run = f"selfattend-{secrets.token_hex(8)}"
        self._client = _connect(address)
        try:
            _require_same_program(self._client, address)
            self._queue = import_distributed().Queue(self.run, client=self._client)
            self._stop = import_distributed().Event(STOP.format(self.run), client=self._client)
        except BaseException:
            self._client.close()
            raise
        self._executor = self._client.get_executor(pure=False)
        self._scheduler_lost = False
        self._number = 0
        self._waiting: dict[Future[int], list[Learner]] = {}
        self._open: dict[str, Learner] = {}  # without a result so far
        self._tries: dict[str, int] = {}

    def start(self) -> None:
        """Do nothing: the cluster is started by its owner."""

    def grade(self, learners: Sequence[Learner]) -> Iterator[list[Graded]]:
        """Yield the learners' results as they arrive."""
        self._open = {learner.id: learner for learner in learners}
        coming = deque(learners)
        try:
            while self._open:
                self._send(coming)
                yield self._receive(WAIT_SECONDS)
                yield self._check_tasks(coming)
        except (OSError, CancelledError) as error:
            self._scheduler_lost = True
            what = f"the scheduler has gone away: {error or type(error).__name__}"
            next_step = "repeat the command with --resume once it is back"
            raise GraderError(what, where=self.address, next_step=next_step) from None

    def _send(self, coming: deque[Learner]) -> None:
        """Keep every thread of every worker supplied with parcels."""
        threads: dict[str, int] = self._client.nthreads()
        slots = min(max(1, sum(threads.values())), self.jobs or 1 << 20)
        while coming and len(self._waiting) < slots * QUEUED_PER_THREAD:
            self._submit(coming, max(1, min(MAX_HAND_INS, len(coming) // (slots * QUEUED_PER_THREAD))))

    def _submit(self, coming: deque[Learner], limit: int) -> None:
        chosen: list[Learner] = []
        hand_ins: list[HandIn] = []
        size = 0
        while coming and len(chosen) < limit and (size < MAX_PARCEL_BYTES or not chosen):
            if self._tries.get(coming[0].id):  # one that failed goes alone: it may have made the others fail
                limit = 1
                if chosen:
                    break
            learner = coming.popleft()
            hand_in = read_within_limits(learner, self.limits)
            size += sum(map(len, hand_in.files.values()))
            chosen.append(learner)
            hand_ins.append(hand_in)
        self._number += 1
        pairs = tuple(zip(chosen, hand_ins, strict=True))
        parcel = Parcel(self.run, self._number, code_digest(), self.settings, self.course, self.limits, pairs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about large parcels: they are as large as what was handed in
            self._waiting[self._executor.submit(grade_parcel, parcel)] = chosen

    def _receive(self, seconds: float) -> list[Graded]:
        """Return the results in the queue, each hand-in once, after waiting *seconds* for the first."""
        try:
            messages = [self._queue.get(timeout=seconds)]
        except TimeoutError:
            return []
        messages += self._queue.get(batch=True)
        found = []
        for message in messages:
            name, graded = from_message(message)
            if (learner := self._open.pop(name, None)) is not None:
                found.append((learner, graded))
        return found

    def _check_tasks(self, coming: deque[Learner]) -> list[Graded]:
        """Send what finished parcels lack again; after MAX_TRIES it is the grader's failure, which is returned."""
        done = [future for future in self._waiting if future.done()]
        if not done:
            return []
        found = self._receive(0.001)  # a parcel's results are in the queue before it is done
        for future in done:
            lacking = [learner for learner in self._waiting.pop(future) if learner.id in self._open]
            reason = _failure_reason(future)
            for learner in lacking:
                self._tries[learner.id] = self._tries.get(learner.id, 0) + 1
                if self._tries[learner.id] < MAX_TRIES:
                    coming.append(learner)
                else:
                    del self._open[learner.id]
                    found.append((learner, make_failed(learner, self.settings, reason)))
        return found

    def interrupt(self) -> None:
        """Let the workers stop after the hand-ins that they are grading."""
        if self._scheduler_lost:
            return
        try:
            self._stop.set()
        except Exception:  # of any kind: the scheduler may be gone
            self._scheduler_lost = True
        for future in self._waiting:
            future.cancel()

    def close(self) -> None:
        """End the grading processes on the workers, and disconnect."""
        with contextlib.suppress(Exception):  # as above; idle workers end their processes themselves
            if not self._scheduler_lost:
                self._client.run(end_run, self.run, on_error="ignore")
                self._queue.close()
        self._executor.shutdown(wait=False)
        self._client.close(timeout=2)


def _failure_reason(future: Future[int]) -> str:
    """Say why a parcel lacks results. Raises an error that sending it again would not mend."""
    error = future.exception()
    if error is None:
        return "its results did not come back"
    if isinstance(error, SelfattendError):
        raise error
    if type(error).__name__ == "KilledWorker":
        return "every node that graded it died"
    return f"{type(error).__name__}: {error}"


def _connect(address: str) -> Any:
    try:
        dask = import_distributed()
    except ImportError:
        next_step = 'pip install "selfattend[cluster]"'
        raise UsageError("a cluster needs the package distributed", next_step=next_step) from None
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):  # of which it is made
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # our own messages say what matters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about other versions: `_require_same_program` checks ours
        try:
            return dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            what = f"no scheduler answers there: {error or 'it took too long'}"
            next_step = "start one with `dask scheduler`, and nodes with `dask worker HOST:8786 --nthreads 1`"
            raise UsageError(what, where=address, next_step=next_step) from None


def _require_same_program(client: Any, address: str) -> None:
    """Raise UsageError unless all workers run this version: a verdict must not depend on where it is made."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        next_step = f"start some: dask worker {address} --nthreads 1"
        raise UsageError("the scheduler has no nodes", where=address, next_step=next_step) from None
    mine = code_digest()
    for worker, answer in client.run(describe, on_error="return").items():
        if isinstance(answer, BaseException):
            what = f"selfattend cannot be used on a node ({type(answer).__name__}: {answer})"
            raise UsageError(what, where=worker, next_step="install it there as it is installed here")
        if answer["code"] != mine:
            what = f"a node has another version of selfattend (its code is {answer['code']}, ours {mine})"
            raise UsageError(what, where=f"{worker} on {answer['host']}", next_step="install the same one everywhere")
