"""A sitting for people: one question a screen, in words, on a terminal or through a pipe."""

from __future__ import annotations

from typing import Any

from grader.cli.quiz.dialogue import SURE, Commands, split_certainty, to_prediction
from grader.cli.quiz.prompt import Dialogue, screen_rows
from grader.cli.quiz.render import (
    answered_line,
    header,
    how_lines,
    mark_lines,
    next_lines,
    outcome_lines,
    progress,
    prose,
    prove_lines,
    question_lines,
)  # fmt: skip
from grader.model import Answered
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.session import Sitting, Turn
from grader.terminal.console import paint
from grader.terminal.text import plural

TITLES = {"exam": "Exam", "redo": "Missed before", "review": "Review", "audit": "Check of what you claimed"}
FAIRLY = "fairly"
ROWS_TO_TYPE = 3  # an answer, and how sure one is


class Words:
    """The face of a sitting that somebody reads. `prove` shows the lines of torch with every mark."""

    def __init__(self, dialogue: Dialogue, prove: bool = False) -> None:
        self.dialogue = dialogue
        self.prove = prove
        self._marks_left = 0

    @property
    def _reader(self) -> bool:
        """Whether somebody sits there to whom time must be given."""
        return self.dialogue.terminal

    def begins(self, sitting: Sitting, resumed: bool) -> None:
        if not self._reader:
            done = f", {len(sitting.first)} answered before" if resumed else ""
            self.dialogue.show([f"{plural(len(sitting.plan), 'question')}{done}."])

    def asks(self, sitting: Sitting, turn: Turn) -> None:
        title = sitting.bank.topic(turn.question.topic).title
        kind = "Again" if turn.again else TITLES.get(sitting.session.mode, "")
        left = f"{kind}: {title}" if kind else title
        head, how = header(left, progress(turn.number, turn.total)), how_lines(turn.question)
        lines = [head, "", *question_lines(turn.question), "", *how]
        if self._reader and len(lines) + ROWS_TO_TYPE > screen_rows():
            lines = [head, *question_lines(turn.question, close=True), *how]
        self.dialogue.clear()
        self.dialogue.show(lines)

    def reads(self, sitting: Sitting, turn: Turn) -> tuple[str, str]:
        while True:
            line = self.dialogue.ask("> ")
            if line.strip() or not self._reader:
                return split_certainty(line)
            self.asks(sitting, turn)  # Enter alone: the question once more, in a window that may have changed

    def unreadable(self, question: Question, reason: str) -> None:
        self.dialogue.show(prose(f"Not read: {reason}. It costs nothing; type it again."))

    def how_sure(self) -> str | None:
        if not self._reader:
            return ""
        answers = {**SURE, "c": "change", "change": "change"}
        prompt = "How sure? g guess, f fairly, s sure (Enter: fairly; c changes the answer) "
        chosen = self.dialogue.choose(prompt, answers, FAIRLY)
        return None if chosen == "change" else chosen

    def tells(self, sitting: Sitting, question: Question, answer: Answered, mark: Mark) -> None:
        late = sitting.session.mode == "exam"
        if late:
            self._marks_left -= 1
            if self._marks_left < 0:
                return
            title = sitting.bank.topic(question.topic).title
            count = len(sitting.first)
            self.dialogue.clear()
            lines = [header(f"Marks: {title}", progress(count - self._marks_left, count)), ""]
            self.dialogue.show([*lines, *question_lines(question), "", *prose(answered_line(answer))])
        self.dialogue.show(["", *mark_lines(sitting.bank, question, mark, answer, self.prove)])
        if self._reader:
            self._goes_on(question, late)

    def predicts_after(self) -> float | None:
        self.dialogue.clear()
        self.dialogue.show(["All answered. The marks come next.", ""])
        try:
            return ask_prediction(self.dialogue, "What will your score be, from 0 to 10? (Enter skips) ")
        except EOFError:
            if self._reader:
                raise
            return None  # a script that has said all it had to say

    def marks_follow(self, count: int) -> None:
        self._marks_left = count

    def stops(self, sitting: Sitting, command: str) -> None:
        done, count = len(sitting.first), len(sitting.plan)
        kept = f"{done} of {plural(count, 'question')} answered and kept."
        self.dialogue.end([f"Stopped. {kept}", *next_lines([(command, "goes on where you are")])])

    def ends(self, result: dict[str, Any], commands: Commands) -> None:
        self.dialogue.clear()
        self.dialogue.show([*outcome_lines(result), "", *next_lines(commands)])

    def _goes_on(self, question: Question, late: bool) -> None:
        """Wait for Enter; the lines of torch first, if they are asked for. Raises EOFError to stop."""
        proof = bool(question.prove) and not self.prove
        keys = {"": "on", "q": "quit", **({"p": "prove"} if proof else {})}
        says = f"Enter goes on{', p shows it in torch' if proof else ''}, q {'skips the rest' if late else 'stops'} "
        while True:
            self.dialogue.show([""])
            chosen = self.dialogue.ask(says).strip().lower()[:1]
            if keys.get(chosen) == "quit" and late:
                self._marks_left = 0
                return
            if keys.get(chosen) == "quit":
                raise EOFError
            if keys.get(chosen) != "prove":
                return
            self.dialogue.show(prove_lines(question))


def ask_prediction(dialogue: Dialogue, prompt: str) -> float | None:
    """A score from 0 to 10; None for Enter. Raises EOFError."""
    while True:
        typed = dialogue.ask(prompt)
        if not typed.strip():
            return None
        try:
            return to_prediction(typed)
        except Unreadable as error:
            dialogue.show([paint(f"{str(error).capitalize()}, or Enter alone.", "quiet")])
