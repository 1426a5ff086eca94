"""The smallest example on which a submission goes wrong."""

from __future__ import annotations

import pytest

from grader.judge.diagnosis.counterexample import find_counterexample
from grader.judge.mistakes.mistake_set import Example
from grader.judge.processes.remote_module import LocalModule


class Model:
    """Made of a size."""

    def __init__(self, size):
        self.size = size


class NeedsTwo:
    """Made of two sizes, where one is given."""

    def __init__(self, size, other):
        self.size = size


@pytest.mark.parametrize(("kind", "yours"), [(Model, []), (NeedsTwo, ["TypeError"])])
def test_of_an_object_is_shown_only_that_it_is_not_made(kind, yours):
    """An object of the submission is never the same as one of the reference: that alone is no example of a mistake."""
    submission, reference = (LocalModule({"Model": each}, {"Model": "class"}) for each in (kind, Model))

    found = find_counterexample("Model", [Example((3,), {})], submission, reference)

    assert [each.yours.partition(":")[0] for each in found] == yours
    assert all((each.call, each.expected) == ("Model(3)", "an object of type Model") for each in found)
