"""Render every check of a lesson's result for a terminal, each with its message: what `--verbose` shows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.text import Text

from grader.model import CheckResult, Named
from grader.reports.record_view import CheckLine, listed_lines
from grader.terminal.layout import BAD, GOOD, QUIET, STRONG, TROUBLE, Layout, prose
from grader.terminal.text import Signs, clean

MIN_OUTCOME_COLUMN = 8
_LOCATION = re.compile(r"^\s*(?P<path>\S.*?\.py):(?P<line>\d+)(?= in |$)")


class CheckList:
    """The checks of a result, a line each with its message below; no message is shown twice."""

    def __init__(self, checks: Sequence[CheckResult], layout: Layout) -> None:
        self._checks, self._layout = checks, layout
        self._column = max([MIN_OUTCOME_COLUMN, *(len(check.outcome) for check in checks)])
        self._shown: set[str] = set()  # lines

    def render(self) -> list[Text]:
        """Return the lines, below the name of each function if there are several."""
        listed = listed_lines(self._checks)
        functions = {check.function for check in listed}
        lines = [Text()]
        for before, check in zip([None, *listed], listed, strict=False):
            if len(functions) > 1 and (before is None or before.function != check.function):
                lines.append(Text(check.function, STRONG))
            lines += self._check_line(check)
            lines += self._message(check)
        return lines

    def _check_line(self, check: CheckLine) -> list[Text]:
        sign, style = outcome_mark(check.outcome, self._layout.signs)
        says = prose(check.says)
        if check.inputs_text:
            says.append(f" ({check.inputs_text})", QUIET)
        if check.outcome == "skipped":
            says.stylize(QUIET)
        head = f"  {sign} {check.outcome_text:<{self._column}} "
        return self._layout.item(head, style, says)

    def _message(self, check: CheckLine) -> list[Text]:
        lines = clean(check.message).strip().split("\n")
        if not lines[0] or (check.outcome == "skipped" and lines[0] in self._shown):
            return []
        self._shown.update(line.strip() for line in lines)
        texts = [message_line(line, self._layout, quiet=check.outcome == "skipped") for line in lines]
        return [part for text in texts for part in self._layout.paragraph(self._column + 5, text)]

    def weakness(self, text: str, mistakes: Sequence[Named]) -> Text:
        """Render a weakness without the lines shown above, with the id of a named mistake."""
        first, *rest = clean(text).strip().split("\n")
        made = prose(first)
        if named := next((mistake.id for mistake in mistakes if mistake.says == text), ""):
            made.append(f"  [{named}]", QUIET)
        for line in rest:
            if line.strip() not in self._shown:
                made.append("\n").append_text(message_line(line, self._layout))
        return made


def outcome_mark(outcome: str, signs: Signs) -> tuple[str, str]:
    """Return the sign of a check's outcome, and its style."""
    marks = {
        "passed": (signs.passed, GOOD),
        "skipped": (signs.skipped, QUIET),
        "grader-error": (signs.trouble, TROUBLE),
    }
    return marks.get(outcome, (signs.failed, BAD))


def message_line(line: str, layout: Layout, *, quiet: bool = False) -> Text:
    """Style a line of a check's message; a place in a file is a link."""
    text = Text(line, QUIET if quiet or line.startswith("Asked: ") else "")
    if location := _LOCATION.match(line):
        text.stylize(layout.link(location["path"]), *location.span("path"))
    return text
