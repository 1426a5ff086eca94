"""The questions on tokenizers of characters, answered by running code."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def vocabulary(question):
    """The rows of the one-hot vectors that are used."""
    points = torch.tensor([ord(char) for char in question.values["text"]])
    return int(torch.bincount(points).count_nonzero())


def shorter(question):
    """The sizes of two tables of scores."""
    values = question.values
    many, few = (torch.empty(1, length).expand(length, length) for length in (values["N"], values["T"]))
    return many.numel() / few.numel()


def wrong_line(question):
    """The line whose repair gives every string back, by ids below V, and refuses what it does not know."""

    def works(code):
        made = run(code)["CharTokenizer"]("cab a\n")
        if made.encode("a cab\n") != [2, 1, 4, 2, 3, 0] or made.vocab_size != 5:
            return False
        try:
            made.encode("x")
        except KeyError:
            return made.decode([4, 2, 3, 0]) == "cab\n"
        return False

    return wrong_line_of(question, works)
