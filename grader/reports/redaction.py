"""A record without anything that shows a hidden input: what a learner may be told of checks that stay hidden.

A submission is given the inputs, and may put them into anything of its own. So nothing of its own is kept: no output,
no text or class name of an error, no value, no sizes of its choosing, no time that it took. Kept are the check's
sentence, how it ended, its points, its gist (see grader/judge/values/redacted_explanation.py), the mistakes that the
course names, strengths, and what to do next. The seed goes too: with it the inputs could be drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Checks = Sequence[Mapping[str, Any]]

# The mistakes that the engine itself names, whose sentences may quote the submission: what is said of them instead.
# All others are the course's, and fixed.
INSTEAD = {
    "stub": "`{function}` is not written yet.",
    "returned-none": "`{function}` returns None.",
    "missing-function": "Your file does not define `{function}` as the exercise asks.",
    "wrong-signature": "`{function}` takes other arguments than the exercise says.",
    "wrong-format": "`{function}` gives back something else than its docstring's Returns says.",
    "exception": "`{function}` raises an error.",
    "timeout": "`{function}` did not come back in time.",
    "out-of-memory": "`{function}` asked for more memory than there is.",
    "crashed": "The process died in `{function}`.",
    "forbidden-call": "`{function}` calls what this exercise forbids.",
    "syntax-error": "Python cannot read `{function}`.",
    "unreadable-file": "The file of `{function}` cannot be read.",
}
NOT_LOADED = "Your file could not be loaded."
DETAIL_OF = {"exception": "raised", "timeout": "timed-out", "forbidden-call": "forbidden", "crashed": "crashed"}
LINE_SHOWN = "the line shown"
NO_LINE = "Run the file yourself: Python says on which line it stops."  # for advice on a line that is not shown
GRADER_FAILED = "The grader itself failed on this submission; its author is not to blame, and it costs no points."


def concealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a submission as feedback may show it. `concealed` of the result is True; applying it again changes
    nothing."""
    lessons = {name: _lesson(lesson) for name, lesson in record["lessons"].items()}
    failed = "grader-error" in record["states"]
    problem = GRADER_FAILED if failed and record["problem"] else record["problem"]
    return {**record, "problem": problem, "duration_s": None, "lessons": lessons, "concealed": True}


def _lesson(lesson: Mapping[str, Any]) -> dict[str, Any]:
    checks = [_check(check) for check in lesson["checks"]]
    mistakes = [_mistake(mistake, checks) for mistake in lesson["mistakes"]]
    hidden: dict[str, Any] = {"seed": None, "duration_s": None, "output": "", "counterexamples": []}
    weaknesses = [] if lesson["passed"] else _weaknesses(mistakes, checks)
    suggestions = _suggestions(lesson["suggestions"], mistakes)
    told = {"checks": checks, "mistakes": mistakes, "weaknesses": weaknesses, "suggestions": suggestions}
    return {**lesson, **hidden, **told}


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    # why a check was not run is said in our words
    message = check.get("gist") or (check["message"] if check["outcome"] == "skipped" else "")
    return {**check, "message": message, "gist": message, "output": ""}


def _mistake(mistake: Mapping[str, Any], checks: Checks) -> dict[str, Any]:
    says, suggests = _says(mistake, checks), mistake["suggests"]
    if LINE_SHOWN in suggests and " on line " not in says:
        suggests = NO_LINE
    return {**mistake, "says": says, "suggests": suggests}


def _suggestions(suggestions: Checks, mistakes: Checks) -> list[dict[str, Any]]:
    """What can be done by whoever sees this: a line is spoken of only where one is shown, and the reference is with the
    instructor."""
    shown = {mistake["suggests"] for mistake in mistakes}
    return [
        {**each, "says": NO_LINE if LINE_SHOWN in each["says"] and each["says"] not in shown else each["says"]}
        for each in suggestions
        if not each["command"].startswith("learn solution ")
    ]


def _says(mistake: Mapping[str, Any], checks: Checks) -> str:
    name, function = mistake["id"], mistake["function"]
    if name not in INSTEAD:
        return str(mistake["says"])
    if not function:  # the file as a whole: every check says why
        return next((check["message"] for check in checks if check["message"]), NOT_LOADED)
    says = INSTEAD[name].format(function=function)
    ended = DETAIL_OF.get(name)
    details = [check["message"] for check in checks if check["function"] == function and check["outcome"] == ended]
    return f"{says} {details[0]}".strip() if details else says


def _weaknesses(mistakes: Checks, checks: Checks) -> list[str]:
    """Each mistake; and where none has a name, the first check of the function that did not pass."""
    said = list(dict.fromkeys(mistake["says"] for mistake in mistakes))
    named = {mistake["function"] for mistake in mistakes}
    for check in checks:
        if check["outcome"] in ("passed", "skipped", "grader-error") or named & {"", check["function"]}:
            continue
        named.add(check["function"])
        said.append(f"{check['says']} — {check['message']}" if check["message"] else check["says"])
    return said
