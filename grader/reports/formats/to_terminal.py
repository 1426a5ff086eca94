"""The assessment of a lesson as text for a terminal: most useful first, readable at any width, in colour or without.

Colour never stands alone: each outcome is a sign and a word too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.text import Text

from grader.model import CheckResult, Counterexample, LessonResult, Named
from grader.reports.record_view import TERMINAL_STATES, CheckLine, check_lines
from grader.terminal.layout import BAD, COMMAND, GOOD, QUIET, STRONG, TROUBLE, Layout, heading, prose
from grader.terminal.text import clean, plural, score_bar, score_text

BAR_CELLS = 20
MIN_OUTCOME_COLUMN = 8
MESSAGE_LINES = 7  # of one check's message, unless all is asked for
FULL_MESSAGES = 3  # checks whose message is shown in several lines; the others get one
PRINT_LINES = 12
PRINT_COLUMNS = 400  # of one printed line

OUTCOME_STYLES = {"passed": GOOD, "skipped": QUIET, "grader-error": TROUBLE}

_PLACE = re.compile(r"^\s*(?P<path>\S.*?\.py):(?P<line>\d+)(?= in |$)")


def assessment(result: LessonResult, page: Layout, *, title: str = "", before: float | None = None) -> str:
    """The whole assessment of one lesson. `before` is the score of the attempt before this one."""
    said = _Said(page, indent=_outcome_column(result.checks) + 5)
    lines = [*_head(result, page, title), *_score(result, page, before), *_notes(result, page)]
    lines += _checks(result, page, said)
    lines += _prints(result, page)
    lines += _counterexamples(result.counterexamples, page)
    lines += _list("Strengths", [prose(text) for text in result.strengths], page.signs.passed, GOOD, page)
    weaknesses = [said.weakness(text, result.mistakes) for text in result.weaknesses]
    lines += _list("Weaknesses", weaknesses, page.signs.failed, BAD, page)
    lines += _next(result, page)
    return page.render(lines)


def summary(results: Sequence[LessonResult], page: Layout) -> str:
    """Several lessons: a line each with score and checks passed, then what is wrong with those that did not pass."""
    longest = max(len(result.lesson) for result in results)
    lines = []
    for result in results:
        style = GOOD if result.passed else BAD
        sign = page.signs.passed if result.passed else page.signs.failed
        counts = _counts(result.checks) if result.checks else "not checked"
        score = f"{score_text(result.score):>4}  {score_bar(result.score, 10, page.signs)}"
        name = f"{result.lesson:<{longest}}  "
        lines.append(Text.assemble((f"{sign} ", style), (name, STRONG), f"{score}  {counts}"))
    for result in results:
        if not result.passed:
            said = result.weaknesses[0] if result.weaknesses else TERMINAL_STATES[result.state]
            lines += [Text(), Text.assemble((result.lesson, STRONG), "  ", (f"learn check {result.lesson}", COMMAND))]
            lines += page.paragraph(2, prose(said.split("\n", 1)[0]))
    return page.render(lines)


# --- the head ---------------------------------------------------------------------------------------------------------


def _head(result: LessonResult, page: Layout, title: str) -> list[Text]:
    name = Text.assemble((title or result.lesson, STRONG))
    if result.file:
        name.append("  ").append(clean(result.file), page.link(result.file))
    how = Text(f"{result.device}, seed {result.seed}", QUIET)
    if name.cell_len + how.cell_len + 2 <= page.columns:
        return [name.append("  ").append_text(how)]
    return [name, how]


def _score(result: LessonResult, page: Layout, before: float | None) -> list[Text]:
    if result.score is None:
        line = Text("No score", STRONG)
    else:
        style = GOOD if result.passed else ""
        filled = score_bar(result.score, BAR_CELLS, page.signs)
        score = f"{score_text(result.score)} / 10" + (" on the public checks" if result.public else "")
        line = Text.assemble((score, f"{STRONG} {style}"), "  ", (filled, style))
    facts = [_counts([check for check in result.checks if check.outcome != "grader-error"])]
    if before is not None and before != result.score:
        facts.append(f"before: {score_text(before)}")
    if result.hints_used:
        facts.append(f"{plural(result.hints_used, 'hint')} used")
    said = Text(", ".join(facts))
    return [line.append("  ").append_text(said)] if line.cell_len + said.cell_len + 2 <= page.columns else [line, said]


def _counts(checks: Sequence[CheckResult]) -> str:
    """How many checks passed, counted as they are listed: one that runs on several inputs is one, and passes on all."""
    lines = check_lines(checks)
    return f"{sum(line.passed for line in lines)} of {plural(len(lines), 'check')} passed"


def _notes(result: LessonResult, page: Layout) -> list[Text]:
    texts = [text for text in (TERMINAL_STATES[result.state], *result.notes) if text]
    return [line for text in texts for line in page.item(f"{page.signs.trouble} ", STRONG, prose(text))]


# --- the checks -------------------------------------------------------------------------------------------------------


def _checks(result: LessonResult, page: Layout, said: _Said) -> list[Text]:
    if not result.checks or result.state == "would-not-import":
        return []
    lines = [Text()]
    column = _outcome_column(result.checks)
    functions: dict[str, list[CheckLine]] = {}
    for check in check_lines(result.checks):
        functions.setdefault(check.function, []).append(check)
    for function, checks in sorted(functions.items(), key=lambda item: min(check.rank for check in item[1])):
        if len(functions) > 1:
            lines.append(Text(function, STRONG))
        for check in sorted(checks, key=lambda check: check.rank):
            lines += _check_line(check, page, column)
            lines += said.message(check)
    return lines


def _outcome_column(checks: Sequence[CheckResult]) -> int:
    """Return the width of the column with the outcomes: that of the longest word present."""
    return max([MIN_OUTCOME_COLUMN, *(len(check.outcome) for check in checks)])


def _check_line(check: CheckLine, page: Layout, column: int) -> list[Text]:
    signs = {"passed": page.signs.passed, "skipped": page.signs.skipped, "grader-error": page.signs.trouble}
    says = prose(check.says)
    if check.inputs_text:
        says.append(f" ({check.inputs_text})", QUIET)
    if check.outcome == "skipped":
        says.stylize(QUIET)
    head = f"  {signs.get(check.outcome, page.signs.failed)} {check.outcome_text:<{column}} "
    return page.item(head, OUTCOME_STYLES.get(check.outcome, BAD), says)


class _Said:
    """What stands above already: no message is given twice, and only the first ones at length."""

    def __init__(self, page: Layout, indent: int) -> None:
        self._page = page
        self._indent = indent  # of the messages: where the checks' sentences begin
        self._lines: set[str] = set()
        self._long = 0

    def message(self, check: CheckLine) -> list[Text]:
        """The message of a check that did not pass."""
        lines = clean(check.message).strip().split("\n")
        if not lines[0] or (lines[0] in self._lines and not self._page.everything):
            return []
        room = self._room(check)
        self._long += room > 1
        self._lines.update(line.strip() for line in lines[:room])
        shown = [self._line(line, quiet=check.outcome == "skipped") for line in lines[:room]]
        if 1 < room < len(lines):
            shown.append(Text(f"... {plural(len(lines) - room, 'more line')}: --verbose shows all", QUIET))
        return [part for text in shown for part in self._page.paragraph(self._indent, text)]

    def _room(self, check: CheckLine) -> int:
        if self._page.everything:
            return 1_000
        return MESSAGE_LINES if self._long < FULL_MESSAGES and check.outcome != "skipped" else 1

    def weakness(self, text: str, mistakes: Sequence[Named]) -> Text:
        """A weakness without the lines that stand above, and with the mistake's id if it is a named one."""
        first, *rest = clean(text).strip().split("\n")
        said = prose(first)
        named = next((mistake.id for mistake in mistakes if mistake.says == text), "")
        if named:
            said.append(f"  [{named}]", QUIET)
        for line in rest:
            if line.strip() not in self._lines:
                said.append("\n").append_text(self._line(line))
        return said

    def _line(self, line: str, quiet: bool = False) -> Text:
        text = Text(line, QUIET if quiet or line.startswith("Asked: ") else "")
        place = _PLACE.match(line)
        if place:
            text.stylize(self._page.link(place["path"]), *place.span("path"))
        return text


# --- below the checks -------------------------------------------------------------------------------------------------


def _prints(result: LessonResult, page: Layout) -> list[Text]:
    """What the learner's code printed: in the first check that failed, or in all."""
    failing = next((check.output for check in result.checks if check.output and not check.passed), "")
    text = clean(result.output if page.everything else failing or result.output).rstrip()
    if not text.strip():
        return []
    lines = text.split("\n")
    room = len(lines) if page.everything else PRINT_LINES
    shown = [Text(line if page.everything else line[:PRINT_COLUMNS]) for line in lines[:room]]
    if len(lines) > room:
        shown.append(Text(f"... {plural(len(lines) - room, 'more line')}: --verbose shows all", QUIET))
    return [*heading("Your prints"), *(part for line in shown for part in page.paragraph(2, line))]


def _counterexamples(examples: Sequence[Counterexample], page: Layout) -> list[Text]:
    if not examples:
        return []
    lines = heading("Smallest failing input" if len(examples) == 1 else "Smallest failing inputs")
    for example in examples:
        lines += page.paragraph(2, Text(clean(example.call), STRONG))
        lines += page.item("  yours     ", QUIET, Text(clean(example.yours)))
        lines += page.item("  expected  ", QUIET, Text(clean(example.expected)))
    return lines


def _list(title: str, items: Sequence[Text], sign: str, style: str, page: Layout) -> list[Text]:
    lines = [line for item in items for line in page.item(f"  {sign} ", style, item)]
    return [*heading(title), *lines] if lines else []


def _next(result: LessonResult, page: Layout) -> list[Text]:
    lines = heading("Next") if result.suggestions else []
    for number, suggestion in enumerate(result.suggestions, 1):
        said = prose(suggestion.says)
        fits = said.cell_len + len(suggestion.command) + 6 <= page.columns
        said.append("  " if fits else "\n").append(suggestion.command, COMMAND)
        lines += page.item(f"  {number} ", "", said)
    return lines
