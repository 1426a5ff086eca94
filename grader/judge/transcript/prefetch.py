"""Send a submission the requests of whole transcripts in one message: a round trip takes longer than most calls.

In a batch every check asks every right submission the same. A wrong one may be asked something else: then its check is
run again, request by request, and so it is where a reply is missing, because the worker died of a request or took too
long. A submission is so called in another order than otherwise, and more often; hence `may_be_asked_ahead`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from grader.errors import WorkerError
from grader.judge.processes.connection import Worker
from grader.judge.processes.remote_module import CallableModule, RemoteModule, reply_of
from grader.judge.transcript.replay import Player
from grader.judge.transcript.transcript import Exchange, Transcript
from grader.model import Submission
from grader.source.purity import is_pure
from grader.source.side_effects import has_no_side_effects
from grader.worker.wire import REPLY, Array, EncodedValue, ProtocolError, read_frame

MAX_SECONDS = 2.0  # for all requests of one message; a slower submission is asked one by one
MAX_REQUEST_BYTES = 16 << 20
MAX_REQUEST_ITEMS = 100_000
MAX_DIGESTS = 200  # of passing replies that are kept for a check, with what it told


def may_be_asked_ahead(submission: Submission) -> bool:
    """Return True if no answer can depend on how often, and in which order, the functions were called before."""
    own = (submission.lesson, *submission.siblings)
    return has_no_side_effects(submission.sources, own) and is_pure(submission.sources)


def sequences_of(transcripts: Sequence[Transcript]) -> dict[str, Any]:
    """Return what a message asks: as many of the first transcripts as fit.

    One that stands there twice is asked twice, the second time with another of the `seeds` of random numbers.
    """
    sequences = _requests_of(transcripts)
    pairs = zip(transcripts[: len(sequences)], [None, *transcripts], strict=False)
    return {"sequences": sequences, "seeds": [int(transcript is before) for transcript, before in pairs]}


def _requests_of(transcripts: Iterable[Transcript]) -> list[EncodedValue]:
    """Return the requests of as many of the first transcripts as fit into one message."""
    requests, size, items = [], 0, 0
    for transcript in transcripts:
        size += len(transcript.requests.header) + len(transcript.requests.body)
        items += transcript.requests.items
        if size > MAX_REQUEST_BYTES or items > MAX_REQUEST_ITEMS:
            break
        requests.append(transcript.requests)
    return requests


def may_be_taken(reply: Mapping[str, Any]) -> bool:
    """Return False where a call that was made ahead may be forbidden: then a fresh worker is asked, and watched."""
    return "suspect" not in reply


class PrefetchedModule(RemoteModule):
    """A learner's module of which the replies to whole transcripts are known.

    Args:
        revive: Gives another worker in place of one that died, or whose answers are not to be taken.

    Attributes:
        differed: What was asked twice was answered otherwise the second time. Then no reply is kept.
    """

    def __init__(self, worker: Worker, kinds: Mapping[str, str], revive: Callable[[], Worker]) -> None:
        super().__init__(worker, kinds)
        self._revive = revive
        self._replies: dict[Transcript, bytes] = {}
        self._is_revived = False
        self.differed = False

    def keep(self, transcripts: Sequence[Transcript], replies: Any) -> None:
        """Keep what a worker replied to these transcripts: a frame for each; an empty one stands for none."""
        frames = replies if isinstance(replies, list) else []
        for transcript, frame in zip(transcripts, frames, strict=False):
            if isinstance(frame, Array) and frame.data:
                data = bytes(frame.data)
                self.differed |= self._replies.setdefault(transcript, data) != data
        if self.differed:
            self._replies.clear()

    def fetch(self, transcripts: Sequence[Transcript]) -> None:
        """Send the requests of these transcripts now. Raises LearnerError if no worker is left."""
        if self._is_revived:
            return
        seconds = min(MAX_SECONDS, self._worker.patience)
        try:
            reply = self._worker.request("batch", seconds, **sequences_of(transcripts))
        except WorkerError:
            reply = {"suspect": True}
        if may_be_taken(reply):
            self.keep(transcripts, reply.get("replies"))
        else:
            self._is_revived = True
            self._worker = self._revive()

    def replay(
        self, transcript: Transcript, run: Callable[[CallableModule, CallableModule], BaseException | None]
    ) -> tuple[bool, BaseException | None]:
        """Run a check over the replies to its transcript, unless it passed with the same replies before.

        Returns:
            Whether the replies went as far as the check asked, and what it raised.
        """
        digest = hashlib.sha256(self._replies.get(transcript, b"")).digest()
        if digest in transcript.passing:
            self._tell_all(transcript.passing[digest])
            return True, None
        player = self.player(transcript)
        if player is None:
            return False, None
        reference = Player(self._kinds, transcript.reference)
        error = run(player, reference)
        if player.parted or reference.parted:
            return False, None
        if error is None and len(transcript.passing) < MAX_DIGESTS:
            transcript.passing[digest] = player.told
        self._tell_all(player.told)
        self.last_call, self.last_value = player.last_call, player.last_value
        return True, error

    def _tell_all(self, told: Mapping[str, bool]) -> None:
        for text, shown in told.items():
            self.tell(text, shown)

    def player(self, transcript: Transcript) -> Player | None:
        """Return a player of the replies to a transcript; None if there are none."""
        frame = self._replies.get(transcript)
        if not frame:
            return None
        try:
            replies = read_frame(frame, REPLY)["replies"]
            exchanges = [
                Exchange(asked.operation, asked.content, dict(reply))
                for asked, reply in zip(transcript.submission, replies, strict=False)
            ]
        except (ProtocolError, KeyError, TypeError, ValueError):
            return None
        return _ReplyPlayer(self._worker, self._kinds, exchanges)


class _ReplyPlayer(Player):
    """Gives a worker's replies, validated like those to single requests."""

    def __init__(self, worker: Worker, kinds: Mapping[str, str], exchanges: Sequence[Exchange]) -> None:
        super().__init__(kinds, exchanges)
        self._worker = worker

    def _answer(self, exchange: Exchange) -> dict[str, Any]:
        assert isinstance(exchange.answer, dict)
        return reply_of(self._worker, exchange.operation, exchange.content, exchange.answer)
