"""Take everything out of a record that shows a hidden input: what is left may be shown to a learner.

A submission is given the inputs, and may put them into anything that it makes. So nothing that it made is kept: no
output, no text or class name of an error, no value, no size, no duration. Kept are the check's sentence, its outcome,
its points, its gist (see grader/judge/values/redacted_explanation.py), the mistakes that the course names, strengths,
and what to do next. The seed goes too: with it the inputs could be drawn again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.model import CheckResult, LessonResult, Named, Suggestion
from grader.record import Record
from grader.reports.shown_detail import detail_of

# The mistakes that the engine names, whose sentences may quote the submission, and what is said in their place. All
# other mistakes are the course's, with fixed sentences.
INSTEAD = {
    "stub": "`{function}` is not written yet.",
    "returned-none": "`{function}` returns None.",
    "missing-function": "Your file does not define `{function}` as the exercise asks.",
    "wrong-signature": "`{function}` takes other arguments than the exercise says.",
    "wrong-format": "`{function}` gives back something else than its docstring says.",
    "randomness": "`{function}` draws random numbers: dropout is on.",
    "wrong-default": "`{function}` has another default than the exercise says.",
    "no-gradient": "No gradient reaches an input of `{function}`.",
    "wrong-gradient": "The values of `{function}` are right, and the gradient is not.",
    "no-influence": "An input of `{function}` has no influence on its answer.",
    "all-zero": "`{function}` gives 0 everywhere, where it should not.",
    "wrong-factor": "In `{function}` a constant is missing or too much.",
    "wrong-scale": "In `{function}` a factor of all values is wrong.",
    "wrong-weights": "`{function}` makes weights with another scale or sum.",
    "wrong-order": "The values of `{function}` are there, in another order or shape.",
    "wrong-parts": "`{function}` returns the right parts in another order.",
    "inverted": "`{function}` answers the opposite.",
    "sees-too-much": "The answer of `{function}` depends on a part of its input that it must not see.",
    "changes-arguments": "`{function}` changes what it was given.",
    "not-repeatable": "`{function}` gives another answer when it is called again.",
    "shared-default": "A default of `{function}` is shared by all calls.",
    "shared-state": "An object of `{function}` is wrong once another one has been made.",
    "exception": "`{function}` raises an error.",
    "timeout": "`{function}` did not come back in time.",
    "out-of-memory": "`{function}` asked for more memory than there is.",
    "crashed": "The process died in `{function}`.",
    "forbidden-call": "`{function}` uses what this exercise forbids, or what could hide it.",
    "syntax-error": "Python cannot read `{function}`.",
    "unreadable-file": "The file of `{function}` cannot be read.",
}
NOT_LOADED = "Your file could not be loaded."
OUTCOME_OF = {"exception": "raised", "timeout": "timed-out", "forbidden-call": "forbidden", "crashed": "crashed"}
LINE_SHOWN = "the line shown"
NO_LINE = "Run the file yourself: Python says on which line it stops."  # for advice on a line that is not shown
ANOTHER_ERROR = "It raises another error here."
CHOSEN = re.compile(r"(Wrong shape: |Wrong dtype: |It returned |It calls )(?!None; ).+?([;,] (?:expected|which) )")
GRADER_FAILED = "The grader itself failed on this submission; its author is not to blame, and it costs no points."


def redact(record: Record) -> Record:
    """Return the record as its learner may see it. To redact it again changes nothing."""
    lessons = {name: _redact_lesson(lesson) for name, lesson in record.lessons.items()}
    problem = GRADER_FAILED if record.grader_failed and record.problem else record.problem
    return replace(record, problem=problem, duration_s=None, lessons=lessons, redacted=True)


def _redact_lesson(lesson: LessonResult) -> LessonResult:
    first: dict[tuple[str, str], str] = {}
    checks = tuple(_redact_check(check, first) for check in _without_parameters(lesson.checks))
    mistakes = tuple(_redact_mistake(mistake, checks) for mistake in lesson.mistakes)
    lines = tuple(replace(line, right=0, says=line.gist) for line in lesson.lines)
    return replace(
        lesson,
        seed=None,
        duration_s=None,
        output="",
        notes=tuple(note for note in lesson.notes if note not in lesson.measured),
        measured=(),
        counterexamples=(),
        checks=checks,
        mistakes=mistakes,
        lines=lines,
        weaknesses=() if lesson.passed else (*_weaknesses(lesson, mistakes, checks), *(line.says for line in lines)),
        suggestions=_suggestions(lesson.suggestions, mistakes),
    )


def _without_parameters(checks: Sequence[CheckResult]) -> Iterator[CheckResult]:
    """Yield the checks with numbers for their inputs, `attention.scale[2]`: the parameters say what is asked."""
    seen: Counter[str] = Counter()
    for check in checks:
        name, bracket, _ = check.id.partition("[")
        seen[name] += 1
        yield replace(check, id=f"{name}[{seen[name]}]") if bracket else check


def _redact_check(check: CheckResult, first: dict[tuple[str, str], str]) -> CheckResult:
    """Keep the gist; one with other details than the function's first of that outcome, without its details."""
    # the engine itself says why a check was not run
    message = check.gist or (check.message if check.outcome == "skipped" else "")
    if message != first.setdefault((check.function, check.outcome), message):
        message = _without_details(message, check.outcome)
    if message == check.message == check.gist and not check.output:
        return check  # most: they passed
    return replace(check, message=message, gist=message, output="")


def _without_details(message: str, outcome: str) -> str:
    """Leave out of a gist what a submission can choose among many: types of errors, lines, shapes, dtypes, calls."""
    if outcome == "raised":
        return ANOTHER_ERROR
    return CHOSEN.sub(r"\1something else\2", message.partition(" It was on line ")[0])


def _redact_mistake(mistake: Named, checks: Sequence[CheckResult]) -> Named:
    says, suggests = _says(mistake, checks), mistake.suggests
    if LINE_SHOWN in suggests and " on line " not in says:
        suggests = NO_LINE
    return replace(mistake, says=says, suggests=suggests)


def _suggestions(suggestions: Sequence[Suggestion], mistakes: Sequence[Named]) -> tuple[Suggestion, ...]:
    """Keep what this reader can do: a line is mentioned only if one is shown, and the reference is the instructor's."""
    shown = {mistake.suggests for mistake in mistakes}
    return tuple(
        replace(each, says=NO_LINE) if LINE_SHOWN in each.says and each.says not in shown else each
        for each in suggestions
        if not each.command.startswith("learn solution ")
    )


def _says(mistake: Named, checks: Sequence[CheckResult]) -> str:
    if mistake.id not in INSTEAD:
        return mistake.says
    if not mistake.function:  # the file as a whole: every check says why
        return next((check.message for check in checks if check.message), NOT_LOADED)
    says = detail_of(mistake) or INSTEAD[mistake.id].format(function=mistake.function)
    ended = OUTCOME_OF.get(mistake.id)
    details = [check.message for check in checks if check.function == mistake.function and check.outcome == ended]
    return f"{says} {details[0]}".strip() if details else says


def _weaknesses(lesson: LessonResult, mistakes: Sequence[Named], checks: Sequence[CheckResult]) -> list[str]:
    """List each mistake; and of a function without a named one, the first check that did not pass.

    Of one that only calls a function whose mistake is named, nothing is said: no more than in the full record.
    """
    said = list(dict.fromkeys(mistake.says for mistake in mistakes))
    named = {mistake.function for mistake in mistakes}
    for check in checks:
        if check.outcome in ("passed", "skipped", "grader-error") or named & {"", check.function}:
            continue
        named.add(check.function)
        if mistakes and not _is_spoken_of(check.function, lesson):
            continue
        said.append(f"{check.says} — {check.message}" if check.message else check.says)
    return said


def _is_spoken_of(function: str, lesson: LessonResult) -> bool:
    """Return True if the weaknesses say something of a function, other than a line."""
    begins = (f"`{function}`", *(check.says for check in lesson.checks if check.function == function))
    lines = {line.says for line in lesson.lines}
    return any(text.startswith(begins) for text in lesson.weaknesses if text not in lines)
