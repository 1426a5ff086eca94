"""Answer one open question: write, mark it, answer questions on what was claimed. Each step is kept, to resume at."""

from __future__ import annotations

from datetime import UTC, datetime

from grader.cli.quiz.context import REPORT, unfinished_sessions
from grader.cli.quiz.dialogue import QuizContext, ask_all
from grader.cli.quiz.open.editor import write
from grader.cli.quiz.open.self_marking import Marker
from grader.cli.quiz.prompt import Prompter
from grader.cli.quiz.render import break_lines, header, next_lines, wrap_paragraphs
from grader.cli.run_command import NOT_YET, STOPPED
from grader.quiz.model import OpenQuestion, Topic
from grader.quiz.open_answers import MIN_CHARACTERS, latest_answer
from grader.quiz.open_draft import draft_path, recover_draft
from grader.quiz.session.open_answer import MODE, OpenAnswer
from grader.store.quiz_log import PlannedSession
from grader.terminal.console import MAX_COLUMNS, paint, width
from grader.terminal.text import ago, plural


def answer_open(quiz: QuizContext, topic: Topic, *, by_lines: bool, anew: bool) -> int:
    """Answer the open question of a topic, or resume its answer, and return the exit code."""
    assert topic.open is not None and quiz.prompter is not None
    planned = next(
        (each for each in unfinished_sessions(quiz.log, [MODE]) if each.session.topics == (topic.name,)), None
    )
    if planned is not None and anew:
        quiz.log.finish(planned.session.id, datetime.now(UTC))
        planned = None
    resumed = planned is not None
    planned = planned or quiz.log.begin_session(MODE, [topic.name], [])
    held = OpenAnswerSession(quiz, quiz.prompter, topic, topic.open, planned)
    try:
        held.hold(resumed=resumed, by_lines=by_lines)
    except (EOFError, KeyboardInterrupt) as stop:
        skipped = held.answer.is_skipped
        command = (f"learn quiz open {topic.open.number}", "begins it again" if skipped else "goes on where you are")
        says = "Stopped. The question is skipped." if skipped else "Stopped. What you wrote and marked is kept."
        quiz.prompter.end([says, *next_lines([command])])
        return STOPPED if isinstance(stop, KeyboardInterrupt) else NOT_YET
    return 0


class OpenAnswerSession:
    """One answer to one open question."""

    def __init__(
        self, quiz: QuizContext, prompter: Prompter, topic: Topic, question: OpenQuestion, planned: PlannedSession
    ) -> None:
        self.quiz, self.log, self.prompter = quiz, quiz.log, prompter
        self.topic, self.question, self.planned = topic, question, planned
        self.answer = OpenAnswer(quiz.log, topic, question, planned.session.id)
        self.title = f"Question {question.number}: {topic.title}"

    def hold(self, *, resumed: bool, by_lines: bool) -> None:
        """Do every step that is left. Raises EOFError."""
        if not self.planned.plan:
            self._mark(self._write(resumed, by_lines))
            self._show_model_answer()
            self._plan_audits()
        if self.planned.plan:  # a question or two on the points that were claimed
            session = self.quiz.session(self.planned)
            self.quiz.view.begin(session, bool(session.answers))
            ask_all(self.quiz.view, session)
        self.answer.finish()
        self._show_end()

    # ---- writing

    def _write(self, resumed: bool, by_lines: bool) -> str:
        """Return the text; "" if the question is skipped."""
        text, keep = self.answer.text, self.answer.keep
        if self.answer.is_marked:
            return text
        draft = draft_path(self.log.database.path, self.topic.name)
        text = recover_draft(draft, text, keep)
        self._show_question(resumed)
        if resumed and len(text) >= MIN_CHARACTERS and self._is_ready(text):
            return text
        written = write(self.prompter, self.question.asks, text, keep, draft, by_lines)
        if written is None:
            draft.unlink(missing_ok=True)
            self.answer.skip()
        return written or ""

    def _show_question(self, resumed: bool) -> None:
        self.prompter.clear()
        begun = f"begun {ago(self.planned.session.started)}" if resumed else ""
        self.prompter.show([header(self.title, begun), "", *wrap_paragraphs(self.question.asks), ""])
        if not resumed and self.prompter.interactive:
            says = (
                "Write as you would explain it to somebody. Afterwards you mark your own text against "
                f"{plural(len(self.question.key_points), 'key point')}."
            )
            self.prompter.show([*(paint(line, "quiet") for line in wrap_paragraphs(says)), ""])

    def _is_ready(self, text: str) -> bool:
        """Ask whether to mark the text as it is."""
        if not self.prompter.interactive:
            return True
        self.prompter.show(["You wrote:", "", *break_lines(text, min(width(), MAX_COLUMNS)), ""])
        answers = {"m": "mark", "w": "write"}
        return self.prompter.choose("Enter marks it, w writes on", answers, "mark", can_stop=True) == "mark"

    # ---- marking

    def _mark(self, text: str) -> None:
        if not text:
            return
        marker = Marker(self.prompter, self.title, text, self.answer.claim)
        marker.mark_points(self.answer.marking)
        marker.answer_traps(self.answer.marking)

    def _show_model_answer(self) -> None:
        self.prompter.clear()
        lines = [header(self.title, "a model answer"), "", *wrap_paragraphs(self.question.model_answer)]
        missing = self.answer.missing_points
        if missing:
            says = "What your text leaves out, or has in part" if self.answer.text else "What a full answer says"
            lines += ["", paint(says, "strong")]
            lines += [line for point in missing for line in wrap_paragraphs(f"- {point.says}", 2)]
        self.prompter.show(lines)
        self.prompter.wait_for_enter()

    # ---- questions on what was claimed

    def _plan_audits(self) -> None:
        plan = self.answer.plan_audits()
        self.planned = PlannedSession(self.planned.session, plan)

    def _show_end(self) -> None:
        marking = self.answer.marking
        self.prompter.clear()
        says = f"Claimed: {marking.credit:g} of {plural(len(self.question.key_points), 'key point')}."
        self.prompter.show([header(self.title, ""), "", says])
        self.prompter.show(
            [paint(line, "quiet") for line in wrap_paragraphs("Claims stand beside the checked score, never in it.")]
        )
        answers, again = self.log.answers(self.planned.session.id), self.answer.doubted_points
        if again:
            self.prompter.show(["", paint("Check this again", "strong")])
            self.prompter.show([line for point in again for line in wrap_paragraphs(f"- {point.says}", 2)])
        elif answers:
            self.prompter.show(["", f"{len(answers)} of {plural(len(answers), 'question')} on it right."])
        commands = [(f"learn quiz {self.topic.name}", "questions on the same topic"), REPORT]
        self.prompter.show(["", *next_lines([*self._next_question(), *commands])])

    def _next_question(self) -> list[tuple[str, str]]:
        """Return the command for the first open question of the assessment without an answer."""
        sessions = self.log.sessions()
        for name in self.quiz.bank.assessed:
            question = self.quiz.bank.topic(name).open
            if question and latest_answer(question, sessions, {}, []) is None:
                return [(f"learn quiz open {question.number}", "the next open question")]
        return []
