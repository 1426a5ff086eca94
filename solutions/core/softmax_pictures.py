"""Softmax in pictures: the weights of one slice, which sum to 1."""

from dataclasses import replace

import torch

from grader.api.pictures import bars, first_difference, picture

SCORES = torch.tensor([[2.0, 0.0, 1.0], [0.5, 3.0, -1.0]])
CASES = {
    "softmax(torch.tensor([[2.0, 0.0, 1.0], [0.5, 3.0, -1.0]]))": (SCORES, -1),
    "softmax(torch.tensor([[2.0, 0.0, 1.0], [0.5, 3.0, -1.0]]), dim=0)": (SCORES, 0),
    "softmax(torch.tensor([1000.0, 1001.0]))": (torch.tensor([1000.0, 1001.0]), -1),
    "softmax(torch.tensor([-1000.0, -1001.0]))": (torch.tensor([-1000.0, -1001.0]), -1),
}


@picture
def one_slice(submission, reference, rand):
    """The weights of one slice, and their sum"""
    asks = {says: lambda subject, x=x, dim=dim: subject.softmax(x, dim=dim) for says, (x, dim) in CASES.items()}
    seen = first_difference(submission, reference, asks)
    scores, dim = CASES[seen.asked]

    def slices(value):
        return value.movedim(dim, -1).reshape(-1, value.shape[dim])

    which = 0
    if seen.yours is not None:
        error = (slices(seen.yours).double() - slices(seen.expected)).nan_to_num(torch.inf).abs()
        which = int(error.sum(-1).argmax())
    if scores.dim() == 2:  # say of which slice the bars are
        seen = replace(seen, asked=f"{seen.asked}[{f':, {which}' if dim == 0 else which}]")
    labels = [f"score {score:g}" for score in slices(scores)[which].tolist()]
    return bars(seen.take(lambda value: slices(value)[which]), labels, sums=True)
