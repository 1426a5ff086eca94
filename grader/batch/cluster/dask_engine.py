"""A cluster as an engine: Dask (https://distributed.dask.org), for classes that one machine takes too long for.

Hand-ins are sent as content, so the nodes need no file system in common. A task grades a parcel of up to 50 of them;
each result comes back by a queue as soon as it is there. A node that dies loses nothing: its parcels go to other nodes,
where they are gone on with, and whatever comes twice is taken once. Whoever can reach a scheduler can run any code on
its nodes: it belongs into a network of its own, or behind TLS.
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
    distributed,
    end_run,
    from_message,
    grade_parcel,
    pack_course,
)  # fmt: skip
from grader.batch.make_record import GradedHandIn, make_failed
from grader.batch.processes.serialize import pack
from grader.batch.settings import Settings
from grader.errors import GraderError, SelfattendError, UsageError
from grader.intake.hand_in import read_hand_in
from grader.intake.learner import Learner
from grader.model import Course

MOST_HAND_INS = 50  # in a parcel
MOST_BYTES = 4 << 20  # in a parcel of more than one
AHEAD = 2  # parcels for each that can be graded at the same time
CONNECT_SECONDS = 15.0
WAIT_SECONDS = 1.0  # for a result, before looking whether tasks have failed
TRIES = 3  # parcels that a hand-in was sent in without coming back


class Dask:
    """The nodes that one scheduler has. Nodes may come and go while it grades."""

    def __init__(self, address: str, course: Course, settings: Settings, seconds: float, jobs: int | None) -> None:
        """Raises UsageError if the nodes cannot be used: no such package, nobody there, another program on them."""
        self.settings, self.seconds, self.address, self.jobs = settings, seconds, address, jobs
        self.course = pack_course(course)
        self.run = f"selfattend-{secrets.token_hex(8)}"
        self._client = _connected(address)
        try:
            _require_same_program(self._client, address)
            self._queue = distributed().Queue(self.run, client=self._client)
            self._stop = distributed().Event(STOP.format(self.run), client=self._client)
        except BaseException:
            self._client.close()
            raise
        self._executor = self._client.get_executor(pure=False)
        self._is_lost = False  # whether the scheduler is
        self._number = 0
        self._waiting: dict[Future[int], list[Learner]] = {}
        self._open: dict[str, Learner] = {}  # without a result so far
        self._tries: dict[str, int] = {}

    def start(self) -> None:
        """It is started by whoever runs it."""

    def graded(self, learners: Sequence[Learner]) -> Iterator[tuple[Learner, GradedHandIn]]:
        """What each is given, as it comes."""
        self._open = {learner.id: learner for learner in learners}
        coming = deque(learners)
        try:
            while self._open:
                self._send(coming)
                yield from self._received(WAIT_SECONDS)
                yield from self._look_after(coming)
        except (OSError, CancelledError) as error:
            self._is_lost = True
            raise GraderError(
                f"the scheduler has gone away: {error or type(error).__name__}", where=self.address,
                next_step="repeat the command with --resume once it is back",
            ) from None  # fmt: skip

    # ---- there

    def _send(self, coming: deque[Learner]) -> None:
        """Give every node something to do, and something to do next."""
        slots = min(self._slots(), self.jobs or 1 << 20)
        while coming and len(self._waiting) < slots * AHEAD:
            self._submit(coming, max(1, min(MOST_HAND_INS, len(coming) // (slots * AHEAD))))

    def _submit(self, coming: deque[Learner], most: int) -> None:
        chosen: list[Learner] = []
        hand_ins: list[tuple[dict[str, Any], dict[str, Any]]] = []
        size = 0
        while coming and len(chosen) < most and (size < MOST_BYTES or not chosen):
            if self._tries.get(coming[0].id):  # one that failed goes alone: it may be what others failed with
                most = 1
                if chosen:
                    break
            learner = coming.popleft()
            hand_in = read_hand_in(learner)
            size += sum(map(len, hand_in.files.values()))
            chosen.append(learner)
            hand_ins.append((learner.to_dict(), pack(hand_in)))
        self._number += 1
        parcel = Parcel(
            self.run, self._number, code_digest(), self.settings, self.course, self.seconds, tuple(hand_ins)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large parcels; they are as large as what was handed in
            self._waiting[self._executor.submit(grade_parcel, parcel)] = chosen

    def _slots(self) -> int:
        """How many hand-ins all nodes together can grade at the same time."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    # ---- and back

    def _received(self, seconds: float) -> Iterator[tuple[Learner, GradedHandIn]]:
        """What has come, each hand-in once, after waiting for the first for a while."""
        try:
            messages = [self._queue.get(timeout=seconds)]
        except TimeoutError:
            return
        messages += self._queue.get(batch=True)
        for message in messages:
            name, graded = from_message(message)
            if (learner := self._open.pop(name, None)) is not None:
                yield learner, graded

    def _look_after(self, coming: deque[Learner]) -> Iterator[tuple[Learner, GradedHandIn]]:
        """Parcels that have come to an end: what they lack is sent again."""
        ended = [future for future in self._waiting if future.done()]
        if not ended:
            return
        yield from self._received(0.001)  # a parcel's results are in the queue before it ends
        for future in ended:
            lacking = [learner for learner in self._waiting.pop(future) if learner.id in self._open]
            reason = _why(future)
            for learner in lacking:
                self._tries[learner.id] = self._tries.get(learner.id, 0) + 1
                if self._tries[learner.id] < TRIES:
                    coming.append(learner)
                else:
                    del self._open[learner.id]
                    yield learner, make_failed(learner, self.settings, reason)

    # ---- the end

    def interrupt(self) -> None:
        """Let the nodes stop after the hand-ins that they have begun."""
        if self._is_lost:
            return
        try:
            self._stop.set()
        except Exception:  # whatever it is: the scheduler may be what has gone
            self._is_lost = True
        for future in self._waiting:
            future.cancel()

    def close(self) -> None:
        """End the grading processes on the nodes, and let go of the scheduler."""
        with contextlib.suppress(Exception):  # as above; the nodes end by themselves what nobody uses
            if not self._is_lost:
                self._client.run(end_run, self.run, on_error="ignore")
                self._queue.close()
        self._executor.shutdown(wait=False)
        self._client.close(timeout=2)


def _why(future: Future[int]) -> str:
    """Why a parcel came back without all of its results. Raises what makes it pointless to send it again."""
    error = future.exception()
    if error is None:
        return "its results did not come back"
    if isinstance(error, SelfattendError):
        raise error
    if type(error).__name__ == "KilledWorker":
        return "every node that graded it died"
    return f"{type(error).__name__}: {error}"


def _connected(address: str) -> Any:
    try:
        dask = distributed()
    except ImportError:
        raise UsageError(
            "a cluster needs the package distributed", next_step='pip install "selfattend[cluster]"'
        ) from None
    for name in [*logging.root.manager.loggerDict]:
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what matters of it, we say ourselves
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other versions: `_require_same_program` looks at ours
        try:
            return dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(
                f"no scheduler answers there: {error or 'it took too long'}", where=address,
                next_step="start one with `dask scheduler`, and nodes with `dask worker HOST:8786 --nthreads 1`",
            ) from None  # fmt: skip


def _require_same_program(client: Any, address: str) -> None:
    """All nodes must run what we run: a verdict must not depend on where it is made."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        next_step = f"start some: dask worker {address} --nthreads 1"
        raise UsageError("the scheduler has no nodes", where=address, next_step=next_step) from None
    mine = code_digest()
    for node, said in client.run(describe, on_error="return").items():
        if isinstance(said, BaseException):
            what = f"selfattend cannot be used on a node ({type(said).__name__}: {said})"
            raise UsageError(what, where=node, next_step="install it there as it is installed here")
        if said["code"] != mine:
            what = f"a node has another version of selfattend (its code is {said['code']}, ours {mine})"
            raise UsageError(what, where=f"{node} on {said['host']}", next_step="install the same one everywhere")
