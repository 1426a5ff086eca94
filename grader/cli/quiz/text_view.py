"""The view of a quiz session for people: one question a screen, on a terminal or through a pipe."""

from __future__ import annotations

from typing import Any

from grader.cli.quiz.dialogue import CERTAINTY_KEYS, CHANGE_KEYS, DEFAULT_CERTAINTY, Commands, split_certainty
from grader.cli.quiz.prompt import STOP_KEY, Prompter, screen_rows
from grader.cli.quiz.render import (
    answer_line,
    header,
    instruction_lines,
    mark_lines,
    next_lines,
    progress,
    proof_lines,
    question_lines,
    summary_lines,
    wrap_paragraphs,
)
from grader.model import CERTAINTIES, Answered
from grader.quiz.assessment.calibration import SCALE_SAYS, meaning, parse_prediction
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.session import Session, Turn
from grader.terminal.console import paint
from grader.terminal.text import plural

TITLES = {"exam": "Exam", "redo": "Missed before", "review": "Review", "audit": "Check of what you claimed"}
ROWS_FOR_ANSWER = 3  # the answer, and how sure the learner is


class TextView:
    """Shows a session as text. `prove` shows the lines of torch with every mark."""

    def __init__(self, prompter: Prompter, prove: bool = False) -> None:
        self.prompter = prompter
        self.prove = prove
        self._marks_left = 0
        self._asked: tuple[Session, Turn] | None = None

    def begin(self, session: Session, resumed: bool) -> None:
        if not self.prompter.interactive:
            done = f", {len(session.first_tries)} answered before" if resumed else ""
            self.prompter.show([f"{plural(len(session.plan), 'question')}{done}."])

    def ask(self, session: Session, turn: Turn) -> None:
        self._asked = session, turn
        title = session.bank.topic(turn.question.topic).title
        kind = "Again" if turn.repeated else TITLES.get(session.data.mode, "")
        left = f"{kind}: {title}" if kind else title
        head, how = header(left, progress(turn.number, turn.total)), instruction_lines(turn.question)
        says = wrap_paragraphs(turn.says) if turn.says else []
        lines = [head, *says, "", *question_lines(turn.question), "", *how]
        if self.prompter.interactive and len(lines) + ROWS_FOR_ANSWER > screen_rows():
            lines = [head, *says, *question_lines(turn.question, close=True), *how]
        self.prompter.clear()
        self.prompter.show(lines)

    def read(self, session: Session, turn: Turn) -> tuple[str, str]:
        while True:
            line = self.prompter.ask("> ")
            typed = line.strip().lower()
            if typed in (STOP_KEY, "quit"):
                if typed in turn.question.details.get("symbols", ()):
                    return line, ""  # the letter of a query, in a formula
                raise EOFError
            if line.strip() or not self.prompter.interactive:
                return split_certainty(line)
            self.ask(session, turn)  # Enter alone: show the question again, in a window that may have changed

    def show_unreadable(self, question: Question, reason: str) -> None:
        if self.prompter.interactive and self._asked:
            self.ask(*self._asked)  # in its place, so that the question stays on the screen
        self.prompter.show(wrap_paragraphs(f"Not read: {reason}. It costs nothing; type it again."))

    def ask_certainty(self, question: Question) -> str | None:
        if not self.prompter.interactive:
            return ""
        answers = CERTAINTY_KEYS | dict.fromkeys(CHANGE_KEYS, CHANGE_KEYS[0])
        words = ", ".join(f"{word[0]} {word} {meaning(word, question.kind):.0%}" for word in CERTAINTIES)
        prompt = f"How sure? {words} (Enter: fairly; c changes the answer) "
        chosen = self.prompter.choose(prompt, answers, DEFAULT_CERTAINTY)
        return None if chosen == CHANGE_KEYS[0] else chosen

    def show_mark(self, session: Session, question: Question, answer: Answered, mark: Mark) -> None:
        is_exam = session.data.mode == "exam"
        if is_exam:
            self._marks_left -= 1
            if self._marks_left < 0:
                return
            title = session.bank.topic(question.topic).title
            count = len(session.first_tries)
            self.prompter.clear()
            lines = [header(f"Marks: {title}", progress(count - self._marks_left, count)), ""]
            self.prompter.show([*lines, *question_lines(question), "", *wrap_paragraphs(answer_line(answer))])
        self.prompter.show(["", *mark_lines(session.bank, question, mark, answer, self.prove)])
        if self.prompter.interactive:
            self._wait(question, is_exam)

    def ask_prediction(self, when: str, past: str = "") -> float | None:
        if when == "before":
            self.prompter.show([*wrap_paragraphs(SCALE_SAYS), *([past] if past else [])])
            return _ask_score(self.prompter, "What will you score, from 0 to 10? (Enter skips) ")
        self.prompter.clear()
        self.prompter.show(["All answered. The marks come next.", "", *wrap_paragraphs(SCALE_SAYS)])
        try:
            return _ask_score(self.prompter, "What will your score be, from 0 to 10? (Enter skips) ")
        except EOFError:
            if self.prompter.interactive:
                raise
            return None  # a script may end after its last answer

    def announce_marks(self, count: int) -> None:
        self._marks_left = count

    def stop(self, session: Session, command: str) -> None:
        kept = f"{len(session.first_tries)} of {plural(len(session.plan), 'question')} answered and kept."
        self.prompter.end([f"Stopped. {kept}", *next_lines([(command, "goes on where you are")])])

    def end(self, summary: dict[str, Any], commands: Commands) -> None:
        self.prompter.clear()
        self.prompter.show([*summary_lines(summary), "", *next_lines(commands)])

    def _wait(self, question: Question, is_exam: bool) -> None:
        """Wait for Enter, and show the lines of torch if asked to. Raises EOFError if the learner stops."""
        proof = bool(question.prove) and not self.prove
        does = "skips the rest" if is_exam else "stops"
        prompt = f"Enter goes on{', p shows it in torch' if proof else ''}, q {does} "
        while True:
            self.prompter.show([""])
            key = self.prompter.ask(prompt).strip().lower()[:1]
            if key == "q" and is_exam:
                self._marks_left = 0
                return
            if key == "q":
                raise EOFError
            if key != "p" or not proof:
                return
            self.prompter.show(proof_lines(question))


def _ask_score(prompter: Prompter, prompt: str) -> float | None:
    """Ask for a score from 0 to 10; None for Enter alone. Raises EOFError, for q too."""
    while True:
        typed = prompter.ask(prompt)
        if typed.strip().lower() in (STOP_KEY, "quit"):
            raise EOFError
        if not typed.strip():
            return None
        try:
            return parse_prediction(typed)
        except Unreadable as error:
            prompter.forget_answer()
            prompter.show([paint(f"{str(error).capitalize()}, or Enter alone.", "quiet")])
