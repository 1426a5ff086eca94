"""No lesson is passed by code that loses the axis of a batch of one."""

from __future__ import annotations

import pytest
from support.factories import course, run_judge
from support.repeat import rarely

from grader.judge.examination import Judge
from grader.model import Submission
from grader.submission import read_artefact

# Appended to a reference: the end of code that first gives an axis to what has none.
SQUEEZED = """

def squeezed(value):
    if isinstance(value, (tuple, list)):
        return type(value)([squeezed(each) for each in value])
    return value.squeeze(0) if hasattr(value, "squeeze") and value.ndim > {own} else value
"""
FUNCTION = """

whole_{name} = {name}


def {name}(*args, **kwargs):
    return squeezed(whole_{name}(*args, **kwargs))
"""
CLASS = """

class {name}({name}):
    def forward(self, *args, **kwargs):
        return squeezed(super().forward(*args, **kwargs))
"""

OWN_AXES = {"attention": 2}  # axes of an answer without any batch, where there are more than one
WITHOUT_BATCH = {
    *("train", "train_step", "fit", "CharTokenizer", "split", "cross_entropy", "perplexity", "lr_at"),
    *("evaluate", "should_stop", "sample_token", "two_tokens", "gradient_by_row", "readings"),
}  # what gives one axis at most, or no tensor


def with_batch(lesson):
    return set(lesson.kinds) - WITHOUT_BATCH


def spoiled(lesson):
    parts = [lesson.solution_path.read_text(), SQUEEZED.format(own=OWN_AXES.get(lesson.name, 1))]
    parts += [(CLASS if lesson.kinds[name] == "class" else FUNCTION).format(name=name) for name in with_batch(lesson)]
    return "".join(parts)


@pytest.mark.parametrize("name", rarely(name for name, lesson in course().lessons.items() if with_batch(lesson)))
def test_code_that_loses_the_axis_of_a_batch_of_one_does_not_pass(name, launcher):
    """Each function whose answer ends with `squeeze(0)` fails a check."""
    lesson = course().lessons[name]

    def drive(judge: Judge) -> None:
        weights = read_artefact(lesson.solution_path)
        result = judge.examine(lesson, Submission(name, f"{name}.py", spoiled(lesson), artefact=weights), 7)
        assert with_batch(lesson) <= {check.function for check in result.checks if not check.passed}
        assert result.score < 10.0

    run_judge(launcher, name, drive, known=True)
