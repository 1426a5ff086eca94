"""The questions on writing the positional encoding, answered by torch."""

from __future__ import annotations

import torch
from support.run_question_code import run, wrong_line


def _table(seq_len, d_model):
    """The encoding in float64: the real and imaginary parts of exp(i·angle), by a product of outer powers."""
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    angles = torch.outer(torch.arange(seq_len, dtype=torch.float64), 10000.0 ** (-2 * pairs / d_model))
    turned = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flip(-1).flatten(1)


def draft(question):
    """Run it."""
    return float(run(question.code)["angles"][question.values["n"]])


def shapes(question):
    """Run it."""
    table = torch.zeros(question.values["T"], question.values["D"])
    space = run(question.code, table=table)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def assertions(question):
    """Compare both sides of each claim on a real table."""
    pe = _table(question.values["T"], question.values["D"])
    found = []
    for place, option in enumerate(question.options):
        left, right = (torch.as_tensor(eval(side, {"pe": pe}), dtype=torch.float64) for side in option.text.split("=="))
        gap = (left - right).abs().max()
        assert gap < 1e-9 or gap > 1e-4, option.text  # nothing that is false may look true
        found += [place] * bool(gap < 1e-9)
    return found


def _made(p):
    """Row p for D = 8 as each of the mistakes makes it, by the words with which it is offered."""
    i, column = torch.arange(4, dtype=torch.float64), torch.arange(8, dtype=torch.float64)
    odd = (column % 2).bool()

    def waves(angles):
        return torch.where(odd, angles.cos(), angles.sin())

    right = _table(p + 2, 8)
    return {
        "The exponent is doubled.": waves((p / 10000 ** (4 * i / 8)).repeat_interleave(2)),
        "All sines come first, then the cosines.": right[p].view(4, 2).T.flatten(),
        "Odd columns have an exponent of their own.": waves(p / 10000 ** (column / 8)),
        "Positions are counted from 1.": right[p + 1],
        "Cosines come before sines.": right[p].view(4, 2).flip(1).flatten(),
        "It multiplies by the divisors.": waves((p * 10000 ** (2 * i / 8)).repeat_interleave(2)),
    }


def diagnose(question):
    """The only mistake that makes the row, to its three decimals; the right row is right."""
    p = question.values["p"]
    shown, made = ([float(each) for each in line.split()[1:]] for line in question.code.split("\n")[1:])
    assert torch.allclose(_table(p + 1, 8)[p], torch.tensor(shown, dtype=torch.float64), atol=5.1e-4)
    row, rows = torch.tensor(made, dtype=torch.float64), _made(p)
    fits = [text for text, each in rows.items() if torch.allclose(each, row, atol=5.1e-4)]
    assert len(fits) == 1, question.code
    return [option.text for option in question.options].index(fits[0])


def embedding_layer(question):
    """The line whose repair adds a buffer, the rows of the first positions, to the embeddings."""

    def encoding(seq_len, d_model):
        return _table(seq_len, d_model).float()

    def works(code):
        layer = run(code, encoding=encoding)["Embedding"](11, 12, 6)
        ids = torch.tensor([[1, 4, 4, 0], [7, 2, 1, 1], [3, 3, 3, 3]])
        same = torch.equal(layer(ids), layer.words(ids) + encoding(4, 6))
        return same and [name for name, _ in layer.named_buffers()] == ["table"]

    return wrong_line(question, works)
