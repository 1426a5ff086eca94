"""Marking one's own answer: a key point at a time beside the text, then typical wrong claims.

Words that the key point and the text share are set off, so that one finds the place; they count for nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence, Set

from grader.cli.quiz.prompt import Dialogue
from grader.cli.quiz.render import header, lines_of, prose
from grader.quiz.model import KeyPoint, OpenQuestion, Trap
from grader.quiz.open_answers import Marking, shared_words
from grader.terminal.console import MAX_COLUMNS, paint, width
from grader.terminal.text import clean

TWO_COLUMNS = 100  # of the terminal, from which on the text stands beside the point
BETWEEN = " | "
LEAST_ROOM = 5  # lines of the text that are shown in any case
GONE = "..."

YES_NO = {"y": "yes", "yes": "yes", "n": "no", "no": "no"}
MARKS = {**YES_NO, "p": "partly", "partly": "partly"}

Claim = Callable[[str, str, bool], None]  # point, mark, whether it is a trap


class Marker:
    """Asks for the marks of one text. `claim` keeps each."""

    def __init__(self, dialogue: Dialogue, title: str, text: str, claim: Claim) -> None:
        self.dialogue, self.title, self.text, self.claim = dialogue, title, clean(text), claim
        self._text_was_shown = False

    def mark_points(self, marking: Marking) -> None:
        """Every key point that has no mark yet. Raises EOFError."""
        points = marking.question.key_points
        first = marking.next_point
        place = points.index(first) if first else len(points)
        while place < len(points):
            chosen = self._point(marking.question, points[place], place)
            if chosen == "back":
                place = max(0, place - 1)
                continue
            self.claim(points[place].id, chosen, False)
            place += 1

    def answer_traps(self, marking: Marking) -> None:
        """Every typical wrong claim that was not answered yet; a yes opens what is right. Raises EOFError."""
        traps = marking.question.traps
        for place, trap in enumerate(traps):
            if trap.id not in marking.traps:
                self._trap(trap, place, len(traps))

    def _point(self, question: OpenQuestion, point: KeyPoint, place: int) -> str:
        count = len(question.key_points)
        asks = [paint(f"Key point {place + 1} of {count}", "quiet"), *_at(prose, point.says, self._column)]
        back = "; b goes back" if place and self.dialogue.terminal else ""
        whole = "; t shows all of it" if self._is_cut(len(asks)) else ""
        prompt = f"In your text? y yes, p partly, n no{back}{whole}"
        answers = {**MARKS, **({"b": "back"} if back else {}), **({"t": "text"} if whole else {})}
        while True:
            self._beside_the_text(asks, point.says)
            chosen = self.dialogue.choose(prompt, answers, stops=True)
            if chosen != "text":
                return chosen
            self.dialogue.clear()
            self.dialogue.show([*lines_of(self.text, min(width(), MAX_COLUMNS)), ""])
            self.dialogue.ask("Enter goes back to the point ")

    def _trap(self, trap: Trap, place: int, count: int) -> None:
        says = f"“{trap.claims}”"
        asks = [paint(f"Typical wrong claim {place + 1} of {count}", "quiet"), *_at(prose, says, self._column)]
        self._beside_the_text(asks, trap.claims)
        chosen = self.dialogue.choose("Did you write this, or what comes to the same? y yes, n no", YES_NO, stops=True)
        self.claim(trap.id, chosen, True)
        if chosen == "yes":
            self.dialogue.show(["", *prose(f"What is right: {trap.fix}")])
            self.dialogue.goes_on()

    # ---- the screen

    @property
    def _wide(self) -> bool:
        return self.dialogue.terminal and width() >= TWO_COLUMNS

    @property
    def _column(self) -> int:
        """The columns of what is asked."""
        return (min(width(), 2 * MAX_COLUMNS) - len(BETWEEN)) // 2 if self._wide else min(width(), MAX_COLUMNS)

    def _room(self, asked: int) -> int:
        """The lines there are for the text."""
        height = shutil.get_terminal_size((80, 24)).lines
        taken = 5 if self._wide else 6 + asked  # header, empty lines, rule, prompt
        return max(LEAST_ROOM, height - taken)

    def _is_cut(self, asked: int) -> bool:
        return self.dialogue.terminal and len(lines_of(self.text, self._column)) > self._room(asked)

    def _beside_the_text(self, asks: list[str], says: str) -> None:
        """What is asked, with the text to its left where there is room, else above."""
        self.dialogue.clear()
        if not self.dialogue.terminal:
            text = [] if self._text_was_shown else [self.title, "", *self.text.split("\n"), ""]
            self._text_was_shown = True
            self.dialogue.show([*text, *asks])
            return
        lines = lines_of(self.text, self._column)
        shown = _excerpt(lines, says, self._room(len(asks)))
        self.dialogue.show([header(self.title, "your text, and what a full answer says"), ""])
        if self._wide:
            self.dialogue.show([*_side_by_side(shown, asks, self._column), ""])
        else:
            self.dialogue.show([*(line for line, _ in shown), paint("-" * self._column, "quiet"), *asks, ""])


# --- the text ---------------------------------------------------------------------------------------------------------


def _at(render: Callable[[str], list[str]], text: str, columns: int) -> list[str]:
    """A text in lines of this width."""
    return lines_of(text, columns) if columns < min(width(), MAX_COLUMNS) else render(text)


def _excerpt(lines: Sequence[str], says: str, room: int) -> list[tuple[str, int]]:
    """The lines, shared words set off, each with its width; if they are too many, those with such words first."""
    spans = [shared_words(line, says) for line in lines]
    hits = {place for place, found in enumerate(spans) if found} or {0}
    by_distance = sorted(range(len(lines)), key=lambda place: (min(abs(place - hit) for hit in hits), place))
    chosen: set[int] = set()
    for place in by_distance:
        if _taken(chosen | {place}, len(lines)) <= room:
            chosen.add(place)
    shown: list[tuple[str, int]] = []
    for place, line in enumerate(lines):
        if place in chosen:
            shown.append((_set_off(line, spans[place]), len(line)))
        elif not shown or shown[-1][0] != GONE:
            shown.append((GONE, len(GONE)))
    return shown


def _taken(chosen: Set[int], count: int) -> int:
    """The lines that these take, each gap between them one more."""
    ends = sum(1 for place in chosen if place + 1 < count and place + 1 not in chosen)
    return len(chosen) + ends + (0 not in chosen)


def _set_off(line: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [line[end:start], paint(line[start:stop], "strong")]
        end = stop
    return "".join([*pieces, line[end:]])


def _side_by_side(left: Sequence[tuple[str, int]], right: Sequence[str], columns: int) -> list[str]:
    rows = []
    for place in range(max(len(left), len(right))):
        text, taken = left[place] if place < len(left) else ("", 0)
        beside = right[place] if place < len(right) else ""
        rows.append(f"{text}{' ' * (columns - taken)}{BETWEEN}{beside}".rstrip())
    return rows
