"""What an examination's outcomes mean: findings for whole lessons, sentences for single failures."""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.judge.diagnosis.diagnosis import Diagnosis
from grader.judge.diagnosis.error_hints import advice_for
from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import Proxy, Subject
from grader.judge.values import redacted_explanation
from grader.judge.values.compare import is_array, kind_of, same, show
from grader.judge.values.difference_patterns import findings
from grader.model import CheckResult, Counterexample, Course, Named

if TYPE_CHECKING:
    from grader.judge.checks.check import Check
    from grader.judge.examination import Examination
    from grader.source.forbidden_calls import Ban

_PLACE = re.compile(r"^  \S.*\.py:\d+( in |$)")  # a line of a traceback, as `describe` writes it
NO_TIME_LEFT = "Not run: the time for this lesson was used up."
MOST_DEATHS = 2  # after a worker has died this often on one function, its other checks are not run


@dataclass
class Finding:
    """Everything an examination found, before it is put into words for a report."""

    state: str
    checks: list[CheckResult]
    named: list[Named] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    counterexamples: list[Counterexample] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def following_lesson(course: Course, name: str, among: Collection[str] | None = None) -> str | None:
    """The lesson after this one in the syllabus, of those `among` which it must be."""
    names = [each for each in course.lessons if each == name or among is None or each in among]
    index = names.index(name) + 1
    return names[index] if index < len(names) else None


# --- before the checks ------------------------------------------------------------------------------------------------


def would_not_import(examination: Examination, checks: Sequence[Check], error: LearnerError) -> Finding:
    """The file could not be loaded: nothing was checked, and nothing is earned."""
    name, what = examination.lesson.name, "Your file could not be loaded."
    short = f"{what} {redacted_explanation.of_error(error, examination.submission, examination.lesson.forbids)}"
    results = [
        replace(check.result(name, "skipped", what, function=examination.function_of(check)), gist=short)
        for check in checks
    ]
    state = error.kind if error.kind in ("timed-out", "out-of-memory", "crashed") else "would-not-import"
    return Finding(state, results, [_import_mistake(examination, error)])


def _import_mistake(examination: Examination, error: LearnerError) -> Named:
    where = "While your file was being loaded"
    if error.kind == "syntax":
        return Named("syntax-error", "", f"Python cannot read your file.\n{describe(error)}", "Fix the line shown.")
    if error.kind == "timed-out":
        return Named("timeout", "", f"{where}, it did not come to an end.\n{describe(error)}",
                     'Put code that trains or tests behind `if __name__ == "__main__":`.')  # fmt: skip
    if error.kind == "out-of-memory":
        return Named("out-of-memory", "", f"{where}, it asked for more memory than there is. {error.text}",
                     "Make nothing large at the top level of the file.")  # fmt: skip
    if error.kind == "crashed":
        return Named("crashed", "", f"{where}, its process died. {error.text}", "Remove what ends the process.")
    if error.kind == "forbidden":
        return Named("forbidden-call", "", f"{where}, it called `{error.text}`, which this exercise forbids.",
                     "Write it yourself.")  # fmt: skip
    advice = advice_for(f"{error.type_name}: {error.text}")
    return Named("exception", "", f"{where}, it raised an error.\n{describe(error)}", advice)


def cannot_run(examination: Examination, function: str, unmet: Sequence[CheckResult]) -> str:
    """Why a check is not run at all; empty when it is."""
    kind, _ = examination.names["found"].get(function, ("missing", []))
    if kind == "missing":
        return f"`{function}` is not defined in your file."
    if kind == "not-callable":
        return f"`{function}` is not a function."
    if unmet:
        return f"Not run before this passes: {unmet[0].says}"
    if examination.deaths.get(function, 0) >= MOST_DEATHS or time.monotonic() > examination.deadline:
        return NO_TIME_LEFT
    return ""


# --- sentences for one failure ----------------------------------------------------------------------------------------


def describe(error: LearnerError) -> str:
    """An error of the submission in words, with the learner's own lines."""
    if error.kind == "forbidden":
        return f"It calls `{error.text}`, which this exercise forbids: that call would do the exercise whole."
    head = f"{error.type_name}: {error.text}" if error.type_name else error.text
    lines = [head.rstrip(": ")]
    for filename, line, name, code in error.frames:
        lines.append(f"  {filename}:{line} in {name}" if name else f"  {filename}:{line}")
        lines += [f"    {text}" for text in code.splitlines()]
    return "\n".join(lines)


def describe_ban(ban: Ban, path: str) -> str:
    """A forbidden call that stands in the source."""
    return f"{ban.says}\n  {ban.path or path}:{ban.line}"


def asked(subject: Subject | None) -> str:
    """The call that a check made last, in words."""
    if subject is None or subject.last_call is None:
        return ""
    call = subject.last_call
    parts = [_argument(arg) for arg in call.args]
    parts += [f"{name}={_argument(value)}" for name, value in call.kwargs.items()]
    return f"Asked: {call.target}({', '.join(parts)})"


def _argument(value: Any) -> str:
    if isinstance(value, Proxy):
        return value.shown
    if is_array(value) and value.ndim:
        return kind_of(value).removeprefix("a ").replace(" of shape", "")
    return show(value)


def unusable(subject: Subject | None, error: BaseException) -> str:
    """For a value that the check itself stumbled over."""
    value = getattr(subject, "last_value", None)
    if isinstance(error, AssertionError) and str(error):
        return str(error).splitlines()[0]
    if value is None:
        return "It returned None. Is a `return` missing?"
    return f"It returned {kind_of(value)}, which cannot be used as the answer ({type(error).__name__}: {error})."


# --- after the checks -------------------------------------------------------------------------------------------------


def diagnosed(examination: Examination, checks: list[CheckResult]) -> Finding:
    """Name what is wrong, function by function."""
    finding = Finding(_state(checks), checks)
    for function in examination.kinds:
        bad = [check for check in checks if check.function == function and not check.passed]
        if bad and not all(check.outcome == "grader-error" for check in bad):
            _diagnose_function(examination, function, bad, finding)
    # a wrong function that another one calls shows in both, in the same words: said once
    finding.named = list({(named.id, named.says): named for named in reversed(finding.named)}.values())[::-1]
    return finding


def _state(checks: list[CheckResult]) -> str:
    outcomes = {check.outcome for check in checks if check.outcome != "skipped"}
    if "grader-error" in outcomes:
        return "grader-error"
    for state in ("timed-out", "out-of-memory", "crashed"):
        if outcomes == {state}:
            return state
    return "graded"


def _diagnose_function(examination: Examination, function: str, bad: list[CheckResult], finding: Finding) -> None:
    named = _missing(examination, function, bad) or _by_outcome(examination, function, bad)
    if named is not None:
        finding.named.append(named)
        return
    try:
        subject = examination.live_subject()
    except LearnerError as error:
        finding.named.append(_import_mistake(examination, error))
        return
    reference, diagnostician = examination.judge.materials.of(examination.lesson)
    if function not in diagnostician.families:
        finding.named.extend(_by_value(examination, function, bad, Diagnosis()))
        return
    diagnosis = diagnostician.diagnose(function, subject)
    finding.named += diagnosis.named
    if diagnosis.format_note:
        finding.named.append(_wrong_format(function, diagnosis.format_note))
    if not diagnosis.named:
        general = _by_value(examination, function, bad, diagnosis)
        finding.named += general
        finding.stages += [] if general or diagnosis.format_note else _stages(function, diagnosis, bad)
    examples = diagnostician.families[function].examples
    finding.counterexamples += _smallest(function, examples, subject, reference)


def _missing(examination: Examination, function: str, bad: list[CheckResult]) -> Named | None:
    kind, parameters = examination.names["found"].get(function, ("missing", []))
    if kind == "missing":
        close = difflib.get_close_matches(function, examination.names["public"], 1, 0.6)
        seen = f" There is a `{close[0]}`: is that the one?" if close else ""
        lesson = examination.lesson.name
        advice = (
            f"Name it exactly `{function}`." if close else f"Write it; `learn reset {lesson}` brings the stub back."
        )
        return Named("missing-function", function, f"Your file does not define `{function}`.{seen}", advice)
    if kind == "not-callable":
        return Named(
            "missing-function", function, f"`{function}` is not a function.", f"Define it: `def {function}(...)`."
        )
    wanted = next(f for f in examination.lesson.functions if f.name == function).signature
    refused = [check for check in bad if check.outcome == "raised" and check.message.startswith("TypeError")]
    if any("argument" in check.message.splitlines()[0] for check in refused) and not _accepts(parameters, wanted):
        what = f"`{function}` takes ({', '.join(parameters)}); it must take {wanted}."
        return Named("wrong-signature", function, what, f"Write `{function}{wanted}` as in the exercise.")
    return None


def _accepts(parameters: Sequence[str], wanted: str) -> bool:
    """Whether a function with these parameters can be called as the exercise says."""
    expected = [part.split("=")[0].strip() for part in wanted.strip("()").split(",") if part.strip()]
    return any(name.startswith("*") for name in parameters) or list(parameters[: len(expected)]) == expected


def _by_outcome(examination: Examination, function: str, bad: list[CheckResult]) -> Named | None:
    """What the way the checks ended says, before any probe is run."""
    # what was not run for want of time says nothing where something else ended: a flood of output, say
    ended = [check for check in bad if check.message != NO_TIME_LEFT] or bad
    first = {check.outcome: check for check in reversed(ended)}
    ran = [check for check in bad if check.outcome != "skipped"]
    # torch raises NotImplementedError too, for a dtype that an operation does not know: the learner's own line tells
    if ran and all(check.outcome == "raised" and "raise NotImplementedError" in check.message for check in ran):
        other = _stub_beside(examination, ran[0])
        if other:
            what = f"`{function}` uses your {other}.py, and that is not written yet."
            return Named("exception", function, what, f"Write {other}.py first: `learn read {other}`.")
        return Named("stub", function, f"`{function}` is not written yet.", f"Write `{function}`, then check again.")
    if "forbidden" in first:
        return Named("forbidden-call", function, first["forbidden"].message.splitlines()[0],
                     "Write it from simpler operations; the docstring lists what is allowed.")  # fmt: skip
    if "timed-out" in first:
        seconds = examination.judge.course.limits.call_seconds
        place = _place_of(examination, first["timed-out"])
        where = f" It was at {place}." if place else ""
        return Named("timeout", function, f"`{function}` did not come back within {seconds:g} s.{where}",
                     "Look for a loop that never ends, or one over single elements.")  # fmt: skip
    if "out-of-memory" in first:
        return Named("out-of-memory", function, f"`{function}` asked for more memory than there is.",
                     "Print the shapes: a broadcast may have made a tensor far larger than meant.")  # fmt: skip
    if "crashed" in first:
        why = first["crashed"].message.splitlines()[0]
        return Named("crashed", function, f"The process died in `{function}`. {why}",
                     "Remove what ends the process (`os._exit`) or floods its output.")  # fmt: skip
    return None


def _stub_beside(examination: Examination, check: CheckResult) -> str:
    """The lesson whose stub raised, if it is another one that this file imports."""
    path = _place_of(examination, check).rpartition(":")[0] or examination.submission.path
    return "" if path == examination.submission.path else Path(path).stem


def _wrong_format(function: str, note: str) -> Named:
    return Named(
        "wrong-format", function, f"`{function}`: {note}", "Give back exactly what the docstring's Returns says."
    )


def _by_value(examination: Examination, function: str, bad: list[CheckResult], diagnosis: Diagnosis) -> list[Named]:
    """Mistakes of no lesson in particular: nothing returned, an error raised."""
    if diagnosis.format_note:
        return []
    if any("returned None" in check.message for check in bad) and not any(check.outcome == "raised" for check in bad):
        return [Named("returned-none", function, f"`{function}` returns None.", "End it with `return` and the result.")]
    raised = [check for check in bad if check.outcome == "raised"]
    return [_exception(examination, function, raised[0])] if raised else []


def _place_of(examination: Examination, check: CheckResult) -> str:
    """The innermost of the learner's lines that a check's message names, as path:line. An error's own text may look
    like such a line: only files that were handed in count."""
    submission = examination.submission
    files = {submission.path, *(path for path, _ in submission.siblings.values())}
    lines = [line.strip().split(" in ")[0] for line in check.message.splitlines() if _PLACE.match(line)]
    places = [place for place in lines if place.rpartition(":")[0] in files]
    return places[-1] if places else ""


def _exception(examination: Examination, function: str, check: CheckResult) -> Named:
    """An error that the function raises: what, where, and what it usually means. The place may be in another lesson's
    file that this one imports."""
    head = check.message.splitlines()[0]
    place = _place_of(examination, check)
    path = place.rpartition(":")[0]
    where = f" ({place})" if place else ""
    if path and path != examination.submission.path:
        what = f"`{function}` uses your {Path(path).name}, which raises an error{where}: {head}"
        command = f": `learn check {Path(path).stem}`" if Path(path).stem in examination.judge.course.lessons else ""
        return Named("exception", function, what, f"Fix {Path(path).name} first{command}.")
    return Named("exception", function, f"`{function}` raises an error{where}: {head}", advice_for(head))


def _stages(function: str, diagnosis: Diagnosis, bad: list[CheckResult]) -> list[str]:
    """Where right ends and wrong begins, and what the numbers show there; where they show nothing regular, what the
    first check says that did not pass."""
    said = []
    if diagnosis.wrong:
        right = f"Right {_listed(diagnosis.right)}; wrong" if diagnosis.right else "Wrong"
        said.append(f"`{function}`: {right} {_listed(diagnosis.wrong[:3])}.")
    if diagnosis.first_wrong is None:
        return said
    probe, actual, expected = diagnosis.first_wrong
    regular = [f"`{function}`, {probe.name}: {text}" for text in findings(actual, expected)]
    return said + (regular or [f"`{function}`: {check.message.splitlines()[0]}" for check in bad if check.message][:1])


def _listed(stages: Sequence[str]) -> str:
    unique = list(dict.fromkeys(stages))
    return ", ".join(unique[:-1]) + " and " + unique[-1] if len(unique) > 1 else unique[0]


def _smallest(function: str, examples: Sequence[Any], subject: Subject, reference: Subject) -> list[Counterexample]:
    """The first of the lesson's small examples on which the submission differs."""
    for example in examples:
        expected = getattr(reference, function)(*example.args, **example.kwargs)
        try:
            actual = getattr(subject, function)(*example.args, **example.kwargs)
            yours = show(actual)
        except LearnerError as error:
            actual, yours = (
                error,
                f"{error.type_name or error.kind}: {error.text.splitlines()[0] if error.text else ''}",
            )
        if not same(actual, expected):
            parts = [show(arg) for arg in example.args] + [f"{k}={show(v)}" for k, v in example.kwargs.items()]
            return [Counterexample(function, f"{function}({', '.join(parts)})", yours, show(expected))]
    return []
