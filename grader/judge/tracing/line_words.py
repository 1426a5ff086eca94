"""Say in words on which line right ends, and why that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.judge.tracing.matching import Right, WrongStep, is_equal, is_lost
from grader.judge.tracing.numbers_elsewhere import CONSTANT, STEP
from grader.judge.tracing.relations import EQUAL, relate
from grader.judge.tracing.trace import Trace, describe_number, is_number
from grader.judge.values.compare import is_array
from grader.model import WrongLine
from grader.worker.watch.watched_source import AFTER, RETURN, Place

MAX_SHOWN_CHARS = 60  # of a line's expression
WITHOUT_QUOTE = "what it gives"
ANSWER = "the right answer"
UNNAMED = "what the reference has there"


def describe(function: str, found: WrongStep, trace: Trace, source: str, right: Sequence[Right]) -> WrongLine | None:
    """Return what is said of a wrong step; None where that would mislead.

    Args:
        source: That of the submission, from which all that is quoted is taken.
        right: What the reference gave, the answer last.
    """
    if _is_right(found, trace):
        return None
    lines = source.split("\n")  # as Python counts: `splitlines` knows other ends, which may stand in a text
    place = trace.steps[found.index].place
    words = _Words(lines, right)
    parts = []
    last_right = 0
    if found.before:
        before = trace.steps[found.before.step].place
        last_right = before.line
        own = f"your `{before.names[0]}`" if before.names[0] != RETURN else "what it returns"
        in_pass = _pass_of(trace, found.before.step) if found.which_pass else ""
        parts.append(f"Line {before.line} {words.tell_right(found.before.right, own, in_pass)}")
    which = f" (in pass {found.which_pass} of {found.passes} through it)" if found.which_pass else ""
    said = words.explain(found, place, trace)
    where = "is where something is missing" if said and _is_earlier_step(found) else "is where it goes wrong"
    where = where if found.expected or found.is_named else "is the first that differs"
    quoted = said or words.quote(place) + "."
    parts.append(f"Line {place.line} {where}{which}" + (f": {quoted}" if quoted != f"{WITHOUT_QUOTE}." else "."))
    gist = f"`{function}`: line {place.line} {where}."
    return WrongLine(function, place.line, last_right, f"`{function}`: {' '.join(parts)}", gist)


def _is_right(found: WrongStep, trace: Trace) -> bool:
    """Return True where what is returned has the right values, or an argument is only named: nothing goes wrong there.

    What is wrong is then the kind of the numbers, or what this call does not show, or stands elsewhere.
    """
    step, match = trace.steps[found.index], found.found
    if found.expected is None or is_number(found.expected.value):
        return False
    if step.place.kind == "Name" and not trace.returned:
        return bool(match and match.relation == EQUAL and match.right.given == {match.right.index})
    return is_equal(step.value, found.expected.value) and _returns(trace, step.value)


def _returns(trace: Trace, value: Any) -> bool:
    """Return True if a call returned these values, of whatever kind."""
    return bool(trace.returned and is_array(trace.returned[0]) and is_equal(trace.returned[0], value))


def _pass_of(trace: Trace, index: int) -> str:
    """Say in which pass a step is, where it ran several times."""
    step = trace.steps[index]
    passes = [other for other in trace.passes[step.number] if trace.steps[other].part == step.part]
    return f" in pass {passes.index(index) + 1}" if len(passes) > 1 else ""


def _is_literal(text: str, value: Any) -> bool:
    """Return True if a text is the number itself."""
    try:
        return bool(float(text) == value)
    except ValueError:
        return text == str(value)


def _is_earlier_step(found: WrongStep) -> bool:
    """Return True where a line is right as far as it goes: the reference makes what belongs there of it."""
    match, expected = found.found, found.expected
    return bool(
        match
        and expected
        and is_array(expected.value)
        and match.relation == EQUAL
        and match.right.index in expected.made_of
    )


def is_exchanged(found: WrongStep) -> bool:
    """Return True where a line gives a value of the reference from which it does not make what belongs there."""
    match = found.found
    return bool(match and match.relation == EQUAL and is_array(match.right.value)) and not _is_earlier_step(found)


def _compare(here: str, wanted: str, relation: str) -> str:
    """Say what an expression is in place of a value that is wanted."""
    if relation.startswith("it "):
        return f"{here} is {wanted if wanted != UNNAMED else 'what belongs there'},{relation[2:]}."
    return f"{here} should be {wanted}, but is {relation}."


class _Words:
    """Names values of the reference and quotes the submission."""

    def __init__(self, lines: Sequence[str], right: Sequence[Right]) -> None:
        self.lines, self.right = lines, right

    def name(self, right: Right) -> str:
        """Name a value of the reference: by its variable, and by its step where the variable has several."""
        if right is self.right[-1]:
            return ANSWER
        if is_lost(right.value):
            return UNNAMED
        if not right.name:
            return f"what the reference's step `{right.mark}` gives" if right.mark else UNNAMED
        steps = {other.mark for other in self.right if other.name == right.name and other.mark}
        after = f" after its step `{right.mark}`" if right.mark and len(steps) > 1 else ""
        return f"the reference's `{right.name}`{after}"

    def tell_right(self, right: Right, own: str, in_pass: str) -> str:
        """Say what a line that is right holds; not that it is right, where the reference does more to this variable.

        What it does then, as to divide by √d_k, may be what is missing, and its place is that line.
        """
        later = [other for other in self.right if other.name == right.name and other.index > right.index and other.mark]
        if right.name and any(other.mark != right.mark for other in later):
            return (
                f"holds{in_pass} what the reference's step `{right.mark}` gives: {own} equals its `{right.name}` there."
            )
        return f"is right{in_pass}: {own} equals {self.name(right)}."

    def explain(self, found: WrongStep, place: Place, trace: Trace) -> str:
        """Say what there is and what belongs there; nothing where that has no name, or only its kind is wrong."""
        here, expected, value = self.quote(place), found.expected, trace.steps[found.index].value
        if found.is_named:
            return self._name_mistake(place)
        if expected is None:
            return f"the reference makes nothing that equals {here}, not even reshaped, transposed or scaled."
        if is_number(expected.value):
            known = "" if _is_literal(here.strip("`"), value) else f", which is {describe_number(value)}"
            if found.number_is == STEP and not (expected.name or expected.mark):
                number = describe_number(expected.value)
                changes = "this answer is right, but other inputs need another number"
                return f"with {number} in place of {here}{known}, {changes}."
            return f"with {self._number(found, expected)} in place of {here}{known}, {found.mends} is right."
        wanted = self.name(expected)
        if is_equal(value, expected.value):
            return f"{here if here != WITHOUT_QUOTE else 'it'} gives {wanted}, but nothing in your code keeps it."
        if found.found is None:  # of the answer that would be true of any value
            which = f" ({wanted})" if wanted != UNNAMED else ""
            says = f"with the right value in place of {here}{which}, {found.mends} is right."
            return says if wanted != ANSWER else ""
        if _returns(trace, self.right[-1].value):
            return ""
        if found.found.relation == EQUAL:
            relation = relate(expected.value, value) if is_array(value) and is_array(expected.value) else ""
            form = f", which is {relation}" if relation else ""
            has = self.name(found.found.right)
            if has == wanted == UNNAMED and not form:
                return ""
            return f"{here} is {has}, but what follows needs {wanted if wanted != UNNAMED else 'another value'}{form}."
        return _compare(here, wanted, found.found.relation)

    def _name_mistake(self, place: Place) -> str:
        """Say what a line gives that a named mistake gives as well."""
        here = self._text(place.span)
        if place.kind == AFTER:
            return f"{here} leaves in `{place.name}` exactly what the named mistake leaves there."
        return f"{here if here != WITHOUT_QUOTE else 'it'} gives exactly what the named mistake gives there."

    def _number(self, found: WrongStep, expected: Right) -> str:
        """Say which number belongs in a place."""
        number = describe_number(expected.value)
        if found.number_is == STEP:
            return f"{self.name(expected)}, which is {number},"
        return number if found.number_is == CONSTANT else f"`{found.number_is}`"

    def quote(self, place: Place) -> str:
        """Quote an expression of the submission."""
        return f"`{place.name}` as it is then" if place.kind == AFTER else self._text(place.span)

    def _text(self, span: tuple[int, int, int, int]) -> str:
        first, begin, last, end = span
        if first != last or first > len(self.lines):
            return WITHOUT_QUOTE
        text = self.lines[first - 1].encode()[begin:end].decode(errors="replace")
        return f"`{text}`" if len(text) <= MAX_SHOWN_CHARS else WITHOUT_QUOTE
