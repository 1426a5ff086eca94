"""Say in words on which line right ends, and why that is known."""

from __future__ import annotations

from collections.abc import Sequence

from grader.judge.tracing.matching import Right, is_equal
from grader.judge.tracing.relations import EQUAL, relate
from grader.judge.tracing.trace import Trace, is_number
from grader.judge.tracing.wrong_line import WrongStep
from grader.judge.values.compare import is_array
from grader.model import WrongLine
from grader.worker.watched_source import AFTER, RETURN, Place

MAX_SHOWN_CHARS = 60  # of a line's expression


def describe(function: str, found: WrongStep, trace: Trace, source: str, right: Sequence[Right]) -> WrongLine:
    """Return what is said of a wrong step.

    Args:
        source: That of the submission, from which all that is quoted is taken.
        right: What the reference gave, the answer last.
    """
    lines = source.split("\n")  # as Python counts: `splitlines` knows other ends, which may stand in a text
    place = trace.steps[found.index].place
    words = _Words(lines, right)
    parts = []
    last_right = 0
    if found.before:
        before = trace.steps[found.before.step].place
        last_right = before.line
        own = f"your `{before.names[0]}`" if before.names[0] != RETURN else "what it returns"
        parts.append(f"Line {before.line} is right: {own} equals {words.name(found.before.right)}.")
    which = f" (in pass {found.which_pass} of {found.passes})" if found.which_pass else ""
    where = "is where something is missing" if _is_earlier_step(found) else "is where it goes wrong"
    parts.append(f"Line {place.line} {where}{which}: {words.explain(found, place, trace)}")
    gist = f"`{function}`: line {place.line} is where it goes wrong."
    return WrongLine(function, place.line, last_right, f"`{function}`: {' '.join(parts)}", gist)


def _is_earlier_step(found: WrongStep) -> bool:
    """Return True where a line is right as far as it goes: it is what the reference has some steps before."""
    match, expected = found.found, found.expected
    return bool(
        match and expected and match.relation == EQUAL and match.right.mark and match.right.index < expected.index
    )


class _Words:
    """Names values of the reference and quotes the submission."""

    def __init__(self, lines: Sequence[str], right: Sequence[Right]) -> None:
        self.lines, self.right = lines, right

    def name(self, right: Right) -> str:
        """Name a value of the reference: by its variable, and by its step where the variable has several."""
        if right is self.right[-1]:
            return "the right answer"
        if not right.name:
            return f"the reference's step `{right.mark}`" if right.mark else "what the reference has there"
        steps = {other.mark for other in self.right if other.name == right.name and other.mark}
        after = f" after its step `{right.mark}`" if right.mark and len(steps) > 1 else ""
        return f"the reference's `{right.name}`{after}"

    def explain(self, found: WrongStep, place: Place, trace: Trace) -> str:
        """Say what there is and what belongs there."""
        here, expected, value = self.quote(place), found.expected, trace.steps[found.index].value
        if expected is None:
            return f"{here} is the first value that is none of the reference's, nor made from one by a change of form."
        if is_number(expected.value):
            known = f", which is {_short(value)}" if here != f"`{_short(value)}`" else ""
            return f"with {_short(expected.value)} in place of {here}{known}, the answer is right."
        wanted = self.name(expected)
        if is_equal(value, expected.value):
            return f"{here} gives {wanted}, which is kept nowhere."
        if found.found is None:
            return f"with {wanted} in place of {here} all that follows is right."
        if found.found.relation == EQUAL:
            relation = relate(expected.value, value) if is_array(value) and is_array(expected.value) else ""
            form = f", which is {relation}" if relation else ""
            return f"{here} is {self.name(found.found.right)}; what follows needs {wanted}{form}."
        return f"{here} should be {wanted}, and is {found.found.relation}."

    def quote(self, place: Place) -> str:
        """Quote an expression of the submission."""
        first, begin, last, end = place.span
        if place.kind == AFTER:
            return f"`{place.name}` as it is then"
        if first != last or first > len(self.lines):
            return "what it gives"
        text = self.lines[first - 1].encode()[begin:end].decode(errors="replace")
        return f"`{text}`" if len(text) <= MAX_SHOWN_CHARS else "what it gives"


def _short(number: float) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)
