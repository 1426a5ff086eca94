"""The file of a lesson's recorded answers: plain data in the form that crosses between processes, nothing pickled.

One frame of `worker/wire.py`: every array once, however often it was asked or answered, and the stories, which point to
them. A story's values are read when they are asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.course.learner_copy import AGAIN
from grader.errors import CourseError
from grader.judge.errors import LearnerError
from grader.judge.transcript.transcript import Exchange, Story
from grader.worker.arrays import map_leaves, pack, unpack
from grader.worker.wire import PREFIX, Array, Opaque, ProtocolError, TooLarge, decode, encode

FORMAT = 1
ARRAY = "$array"  # no type of anybody's has this name
Key = tuple[str, int]  # a check's name in pytest, and a seed


def write_answers(path: Path, stories: Mapping[Key, Story]) -> None:
    """Write the stories of a lesson. Raises CourseError for a request that is no plain data, and for a file that would
    be larger than can be read."""
    arrays: dict[Array, int] = {}
    told = [[check, seed, *_written(story, check, arrays)] for (check, seed), story in stories.items()]
    try:
        prefix, header, *body = encode({"format": FORMAT, "arrays": list(arrays), "stories": told})
        decode(header, b"".join(body))  # what is bounded in reading only must not be noticed by a learner
    except (TooLarge, ProtocolError):
        raise CourseError("what the public checks ask and are answered is too much to ship", where=str(path),
                          next_step="let them use smaller inputs, or mark fewer checks public") from None  # fmt: skip
    path.write_bytes(b"".join([prefix, header, *body]))


class Answers:
    """What was recorded for one lesson. Raises CourseError for a file that is not one of ours."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            content = path.read_bytes()
            header, _ = PREFIX.unpack_from(content)
            body_at = PREFIX.size + header
            message = decode(content[PREFIX.size : body_at], content[body_at:])
            self._arrays: list[Array] = message["arrays"]
            self._told = {(check, seed): rest for check, seed, *rest in message["stories"]}
        except (OSError, ValueError, TypeError, KeyError, ArithmeticError, ProtocolError, struct.error) as error:
            raise self._damaged() from error

    def story(self, check: str, seed: int) -> Story:
        """What was recorded for a check on a seed. Raises CourseError where nothing was."""
        if (check, seed) not in self._told:
            raise self._damaged(f"there are no recorded answers for {check} on seed {seed}")
        try:
            draws, reference, submission = map_leaves(self._told[check, seed], self._array)
            return Story([(what, value) for what, value in draws], _exchanges(reference), _exchanges(submission))
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise self._damaged() from error

    def _array(self, leaf: Any) -> Any:
        return unpack(self._arrays[int(leaf.text)]) if isinstance(leaf, Opaque) and leaf.type_name == ARRAY else leaf

    def _damaged(self, what: str = "the recorded answers of this release cannot be read") -> CourseError:
        return CourseError(what, where=str(self.path), next_step=AGAIN)


# --- one story as plain data ------------------------------------------------------------------------------------------


def _written(story: Story, check: str, arrays: dict[Array, int]) -> list[Any]:
    def held_once(leaf: Any) -> Any:
        if not isinstance(leaf, Array):
            return leaf
        array = replace(leaf, data=bytes(leaf.data))
        return Opaque(ARRAY, str(arrays.setdefault(array, len(arrays))))

    plain = [[[what, pack(value)] for what, value in story.draws]]
    plain += [[_written_exchange(each, check) for each in part] for part in (story.reference, story.submission)]
    return map_leaves(plain, held_once)  # type: ignore[no-any-return]


def _written_exchange(exchange: Exchange, check: str) -> list[Any]:
    asked = pack(exchange.content)
    strange: list[str] = []
    map_leaves(asked, lambda leaf: strange.append(leaf.type_name) if isinstance(leaf, Opaque) else None)
    if strange:
        raise CourseError(
            f"{check} cannot be public: it asks for something with an object of type {strange[0]}, which is no plain "
            "data and cannot be recorded",
            next_step="take `public=True` from its mark, or let it pass arrays, numbers, texts, lists and dictionaries",
        )
    return [exchange.act, asked, *_written_answer(exchange.answer)]


def _written_answer(answer: dict[str, Any] | LearnerError) -> tuple[bool, Any]:
    """Whether there was one, and it or the error. An error's lines are the reference's own, and are not kept."""
    if isinstance(answer, LearnerError):
        return False, [answer.kind, answer.type_name, answer.text]
    return True, pack(answer)


def _exchanges(told: Iterable[Any]) -> list[Exchange]:
    return [Exchange(act, asked, answer if given else LearnerError(*answer)) for act, asked, given, answer in told]
