"""Ask ahead: in a batch every submission is asked the same on the same inputs, so what a check will ask is known.

All that the next checks ask is sent at once, and the answers come together: going there and back for each question
takes longer than most answers do. What a check asks, its story, is found out by running it on the reference. It is not
taken for granted: a check that asks anything else is run again, question by question, and so are all whose questions
got no answer, for the process died of one of them, or took too long.

A submission is so called in another order than it would be otherwise, and more often: by a check that fails at its
first question, say. Only those are asked ahead whose answers cannot depend on that (`pure.py`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from grader.errors import WorkerError
from grader.judge.processes.connection import Worker
from grader.judge.processes.remote_module import RemoteSubject, Subject, no_answer, reply_of
from grader.judge.values.compare import same
from grader.model import Submission
from grader.source.purity import is_pure
from grader.source.side_effects import is_tame
from grader.worker.arrays import duplicate, pack
from grader.worker.wire import EncodedValue, encode_value

SECONDS = 2.0  # for all that is asked at once: somebody slow is asked one by one

T = TypeVar("T")
Question = tuple[str, Mapping[str, Any]]  # an act, and its content
Answer = dict[str, Any]


@dataclass(frozen=True)
class Story:
    """What a check asks of a right submission, in its order; and the same as it is sent."""

    questions: tuple[Question, ...]
    sent: EncodedValue


class Diverged(BaseException):
    """A check asks something else than was foreseen. No `Exception`: whoever asks must not take it for an answer."""


class Recorder(Subject):
    """One of our own subjects in the place of a submission, noting what is asked of it."""

    def __init__(self, subject: Subject, kinds: Mapping[str, str]) -> None:
        super().__init__(kinds)
        self._subject = subject
        self._questions: list[Question] = []

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        self._questions.append((act, duplicate(content)))
        return self._subject.ask(act, **content)

    def story(self) -> Story:
        """What it was asked."""
        sent = [{"operation": act, **pack(content)} for act, content in self._questions]
        return Story(tuple(self._questions), encode_value(sent))


def may_be_asked_ahead(submission: Submission) -> bool:
    """Whether nobody can tell from what it answers how often, and in which order, it was asked before."""
    sources = (submission.source, *(source for _, source in submission.siblings.values()))
    return is_tame(sources, (submission.lesson, *submission.siblings)) and is_pure(sources)


class AskedAhead(RemoteSubject):
    """A submission that is asked ahead. `revive` gives another worker for one that died of it, and perhaps in vain."""

    def __init__(self, worker: Worker, kinds: Mapping[str, str], revive: Callable[[], Worker]) -> None:
        super().__init__(worker, kinds)
        self._revive = revive
        self._willing = True
        self._told: dict[Hashable, deque[tuple[Question, Answer]]] = {}
        self._telling: deque[tuple[Question, Answer]] | None = None  # the story that is told at the moment
        self._to_forget = False  # there are objects in the worker that were made ahead

    def foresees(self, name: Hashable) -> bool:
        """Whether nothing need be done to foresee this story: it has been asked ahead, or nothing can be any more."""
        return name in self._told or not self._willing

    def foresee(self, stories: Mapping[Any, Story]) -> None:
        """Ask all of this now. Raises LearnerError if no worker comes up again, where one has died of it."""
        asked = [story.sent for story in stories.values()]
        try:
            reply = self._worker.request("batch", min(SECONDS, self._worker.patience), sequences=asked)
        except WorkerError:
            self._willing = self._to_forget = False
            self._worker = self._revive()
            return
        self._to_forget = True
        answers = reply.get("replies")  # there are none if they are too large for one message
        if isinstance(answers, list) and all(_is_story(each) for each in answers):
            told = zip(stories.items(), answers, strict=False)
            self._told |= {name: deque(zip(story.questions, each, strict=False)) for (name, story), each in told}
        for name in stories.keys() - self._told.keys():
            self._told[name] = deque()

    def tell(self, name: Hashable) -> None:
        """Answer from this story from now on; without a name, or where it is not known, by asking."""
        self._telling = self._told.pop(name, None) or None

    def ask(self, act: str, **content: Any) -> dict[str, Any]:
        if self._telling is None:
            return self._ask_now(act, **content)
        if not self._telling:
            raise Diverged
        (foreseen, known), answer = self._telling[0]
        if foreseen != act or not same(content, known, atol=0.0):
            raise Diverged
        self._telling.popleft()
        return reply_of(self._worker, act, content, answer)

    def _ask_now(self, act: str, **content: Any) -> dict[str, Any]:
        if self._to_forget:
            self._to_forget = False
            try:
                self._worker.request("batch", sequences=[])
            except WorkerError as error:
                raise no_answer(error) from None
        return super().ask(act, **content)


def _is_story(answers: Any) -> bool:
    return isinstance(answers, list) and all(isinstance(answer, dict) for answer in answers)


def told(subject: Subject, name: Hashable, run: Callable[[], T]) -> T:
    """What `run` gives, which asks `subject` the story of this name as far as anybody knows. Raises what it raises."""
    if not isinstance(subject, AskedAhead):
        return run()
    try:
        subject.tell(name)
        return run()
    except Diverged:
        subject.tell(None)
        return run()
    finally:
        subject.tell(None)
