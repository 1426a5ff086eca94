"""The file of a lesson's transcripts in a release: plain data as it crosses between processes, nothing pickled.

It is one frame of `worker/wire.py`: every array once, however often it was asked or answered, and the transcripts,
which point to them. A transcript is decoded when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.course.learner_copy import ASK_AGAIN
from grader.errors import CourseError
from grader.files import read_whole
from grader.judge.errors import LearnerError
from grader.judge.transcript.transcript import Exchange, Transcript
from grader.worker.arrays import map_leaves, pack, unpack
from grader.worker.wire import Array, Opaque, ProtocolError, TooLarge, encode, read_frame

FORMAT = 1
MAX_FILE_BYTES = 256 << 20
ARRAY = "$array"  # stands for a type's name, which this cannot be
Key = tuple[str, int]  # a check's name in pytest, and a seed


def write_transcripts(path: Path, transcripts: Mapping[Key, Transcript]) -> None:
    """Write the transcripts of a lesson.

    Raises:
        CourseError: A request is no plain data, or the file would be larger than can be read.
    """
    arrays: dict[Array, int] = {}
    stories = [[check, seed, *_encode(transcript, check, arrays)] for (check, seed), transcript in transcripts.items()]
    try:
        content = b"".join(encode({"format": FORMAT, "arrays": list(arrays), "stories": stories}))
        read_frame(content)  # a bound that only readers meet must not be left to a learner to find
    except (TooLarge, ProtocolError):
        raise CourseError(
            "what the public checks ask and are answered is too much to ship",
            where=str(path),
            next_step="let them use smaller inputs, or mark fewer checks public",
        ) from None
    path.write_bytes(content)


class TranscriptFile:
    """The transcripts of one lesson. Raises CourseError for a file that is not one of ours."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            message = read_frame(read_whole(path, MAX_FILE_BYTES))
            self._arrays: list[Array] = message["arrays"]
            self._stories = {(check, seed): parts for check, seed, *parts in message["stories"]}
        except (OSError, ValueError, TypeError, KeyError, RecursionError, ProtocolError) as error:
            raise self._damage_error() from error

    def read(self, check: str, seed: int) -> Transcript:
        """Return the transcript of a check on a seed. Raises CourseError where there is none."""
        if (check, seed) not in self._stories:
            raise self._damage_error(f"there are no recorded answers for {check} on seed {seed}")
        try:
            draws, reference, submission = map_leaves(self._stories[check, seed], self._array)
            return Transcript([(what, value) for what, value in draws], _decode(reference), _decode(submission))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise self._damage_error() from error

    def _array(self, leaf: Any) -> Any:
        return unpack(self._arrays[int(leaf.text)]) if isinstance(leaf, Opaque) and leaf.type_name == ARRAY else leaf

    def _damage_error(self, what: str = "the recorded answers of this release cannot be read") -> CourseError:
        return CourseError(what, where=str(self.path), next_step=ASK_AGAIN)


def _encode(transcript: Transcript, check: str, arrays: dict[Array, int]) -> list[Any]:
    """Turn a transcript into plain data, its arrays into their numbers."""

    def number(leaf: Any) -> Any:
        if not isinstance(leaf, Array):
            return leaf
        array = replace(leaf, data=bytes(leaf.data))
        return Opaque(ARRAY, str(arrays.setdefault(array, len(arrays))))

    plain = [[[what, pack(value)] for what, value in transcript.draws]]
    plain += [
        [_encode_exchange(each, check) for each in part] for part in (transcript.reference, transcript.submission)
    ]
    return map_leaves(plain, number)  # type: ignore[no-any-return]


def _encode_exchange(exchange: Exchange, check: str) -> list[Any]:
    asked = pack(exchange.content)
    strange: list[str] = []
    map_leaves(asked, lambda leaf: strange.append(leaf.type_name) if isinstance(leaf, Opaque) else None)
    if strange:
        raise CourseError(
            f"{check} cannot be public: it asks for something with an object of type {strange[0]}, which is no plain "
            "data and cannot be recorded",
            next_step="take `public=True` from its mark, or let it pass arrays, numbers, texts, lists and dictionaries",
        )
    error = exchange.answer
    if isinstance(error, LearnerError):  # without its lines, which are the reference's
        return [exchange.operation, asked, False, [error.kind, error.type_name, error.text]]
    return [exchange.operation, asked, True, pack(exchange.answer)]


def _decode(exchanges: Iterable[Any]) -> list[Exchange]:
    return [
        Exchange(operation, asked, answer if given else LearnerError(*answer))
        for operation, asked, given, answer in exchanges
    ]
