"""The questions on writing softmax, answered by torch."""

from __future__ import annotations

import re

import torch
from support.run_question_code import run, wrong_line


def reduction_shapes(question):
    """Run it."""
    space = run(question.code)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def slices(question):
    """The sum of all weights, in float64."""
    scores = torch.zeros(question.values["shape"], dtype=torch.float64)
    return float(torch.softmax(scores, dim=question.values["dim"]).sum())


def factor(question):
    """Two scores with these weights, multiplied."""
    values = question.values
    scores = torch.tensor([values["first"], values["second"]], dtype=torch.float64).log()
    return float(torch.softmax(scores * values["factor"], dim=0)[0])


def naive_nan(question):
    """Naive softmax in float32 of every option."""
    found = []
    for place, option in enumerate(question.options):
        scores = [float(each) for each in re.findall(r"-?(?:inf|[\d.]+)", option.text.removeprefix("x = "))]
        powers = torch.tensor(scores).exp()
        found += [place] * bool((powers / powers.sum()).isnan().any())
    return found


def changed(question):
    """Run each line on a tensor and look at it afterwards."""
    found = []
    for place, option in enumerate(question.options):
        mine = torch.arange(12.0).view(3, 4) + 0.5
        before = mine.clone()
        run(option.text, x=mine, m=mine.amax())
        found += [place] * (not mine.equal(before))
    return found


def rows_in_python(question):
    """The line whose repair gives torch's softmax for rows of every size."""
    rows = [[0.0, 2.0, 5.0], [900.0, 901.0, 899.0], [0.0, 0.0, 3000.0], [-2.0, -2.0, -3.0]]
    expected = torch.softmax(torch.tensor(rows, dtype=torch.float64), dim=1)

    def works(code):
        result = torch.tensor(run(code)["softmax"](rows), dtype=torch.float64)
        return result.shape == expected.shape and torch.allclose(result, expected)

    return wrong_line(question, works)
