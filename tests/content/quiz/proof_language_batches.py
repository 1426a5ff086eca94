"""The questions on batches of text, answered by torch and the lesson's own reference."""

from __future__ import annotations

import torch
from support.course_files import load
from support.run_question_code import printed, run
from support.run_question_code import wrong_line as wrong_line_of

BATCHES = "solutions/text/language_batches.py"


def targets(question):
    """Run it with the reference."""
    return printed(question.code, get_batch=load(BATCHES).get_batch)


def windows(question):
    """The windows of T + 1 ids that torch cuts."""
    return torch.arange(question.values["N"]).unfold(0, question.values["T"] + 1, 1).size(0)


def questions(question):
    """The targets of all batches, counted."""
    values = question.values
    starts = torch.zeros(values["B"], dtype=torch.int64)
    _, found = load(BATCHES).get_batch(torch.arange(values["T"] + 1), starts, values["T"])
    return sum(found.numel() for _ in range(values["steps"]))


def wrong_line(question):
    """The line whose repair makes both functions the reference's."""
    reference, data, starts = load(BATCHES), torch.arange(20) * 3 % 20, torch.tensor([4, 0, 15, 9])

    def works(code):
        space = run(code)
        for name, given in (("split", (data, 0.9)), ("get_batch", (data, starts, 4))):
            pairs = zip(space[name](*given), getattr(reference, name)(*given), strict=True)
            if not all(torch.equal(mine, theirs) for mine, theirs in pairs):
                return False
        return True

    return wrong_line_of(question, works)
