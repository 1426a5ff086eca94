"""What a sitting needs of whoever shows it: of quiz_words, for people, and quiz_events, for programs."""

from __future__ import annotations

from typing import Any, Protocol

from grader.cli.quiz.dialogue import Commands
from grader.model import Answered
from grader.quiz.model import Mark, Question
from grader.quiz.session.session import Sitting, Turn


class Face(Protocol):
    """How a sitting shows itself. What reads raises EOFError where no more is to be had."""

    def begins(self, sitting: Sitting, resumed: bool) -> None: ...

    def asks(self, sitting: Sitting, turn: Turn) -> None: ...

    def reads(self, sitting: Sitting, turn: Turn) -> tuple[str, str]:
        """What is typed, and how sure, if that was said too. Raises Unreadable."""

    def unreadable(self, question: Question, reason: str) -> None: ...

    def how_sure(self) -> str | None:
        """One of CERTAINTIES, or "" where nobody is asked; None to take the answer back."""

    def tells(self, sitting: Sitting, question: Question, answer: Answered, mark: Mark) -> None: ...

    def predicts_after(self) -> float | None:
        """What is expected once all is answered."""

    def marks_follow(self, count: int) -> None:
        """Whoever waited for the marks gets them now."""

    def stops(self, sitting: Sitting, command: str) -> None: ...

    def ends(self, result: dict[str, Any], commands: Commands) -> None: ...
