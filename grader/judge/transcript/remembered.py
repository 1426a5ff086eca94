"""The reference's answers, remembered: in a batch every submission is asked the same questions on the same inputs.

A check's requests to the reference come in the same order with the same content, unless what a submission answered
makes it go another way. So each request is compared with the one remembered in its place; as long as they are equal,
the remembered reply is given, and at the first that is not, the reference itself answers from there on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import LocalSubject, Subject
from grader.judge.values.compare import same
from grader.worker.arrays import duplicate

Request = tuple[str, dict[str, Any]]
Answer = dict[str, Any] | LearnerError


class Remembered(Subject):
    """The reference during one run of one check. `story` is what earlier runs of the check asked and were answered."""

    def __init__(self, reference: LocalSubject, kinds: Mapping[str, str], story: list[tuple[Request, Answer]]) -> None:
        super().__init__(kinds)
        self._reference = reference
        self._story = story
        self._place = 0
        self._live = False

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        request = (act, content)
        if not self._live and self._place < len(self._story):
            known, answer = self._story[self._place]
            if act == known[0] and same(content, known[1], atol=0.0):
                self._place += 1
                return self._give(answer)
        self._go_live()
        answer = self._answer(request)
        self._story.append(((act, duplicate(content)), answer))
        return self._give(answer)

    def _go_live(self) -> None:
        """From here on the reference itself answers. It must have been asked what was remembered up to here: the
        objects that were made live there."""
        if self._live:
            return
        self._live = True
        self._reference.release()
        del self._story[self._place :]
        for request, _ in self._story:
            self._answer(request)

    def _answer(self, request: Request) -> Answer:
        try:
            return self._reference.ask(request[0], **request[1])
        except LearnerError as error:
            return error

    @staticmethod
    def _give(answer: Answer) -> dict[str, Any]:
        if isinstance(answer, LearnerError):
            raise answer
        return duplicate(answer)  # type: ignore[no-any-return]
