"""From the outcome of a check to the sentences that a learner reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grader.judge.checks.run_checks import Outcome
from grader.judge.errors import CheckFailed, LearnerError
from grader.judge.processes.remote_module import Call, RemoteFunction
from grader.judge.values import redacted_explanation
from grader.judge.values.compare import is_array, kind_of, show
from grader.model import CheckResult, Lesson, Submission
from grader.source.forbidden_calls import HIDES

ONLY_FORM = "But for that, it is right here: such a fault is counted once."
PASSES_ON_CPU = "On the CPU all its checks pass: what is said here is of the GPU."


def make_check_result(outcome: Outcome, lesson: Lesson, submission: Submission) -> CheckResult:
    """Put an outcome into words: a message with all of it, and an explanation that shows no hidden input."""
    check, error = outcome.check, outcome.error
    if error is None:
        call, message = outcome.forbidden, outcome.reason
        if call is not None:
            message = f"{call.says}\n  {call.path or submission.path}:{call.line}"
        return check.result(lesson, outcome.kind, message, outcome.output, form=outcome.mended)
    message, redacted = _explain(outcome, error, lesson, submission)
    if outcome.call is not None and outcome.kind != "grader-error":
        message = f"{message}\n{_describe_call(outcome.call)}"
    if outcome.mended:
        message, redacted = f"{message}\n{ONLY_FORM}", f"{redacted} {ONLY_FORM}"
    return check.result(lesson, outcome.kind, message, outcome.output, redacted, outcome.mended)


def _explain(outcome: Outcome, error: BaseException, lesson: Lesson, submission: Submission) -> tuple[str, str]:
    """Return the message for an error, and its redacted explanation."""
    if isinstance(error, LearnerError):
        return describe_error(error), redacted_explanation.explain_error(error, submission, lesson.forbids)
    if isinstance(error, CheckFailed):
        redacted = redacted_explanation.explain_failure(str(error), error.form, error.hint, outcome.check.item.path)
        return str(error), redacted
    if outcome.kind == "failed":
        return _describe_unusable(outcome.value, error), redacted_explanation.explain_unusable(outcome.value)
    message = f"The check itself failed: {type(error).__name__}: {error}"
    return message, "The grader itself failed on this check; it does not count."


def describe_error(error: LearnerError) -> str:
    """Describe an error of the submission, with the learner's own lines."""
    if error.kind == "forbidden":
        if "." in error.text:  # no call that is forbidden, but a door behind which it would not be seen
            says = f"It uses `{error.text}`, {HIDES}"
            return "\n".join([says, *show_frames(error.frames[-1:])])
        return f"It calls `{error.text}`, which this exercise forbids: it is to be done without that call."
    head = f"{error.type_name}: {error.text}" if error.type_name else error.text
    return "\n".join([head.rstrip(": "), *show_frames(error.frames)])


def show_frames(frames: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines that show where in a learner's files an error was raised."""
    for filename, line, name, code in frames:
        yield f"  {filename}:{line} in {name}" if name else f"  {filename}:{line}"
        yield from (f"    {text}" for text in code.splitlines())


def _describe_call(call: Call) -> str:
    """Describe the call that a check made last."""
    parts = [_describe_argument(arg) for arg in call.args]
    parts += [f"{name}={_describe_argument(value)}" for name, value in call.kwargs.items()]
    return f"Asked: {call.target}({', '.join(parts)})"


def _describe_argument(value: Any) -> str:
    if isinstance(value, RemoteFunction):
        return value.shown
    if is_array(value) and value.ndim:
        return kind_of(value).partition(" ")[2].replace(" of shape", "")
    return show(value)


def _describe_unusable(value: Any, error: BaseException) -> str:
    """Describe a returned value that the check itself stumbled over."""
    if isinstance(error, AssertionError) and str(error):
        return str(error).splitlines()[0]
    if value is None:
        return "It returned None. Is a `return` missing?"
    return f"It returned {kind_of(value)}, which cannot be used as the answer ({type(error).__name__}: {error})."
