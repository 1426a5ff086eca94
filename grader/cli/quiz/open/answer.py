"""One open question, from the empty page to the questions on what was claimed. Every step is kept, and gone on with."""

from __future__ import annotations

from datetime import UTC, datetime

from grader.cli.main import STOPPED
from grader.cli.quiz.context import REPORT, Room, waiting
from grader.cli.quiz.dialogue import NOT_YET, ask_all, begin
from grader.cli.quiz.open.editor import found, write
from grader.cli.quiz.open.self_marking import Marker
from grader.cli.quiz.prompt import Dialogue
from grader.cli.quiz.render import header, lines_of, next_lines, prose
from grader.model import Claimed
from grader.quiz.model import OpenQuestion, Topic
from grader.quiz.open_answers import SHORTEST, Marking, audits, given, marking
from grader.quiz.session.plan import fresh
from grader.store.quiz_log import Planned
from grader.terminal.console import MAX_COLUMNS, paint, width
from grader.terminal.text import ago, plural

MODE = "audit"
FULL = "What a full answer says"


def answer_open(here: Room, topic: Topic, *, by_lines: bool, anew: bool) -> int:
    """Answer the open question of a topic, or go on with its answer: the exit code."""
    assert topic.open is not None and here.dialogue is not None
    planned = next((each for each in waiting(here.log, [MODE]) if each.session.topics == (topic.name,)), None)
    if planned is not None and anew:
        here.log.finish(planned.session.id, datetime.now(UTC))
        planned = None
    answer = OwnWords(here, here.dialogue, topic, topic.open, planned or begin(here.log, MODE, [topic.name], []))
    try:
        answer.hold(resumed=planned is not None, by_lines=by_lines)
    except (EOFError, KeyboardInterrupt) as stop:
        skipped = answer.is_skipped
        command = (f"learn quiz open {topic.open.number}", "begins it again" if skipped else "goes on where you are")
        says = "Stopped. The question is skipped." if skipped else "Stopped. What you wrote and marked is kept."
        here.dialogue.end([says, *next_lines([command])])
        return STOPPED if isinstance(stop, KeyboardInterrupt) else NOT_YET
    return 0


class OwnWords:
    """One answer to one open question."""

    def __init__(self, here: Room, dialogue: Dialogue, topic: Topic, question: OpenQuestion, planned: Planned) -> None:
        self.here, self.dialogue, self.topic, self.question, self.planned = here, dialogue, topic, question, planned
        self.session = planned.session.id
        self.title = f"Question {question.number}: {topic.title}"

    @property
    def marks(self) -> Marking:
        """What was marked by now."""
        return marking(self.question, self.here.log.claims(self.session))

    @property
    def is_skipped(self) -> bool:
        """Whether it was left out: marked, and no text."""
        return bool(self.marks.points) and not self.here.log.text(self.session)

    def hold(self, *, resumed: bool, by_lines: bool) -> None:
        """Every step that is left. Raises EOFError."""
        if not self.planned.plan:
            self._mark(self._text(resumed, by_lines))
            self._model_answer()
            self._plan_audits()
        if self.planned.plan:
            self._audit()
        self.here.log.finish(self.session, datetime.now(UTC))
        self._end()

    # ---- writing

    def _text(self, resumed: bool, by_lines: bool) -> str:
        """The text, "" for a question that is skipped."""
        text = self.here.log.text(self.session)
        if self.marks.points or self.marks.traps:
            return text
        draft = self.here.log.file.path.parent / f"open-{self.topic.name}.md"
        text = found(draft, text, self._keep)
        self._ask(resumed)
        if resumed and len(text) >= SHORTEST and self._is_ready(text):
            return text
        written = write(self.dialogue, self.question.asks, text, self._keep, draft, by_lines)
        if written is None:
            draft.unlink(missing_ok=True)
            self._keep("")
            self.here.log.claim_all([self._claimed(point.id, "no", False) for point in self.question.key_points])
            # over before its model answer is read: whoever stops there has skipped it, and may begin again
            self.here.log.finish(self.session, datetime.now(UTC))
        return written or ""

    def _ask(self, resumed: bool) -> None:
        self.dialogue.clear()
        begun = f"begun {ago(self.planned.session.started)}" if resumed else ""
        self.dialogue.show([header(self.title, begun), "", *prose(self.question.asks), ""])
        if not resumed and self.dialogue.terminal:
            says = (
                "Write as you would explain it to somebody. Afterwards you mark your own text against "
                f"{plural(len(self.question.key_points), 'key point')}."
            )
            self.dialogue.show([*(paint(line, "quiet") for line in prose(says)), ""])

    def _is_ready(self, text: str) -> bool:
        """Whether a text that was found is to be marked as it is."""
        if not self.dialogue.terminal:
            return True
        self.dialogue.show(["You wrote:", "", *lines_of(text, min(width(), MAX_COLUMNS)), ""])
        answers = {"m": "mark", "w": "write"}
        return self.dialogue.choose("Enter marks it, w writes on", answers, "mark", stops=True) == "mark"

    def _keep(self, text: str) -> None:
        self.here.log.keep_text(self.session, self.topic.name, text, datetime.now(UTC))

    # ---- marking

    def _mark(self, text: str) -> None:
        if not text:
            return
        marker = Marker(self.dialogue, self.title, text, self._claim)
        marker.mark_points(self.marks)
        marker.answer_traps(self.marks)

    def _claim(self, point: str, mark: str, trap: bool) -> None:
        self.here.log.claim(self._claimed(point, mark, trap))

    def _claimed(self, point: str, mark: str, trap: bool) -> Claimed:
        return Claimed(self.topic.name, point, mark, trap, self.session, datetime.now(UTC))

    def _model_answer(self) -> None:
        self.dialogue.clear()
        lines = [header(self.title, "a model answer"), "", *prose(self.question.model_answer)]
        missing = [point for point in self.question.key_points if self.marks.points.get(point.id) != "yes"]
        if missing:
            says = "What your text leaves out, or has in part" if self.here.log.text(self.session) else FULL
            lines += ["", paint(says, "strong")]
            lines += [line for point in missing for line in prose(f"- {point.says}", 2)]
        self.dialogue.show(lines)
        self.dialogue.goes_on()

    # ---- questions on what was claimed

    def _plan_audits(self) -> None:
        claimed = [point.id for point in self.marks.claimed]
        families = audits(self.topic, claimed, self.here.log.tried())
        plan = fresh([family.id for family in families], self.here.log.asked())
        self.here.log.replan(self.session, plan)
        self.planned = Planned(self.planned.session, plan)

    def _audit(self) -> None:
        """A question or two, and what they say of the points that were claimed."""
        sitting = self.here.desk.sitting(self.planned)
        self.here.desk.face.begins(sitting, bool(sitting.answers))
        ask_all(self.here.desk, sitting)

    def _end(self) -> None:
        marks, log = self.marks, self.here.log
        self.dialogue.clear()
        says = f"Claimed: {marks.credit:g} of {plural(len(self.question.key_points), 'key point')}."
        self.dialogue.show([header(self.title, ""), "", says])
        self.dialogue.show(
            [paint(line, "quiet") for line in prose("Claims stand beside the checked score, never in it.")]
        )
        answers = log.answers(self.session)
        wrong = {answer.family for answer in answers if answer.credit < 1}
        doubted = {point for family in self.topic.families if family.id in wrong for point in family.audits}
        again = [point for point in marks.claimed if point.id in doubted]
        if again:
            self.dialogue.show(["", paint("Check this again", "strong")])
            self.dialogue.show([line for point in again for line in prose(f"- {point.says}", 2)])
        elif answers:
            self.dialogue.show(["", f"{len(answers)} of {plural(len(answers), 'question')} on it right."])
        commands = [(f"learn quiz {self.topic.name}", "questions on the same topic"), REPORT]
        self.dialogue.show(["", *next_lines([*self._next_question(), *commands])])

    def _next_question(self) -> list[tuple[str, str]]:
        """The first open question of the assessment that was never answered."""
        log = self.here.log
        sessions = log.sessions()
        for name in self.here.bank.assessed:
            question = self.here.bank.topic(name).open
            if question and given(question, sessions, {}, []) is None:
                return [(f"learn quiz open {question.number}", "the next open question")]
        return []
