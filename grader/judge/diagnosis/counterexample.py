"""The smallest example on which a submission goes wrong, as it can be typed again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.mistakes.mistake_set import Example
from grader.judge.processes.remote_module import CallableModule, RemoteObject
from grader.judge.values.compare import same, show, show_apart
from grader.model import Counterexample
from grader.worker.wire import Opaque


def find_counterexample(
    function: str, examples: Sequence[Example], submission: CallableModule, reference: CallableModule
) -> list[Counterexample]:
    """Return the first of the examples on which the submission differs from the reference; none if they agree.

    Of an object that is made no more can be shown than that it is made, or what that raises.
    """

    def answer(subject: CallableModule, example: Example) -> Any:
        value = getattr(subject, function)(*example.args, **example.kwargs)
        return Opaque(function, "") if isinstance(value, RemoteObject) else value

    for example in examples:
        expected = answer(reference, example)
        actual: object
        try:
            actual = answer(submission, example)
            yours, wanted = show_apart(actual, expected)
        except LearnerError as error:
            actual = error
            wanted = show(expected)
            yours = f"{error.type_name or error.kind}: {error.text.splitlines()[0] if error.text else ''}"
        if not same(actual, expected):
            parts = [show(arg) for arg in example.args] + [f"{k}={show(v)}" for k, v in example.kwargs.items()]
            return [Counterexample(function, f"{function}({', '.join(parts)})", yours, wanted)]
    return []
