"""Find the line that cuts a gradient off: the one without which all is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from grader.judge.errors import LearnerError
from grader.model import CheckResult, WrongLine
from grader.source.gradient_cuts import find_cuts, without

MAX_CUTS = 3  # of more, which of them do harm takes too long to try

CheckSource = Callable[[str], Sequence[CheckResult]]


def find_gradient_lines(
    source: str, results: Sequence[CheckResult], functions: Sequence[str], check: CheckSource
) -> Iterator[WrongLine]:
    """Yield for each function that is right but for its gradients the line that cuts them off, if that is certain.

    Args:
        results: Of the checks on that source.
        check: Checks another source in its place.
    """
    for function in functions:
        bad = {result.skill for result in results if result.function == function and not result.passed}
        with suppress(LearnerError, SyntaxError, RecursionError):
            if bad == {"gradients"} and (found := _find_gradient_line(function, source, check)):
                yield found


def _find_gradient_line(function: str, source: str, check: CheckSource) -> WrongLine | None:
    def is_right(other: str) -> bool:
        return all(result.passed for result in check(other) if result.function == function)

    harmful = cuts = find_cuts(source)
    if not 0 < len(cuts) <= MAX_CUTS or not is_right(without(source, cuts)):
        return None
    for cut in cuts:  # a maximum may be detached without harm
        fewer = [each for each in harmful if each is not cut]
        if fewer and is_right(without(source, fewer)):
            harmful = fewer
    line, *others = dict.fromkeys(cut.line for cut in harmful)
    both = f"Lines {line} and {' and '.join(map(str, others))} cut" if others else f"Line {line} cuts"
    cuts_off = f"`{function}`: {both} the gradient off"
    return WrongLine(function, line, 0, f"{cuts_off}: without `{harmful[0].text}` all is right.", f"{cuts_off}.")
