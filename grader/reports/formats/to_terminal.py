"""Render a lesson's result for a terminal: the most useful first, readable at any width, with colour or without.

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
MAX_MESSAGE_LINES = 7  # of one check's message, unless the layout is for everything
MAX_LONG_MESSAGES = 3  # checks whose message is shown in several lines; the others get one
MAX_PRINT_LINES = 12
MAX_PRINT_COLUMNS = 400

OUTCOME_STYLES = {"passed": GOOD, "skipped": QUIET, "grader-error": TROUBLE}

_LOCATION = re.compile(r"^\s*(?P<path>\S.*?\.py):(?P<line>\d+)(?= in |$)")


def assessment(result: LessonResult, layout: Layout, *, title: str = "", before: float | None = None) -> str:
    """Render the whole assessment of one lesson; `before` is the score of the attempt before this one."""
    messages = _Messages(layout, indent=_outcome_column(result.checks) + 5)
    lines = [*_head(result, layout, title), *_score(result, layout, before), *_notes(result, layout)]
    lines += _checks(result, layout, messages)
    lines += _prints(result, layout)
    lines += _counterexamples(result.counterexamples, layout)
    lines += _list("Strengths", [prose(text) for text in result.strengths], layout.signs.passed, GOOD, layout)
    weaknesses = [messages.weakness(text, result.mistakes) for text in result.weaknesses]
    lines += _list("Weaknesses", weaknesses, layout.signs.failed, BAD, layout)
    lines += _next(result, layout)
    return layout.render(lines)


def summary(results: Sequence[LessonResult], layout: Layout) -> str:
    """Render several lessons: a line each with score and checks passed, then what is wrong with those that failed."""
    longest = max(len(result.lesson) for result in results)
    lines = []
    for result in results:
        style = GOOD if result.passed else BAD
        sign = layout.signs.passed if result.passed else layout.signs.failed
        counts = _counts(result.checks) if result.checks else "not checked"
        score = f"{score_text(result.score):>4}  {score_bar(result.score, 10, layout.signs)}"
        name = f"{result.lesson:<{longest}}  "
        lines.append(Text.assemble((f"{sign} ", style), (name, STRONG), f"{score}  {counts}"))
    for result in results:
        if not result.passed:
            weakness = result.weaknesses[0] if result.weaknesses else TERMINAL_STATES[result.state]
            lines += [Text(), Text.assemble((result.lesson, STRONG), "  ", (f"learn check {result.lesson}", COMMAND))]
            lines += layout.paragraph(2, prose(weakness.split("\n", 1)[0]))
    return layout.render(lines)


# --- the head ---------------------------------------------------------------------------------------------------------


def _head(result: LessonResult, layout: Layout, title: str) -> list[Text]:
    name = Text.assemble((title or result.lesson, STRONG))
    if result.file:
        name.append("  ").append(clean(result.file), layout.link(result.file))
    return _side_by_side(name, Text(f"{result.device}, seed {result.seed}", QUIET), layout)


def _score(result: LessonResult, layout: Layout, before: float | None) -> list[Text]:
    if result.score is None:
        line = Text("No score", STRONG)
    else:
        style = GOOD if result.passed else ""
        filled = score_bar(result.score, BAR_CELLS, layout.signs)
        score = f"{score_text(result.score)} / 10" + (" on the public checks" if result.public else "")
        line = Text.assemble((score, f"{STRONG} {style}"), "  ", (filled, style))
    facts = [_counts([check for check in result.checks if check.outcome != "grader-error"])]
    if before is not None and before != result.score:
        facts.append(f"before: {score_text(before)}")
    if result.hints_used:
        facts.append(f"{plural(result.hints_used, 'hint')} used")
    return _side_by_side(line, Text(", ".join(facts)), layout)


def _side_by_side(left: Text, right: Text, layout: Layout) -> list[Text]:
    """Put two texts into one line if they fit, else into two."""
    fits = left.cell_len + right.cell_len + 2 <= layout.columns
    return [left.append("  ").append_text(right)] if fits else [left, right]


def _counts(checks: Sequence[CheckResult]) -> str:
    lines = check_lines(checks)
    return f"{sum(line.passed for line in lines)} of {plural(len(lines), 'check')} passed"


def _notes(result: LessonResult, layout: Layout) -> list[Text]:
    texts = [text for text in (TERMINAL_STATES[result.state], *result.notes) if text]
    return [line for text in texts for line in layout.item(f"{layout.signs.trouble} ", STRONG, prose(text))]


# --- the checks -------------------------------------------------------------------------------------------------------


def _checks(result: LessonResult, layout: Layout, messages: _Messages) -> list[Text]:
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
            lines += _check_line(check, layout, column)
            lines += messages.of_check(check)
    return lines


def _outcome_column(checks: Sequence[CheckResult]) -> int:
    return max([MIN_OUTCOME_COLUMN, *(len(check.outcome) for check in checks)])


def _check_line(check: CheckLine, layout: Layout, column: int) -> list[Text]:
    signs = {"passed": layout.signs.passed, "skipped": layout.signs.skipped, "grader-error": layout.signs.trouble}
    says = prose(check.says)
    if check.inputs_text:
        says.append(f" ({check.inputs_text})", QUIET)
    if check.outcome == "skipped":
        says.stylize(QUIET)
    head = f"  {signs.get(check.outcome, layout.signs.failed)} {check.outcome_text:<{column}} "
    return layout.item(head, OUTCOME_STYLES.get(check.outcome, BAD), says)


class _Messages:
    """Show each message once, and only the first ones at length."""

    def __init__(self, layout: Layout, indent: int) -> None:
        self._layout = layout
        self._indent = indent  # where the checks' sentences begin
        self._shown: set[str] = set()  # lines
        self._long_messages = 0

    def of_check(self, check: CheckLine) -> list[Text]:
        """Render the message of a check that did not pass."""
        lines = clean(check.message).strip().split("\n")
        if not lines[0] or (lines[0] in self._shown and not self._layout.everything):
            return []
        most = self._max_lines(check)
        self._long_messages += most > 1
        self._shown.update(line.strip() for line in lines[:most])
        texts = [self._line(line, quiet=check.outcome == "skipped") for line in lines[:most]]
        if 1 < most < len(lines):
            texts.append(_more_lines(len(lines) - most))
        return [part for text in texts for part in self._layout.paragraph(self._indent, text)]

    def _max_lines(self, check: CheckLine) -> int:
        if self._layout.everything:
            return 1_000
        return MAX_MESSAGE_LINES if self._long_messages < MAX_LONG_MESSAGES and check.outcome != "skipped" else 1

    def weakness(self, text: str, mistakes: Sequence[Named]) -> Text:
        """Render a weakness without the lines shown above, with the id of a named mistake."""
        first, *rest = clean(text).strip().split("\n")
        made = prose(first)
        if named := next((mistake.id for mistake in mistakes if mistake.says == text), ""):
            made.append(f"  [{named}]", QUIET)
        for line in rest:
            if line.strip() not in self._shown:
                made.append("\n").append_text(self._line(line))
        return made

    def _line(self, line: str, quiet: bool = False) -> Text:
        text = Text(line, QUIET if quiet or line.startswith("Asked: ") else "")
        if location := _LOCATION.match(line):
            text.stylize(self._layout.link(location["path"]), *location.span("path"))
        return text


def _more_lines(count: int) -> Text:
    return Text(f"... {plural(count, 'more line')}: --verbose shows all", QUIET)


# --- below the checks -------------------------------------------------------------------------------------------------


def _prints(result: LessonResult, layout: Layout) -> list[Text]:
    """Render what the learner's code printed: in the first check that failed, or in all."""
    failing = next((check.output for check in result.checks if check.output and not check.passed), "")
    text = clean(result.output if layout.everything else failing or result.output).rstrip()
    if not text.strip():
        return []
    lines = text.split("\n")
    most = len(lines) if layout.everything else MAX_PRINT_LINES
    texts = [Text(line if layout.everything else line[:MAX_PRINT_COLUMNS]) for line in lines[:most]]
    if len(lines) > most:
        texts.append(_more_lines(len(lines) - most))
    return [*heading("Your prints"), *(part for line in texts for part in layout.paragraph(2, line))]


def _counterexamples(examples: Sequence[Counterexample], layout: Layout) -> list[Text]:
    lines = heading("Smallest failing input" if len(examples) == 1 else "Smallest failing inputs") if examples else []
    for example in examples:
        lines += layout.paragraph(2, Text(clean(example.call), STRONG))
        lines += layout.item("  yours     ", QUIET, Text(clean(example.yours)))
        lines += layout.item("  expected  ", QUIET, Text(clean(example.expected)))
    return lines


def _list(title: str, items: Sequence[Text], sign: str, style: str, layout: Layout) -> list[Text]:
    lines = [line for item in items for line in layout.item(f"  {sign} ", style, item)]
    return [*heading(title), *lines] if lines else []


def _next(result: LessonResult, layout: Layout) -> list[Text]:
    lines = heading("Next") if result.suggestions else []
    for number, suggestion in enumerate(result.suggestions, 1):
        says = prose(suggestion.says)
        fits = says.cell_len + len(suggestion.command) + 6 <= layout.columns
        says.append("  " if fits else "\n").append(suggestion.command, COMMAND)
        lines += layout.item(f"  {number} ", "", says)
    return lines
