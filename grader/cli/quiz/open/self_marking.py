"""Let learners mark their own answer: key point by key point beside the text, then typical wrong claims.

Words that a key point shares with the text are highlighted, to help find the passage; they do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from itertools import zip_longest

from grader.cli.quiz.prompt import Prompter, screen_rows
from grader.cli.quiz.render import break_lines, header, wrap_paragraphs
from grader.quiz.model import KeyPoint, OpenQuestion, Trap
from grader.quiz.open_answers import Marking, shared_words
from grader.terminal.console import MAX_COLUMNS, paint, width
from grader.terminal.text import clean

MIN_WIDTH_SIDE_BY_SIDE = 100  # columns of the terminal
SEPARATOR = " | "
MIN_TEXT_ROWS = 5
OMITTED = "..."

YES_NO = {"y": "yes", "yes": "yes", "n": "no", "no": "no"}
MARKS = {**YES_NO, "p": "partly", "partly": "partly"}

Claim = Callable[[str, str, bool], None]  # point, mark, whether it is a trap


class Marker:
    """Asks for the marks of one text. `claim` logs each."""

    def __init__(self, prompter: Prompter, title: str, text: str, claim: Claim) -> None:
        self.prompter, self.title, self.text, self.claim = prompter, title, clean(text), claim
        self._text_was_shown = False

    def mark_points(self, marking: Marking) -> None:
        """Ask for the mark of every key point without one. Raises EOFError."""
        points = marking.question.key_points
        first = marking.next_point
        index = points.index(first) if first else len(points)
        while index < len(points):
            chosen = self._ask_point(marking.question, points[index], index)
            if chosen == "back":
                index = max(0, index - 1)
                continue
            self.claim(points[index].id, chosen, False)
            index += 1

    def answer_traps(self, marking: Marking) -> None:
        """Ask about every typical wrong claim that is left; a yes shows what is right. Raises EOFError."""
        traps = marking.question.traps
        for number, trap in enumerate(traps, 1):
            if trap.id not in marking.traps:
                self._ask_trap(trap, number, len(traps))

    def _ask_point(self, question: OpenQuestion, point: KeyPoint, index: int) -> str:
        count = len(question.key_points)
        asks = [paint(f"Key point {index + 1} of {count}", "quiet"), *_wrap_to(point.says, self._column)]
        back = "; b goes back" if index and self.prompter.interactive else ""
        whole = "; t shows all of it" if self._is_cut(len(asks)) else ""
        prompt = f"In your text? y yes, p partly, n no{back}{whole}"
        answers = {**MARKS, **({"b": "back"} if back else {}), **({"t": "text"} if whole else {})}
        while True:
            self._show_beside_text(asks, point.says)
            chosen = self.prompter.choose(prompt, answers, can_stop=True)
            if chosen != "text":
                return chosen
            self.prompter.clear()
            self.prompter.show([*break_lines(self.text, min(width(), MAX_COLUMNS)), ""])
            self.prompter.ask("Enter goes back to the point ")

    def _ask_trap(self, trap: Trap, number: int, count: int) -> None:
        says = f"“{trap.claims}”"
        asks = [paint(f"Typical wrong claim {number} of {count}", "quiet"), *_wrap_to(says, self._column)]
        self._show_beside_text(asks, trap.claims)
        chosen = self.prompter.choose(
            "Did you write this, or what comes to the same? y yes, n no", YES_NO, can_stop=True
        )
        self.claim(trap.id, chosen, True)
        if chosen == "yes":
            self.prompter.show(["", *wrap_paragraphs(f"What is right: {trap.fix}")])
            self.prompter.wait_for_enter()

    # ---- the screen

    @property
    def _is_wide(self) -> bool:
        return self.prompter.interactive and width() >= MIN_WIDTH_SIDE_BY_SIDE

    @property
    def _column(self) -> int:
        """Return the columns for what is asked."""
        return (min(width(), 2 * MAX_COLUMNS) - len(SEPARATOR)) // 2 if self._is_wide else min(width(), MAX_COLUMNS)

    def _text_rows(self, asked: int) -> int:
        """Return the rows for the text."""
        taken = 5 if self._is_wide else 6 + asked  # header, empty lines, rule, prompt
        return max(MIN_TEXT_ROWS, screen_rows() - taken)

    def _is_cut(self, asked: int) -> bool:
        return self.prompter.interactive and len(break_lines(self.text, self._column)) > self._text_rows(asked)

    def _show_beside_text(self, asks: list[str], says: str) -> None:
        """Show what is asked, with the text to its left on a wide terminal, else above."""
        self.prompter.clear()
        if not self.prompter.interactive:
            text = [] if self._text_was_shown else [self.title, "", *self.text.split("\n"), ""]
            self._text_was_shown = True
            self.prompter.show([*text, *asks])
            return
        lines = break_lines(self.text, self._column)
        shown = _highlight(lines, says, self._text_rows(len(asks)))
        self.prompter.show([header(self.title, "your text, and what a full answer says"), ""])
        if self._is_wide:
            self.prompter.show([*_put_side_by_side(shown, asks, self._column), ""])
        else:
            self.prompter.show([*(line for line, _ in shown), paint("-" * self._column, "quiet"), *asks, ""])


# --- the text ---------------------------------------------------------------------------------------------------------


def _wrap_to(text: str, columns: int) -> list[str]:
    return break_lines(text, columns) if columns < min(width(), MAX_COLUMNS) else wrap_paragraphs(text)


def _highlight(lines: Sequence[str], says: str, room: int) -> list[tuple[str, int]]:
    """Highlight words shared with a key point; return at most `room` lines, nearest to them, with their widths."""
    spans = [shared_words(line, says) for line in lines]
    hits = {row for row, found in enumerate(spans) if found} or {0}
    by_distance = sorted(range(len(lines)), key=lambda row: (min(abs(row - hit) for hit in hits), row))
    chosen: set[int] = set()
    for row in by_distance:
        if _count_shown(chosen | {row}, len(lines)) <= room:
            chosen.add(row)
    shown: list[tuple[str, int]] = []
    for row, line in enumerate(lines):
        if row in chosen:
            shown.append((_paint_spans(line, spans[row]), len(line)))
        elif not shown or shown[-1][0] != OMITTED:
            shown.append((OMITTED, len(OMITTED)))
    return shown


def _count_shown(chosen: Set[int], count: int) -> int:
    """Count the rows that these lines take, with one for each gap."""
    ends = sum(1 for row in chosen if row + 1 < count and row + 1 not in chosen)
    return len(chosen) + ends + (0 not in chosen)


def _paint_spans(line: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [line[end:start], paint(line[start:stop], "strong")]
        end = stop
    return "".join([*pieces, line[end:]])


def _put_side_by_side(left: Sequence[tuple[str, int]], right: Sequence[str], columns: int) -> list[str]:
    lines = []
    for shown, ask in zip_longest(left, right):
        text, taken = shown or ("", 0)
        lines.append(f"{text}{' ' * (columns - taken)}{SEPARATOR}{ask or ''}".rstrip())
    return lines
