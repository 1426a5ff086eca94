"""The transcript of one run of one check: what it drew, and what it asked of the submission and of the reference.

A transcript is recorded with the reference in the place of the submission. In a batch its requests are sent to each
worker in one message (`prefetch.py`), and the check is replayed over the replies. In a release for learners it stands
in a file (`transcript_file.py`), in place of the reference. The draws are kept too: drawn again from the same seed on
another machine, they may differ in the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import CallableModule, LocalModule
from grader.judge.values.compare import same
from grader.judge.values.random_inputs import Rand
from grader.worker.arrays import duplicate, map_leaves, pack
from grader.worker.wire import EncodedValue, Handle, encode_value


@dataclass(frozen=True)
class Exchange:
    """One request and its answer; an error is an answer too."""

    operation: str
    content: Mapping[str, Any]
    answer: dict[str, Any] | LearnerError


def with_handles(content: Mapping[str, Any], handles: Mapping[int, int]) -> dict[str, Any]:
    """Return a request about the subject's own objects. Raises KeyError where it has none."""
    mapped = map_leaves(dict(content), lambda leaf: Handle(handles[leaf.number]) if isinstance(leaf, Handle) else leaf)
    if "handle" in mapped:
        mapped["handle"] = handles[mapped["handle"]]
    return mapped  # type: ignore[no-any-return]


@dataclass(eq=False)
class Transcript:
    """One run of one check on one seed.

    Attributes:
        draws: What was asked of `rand`, in words, and what it returned.
        reference: What the reference was asked.
        submission: What the submission was asked.
        passing: Digests of replies with which the check passed, and what it told the learner then.
    """

    draws: list[tuple[str, Any]] = field(default_factory=list)
    reference: list[Exchange] = field(default_factory=list)
    submission: list[Exchange] = field(default_factory=list)
    passing: dict[bytes, Mapping[str, bool]] = field(default_factory=dict)

    def is_answered_as(self, other: Transcript) -> bool:
        """Return True if the submission gave the same answers here as there; an error is like any other."""
        answers = [[each.answer for each in one.submission] for one in (self, other)]
        plain = [[None if isinstance(each, LearnerError) else each for each in one] for one in answers]
        return same(plain[0], plain[1])

    @cached_property
    def requests(self) -> EncodedValue:
        """The requests to the submission, encoded once for all workers; `expects` are the errors before each."""
        requests, errors = [], 0
        for exchange in self.submission:
            expected = {"expects": errors} if errors else {}
            requests.append({"operation": exchange.operation, **pack(exchange.content), **expected})
            errors += isinstance(exchange.answer, LearnerError)
        return encode_value(requests)


class Recorder(CallableModule):
    """One of our own modules; each request and answer is appended to a list."""

    def __init__(self, subject: LocalModule, kinds: Mapping[str, str], exchanges: list[Exchange]) -> None:
        super().__init__(kinds)
        self._subject, self._exchanges = subject, exchanges

    def ask(self, operation: str, **content: Any) -> dict[str, Any]:
        asked = duplicate(content)
        try:
            answer = self._subject.ask(operation, **content)
        except LearnerError as error:
            self._exchanges.append(Exchange(operation, asked, error.copy()))
            raise
        self._exchanges.append(Exchange(operation, asked, duplicate(answer)))
        return answer


class RecordedRand(Rand):
    """Random inputs; each draw is appended to a list."""

    def __init__(self, rand: Rand, draws: list[tuple[str, Any]]) -> None:
        self.seed, self.arrays = rand.seed, rand.arrays
        self._rand, self._draws = rand, draws

    def _draw(self, kind: str, *parts: Any) -> Any:
        value = self._rand._draw(kind, *parts)
        self._draws.append((describe_draw(kind, *parts), duplicate(value)))
        return value


def describe_draw(kind: str, *parts: Any) -> str:
    """Describe a draw in words, which are compared when it is replayed; they do not name the normal distribution."""
    return " ".join(map(str, parts if kind == "normal" else (kind, *parts)))
