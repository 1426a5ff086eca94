"""No lesson is passed by a class that keeps on the class what belongs to each object."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.factories import course, run_judge
from support.repeat import rarely

from grader.judge.course_files import load_file
from grader.judge.examination import Judge
from grader.model import Submission
from grader.submission import read_artefact

# Appended to a reference: what `__init__` set is on the class, where the next object overwrites it.
ON_CLASS = """

def keep_on_class(kind, start):
    def init(self, *args, **kwargs):
        start(self, *args, **kwargs)
        kind.{name} = self.{name}
        del self.{name}

    kind.__init__ = init


keep_on_class({kind}, {kind}.__init__)
"""
# Each object answers with what the last one holds.
LAST = """

def answer_as_last(kind, start, answer):
    def init(self, *args, **kwargs):
        start(self, *args, **kwargs)
        last[:] = [self]

    last = []
    kind.__init__ = init
    kind.{method} = lambda self, *args, **kwargs: answer(last[0], *args, **kwargs)


answer_as_last({kind}, {kind}.__init__, {kind}.{method})
"""


# by class that is asked for: which attribute of which class
OVERWRITTEN = {
    "CharTokenizer": [("CharTokenizer", each) for each in ("id_of", "char_of", "vocab_size")],
    "SequenceClassifier": [("SequenceClassifier", "pool")],
    "AttentionOnly": [("AttentionOnly", "num_heads")],
    "TransformerBlock": [("SelfAttention", "num_heads"), ("TransformerBlock", "norm_first")],
    **{name: [("SelfAttention", "num_heads")] for name in ("Encoder", "GPT", "TinyGPT")},
}


def classes(lesson):
    return [name for name, kind in lesson.kinds.items() if kind == "class"]


def shared(lesson) -> Iterator[tuple[str, str]]:
    """Yield the class that is asked for, and what is appended."""
    namespace = vars(load_file(lesson.solution_path))
    for name in classes(lesson):
        for method in sorted({"forward", "encode", "decode"} & vars(namespace[name]).keys()):
            yield name, LAST.format(kind=name, method=method)
        yield from ((name, ON_CLASS.format(kind=kind, name=each)) for kind, each in OVERWRITTEN.get(name, ()))


NO_VALUES = ("two_bits", "sort_numbers")  # there the reference's values are not asked for, and tell of no other's


@pytest.mark.parametrize("name", rarely(name for name, lesson in course().lessons.items() if classes(lesson)))
def test_objects_that_share_do_not_pass(name, launcher):
    """What one object overwrites of another is found, and named where values are compared."""
    lesson = course().lessons[name]

    def drive(judge: Judge) -> None:
        right, weights = lesson.solution_path.read_text(), read_artefact(lesson.solution_path)
        for function, more in shared(lesson):
            result = judge.examine(lesson, Submission(name, f"{name}.py", right + more, artefact=weights), 7)
            assert function in {check.function for check in result.checks if not check.passed}, more
            assert name in NO_VALUES or [mistake.id for mistake in result.mistakes] == ["shared-state"], more

    run_judge(launcher, name, drive, known=True)
