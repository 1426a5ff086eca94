"""From the outcome of a check to the result that a learner reads."""

from __future__ import annotations

from grader.judge.checks.run_checks import Outcome
from grader.judge.errors import CheckFailed, LearnerError
from grader.judge.values import redacted_explanation
from grader.judge.verdict.messages import describe_ban, describe_call, describe_error, describe_unusable
from grader.model import CheckResult, Lesson, Submission


def make_check_result(outcome: Outcome, lesson: Lesson, submission: Submission) -> CheckResult:
    """Put an outcome into words: a message with all of it, and an explanation that shows no hidden input."""
    check, error = outcome.check, outcome.error
    if error is None:
        message = describe_ban(outcome.ban, submission.path) if outcome.ban else outcome.reason
        return check.result(lesson, outcome.kind, message, outcome.output)
    message, redacted = _explain(outcome, error, lesson, submission)
    if outcome.call is not None and outcome.kind != "grader-error":
        message = f"{message}\n{describe_call(outcome.call)}"
    return check.result(lesson, outcome.kind, message, outcome.output, redacted)


def _explain(outcome: Outcome, error: BaseException, lesson: Lesson, submission: Submission) -> tuple[str, str]:
    """Return the message for an error, and its redacted explanation."""
    if isinstance(error, LearnerError):
        return describe_error(error), redacted_explanation.explain_error(error, submission, lesson.forbids)
    if isinstance(error, CheckFailed):
        redacted = redacted_explanation.explain_failure(str(error), error.form, error.hint, outcome.check.item.path)
        return str(error), redacted
    if outcome.kind == "failed":
        return describe_unusable(outcome.value, error), redacted_explanation.explain_unusable(outcome.value)
    message = f"The check itself failed: {type(error).__name__}: {error}"
    return message, "The grader itself failed on this check; it does not count."
