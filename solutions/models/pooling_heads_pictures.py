"""Pooling in pictures: with the identity as vectors, what comes out is how much each place counts."""

import torch

from grader.api.pictures import first_difference, grids, picture

LENGTHS, PLACES, POOLS = (4, 3, 2, 1), 4, ("mean", "cls", "last", "max")
MASK = torch.arange(PLACES) < torch.tensor(LENGTHS).unsqueeze(1)
# Each vector is that of the identity less 1, which the bias gives back: a 0 in place of padding would win each maximum.
HEAD = {"head.weight": torch.eye(PLACES), "head.bias": torch.ones(PLACES)}


@picture
def shares(submission, reference, rand):
    """How much each place (across) counts in the vector of each text (down), by its number of tokens"""
    h = torch.eye(PLACES).repeat(len(LENGTHS), 1, 1)
    asks = {
        "masked_mean_pool(h, mask)": lambda subject: subject.masked_mean_pool(h, MASK),
        "last_token_pool(h, mask)": lambda subject: subject.last_token_pool(h, MASK),
    }
    return grids(first_difference(submission, reference, asks), list(map(str, LENGTHS)), across=("tokens", "place"))


@picture
def pools(submission, reference, rand):
    """Which places (across) each pooling (down) hears of, in a text of two tokens and two places of padding"""
    h, mask = (torch.eye(PLACES) - 1).unsqueeze(0), MASK[2:3]

    def ask(subject):
        made = (subject.SequenceClassifier(PLACES, PLACES, pool, state=HEAD).eval() for pool in POOLS)
        return torch.cat([model(h, mask) for model in made])

    seen = first_difference(submission, reference, {f"SequenceClassifier({PLACES}, {PLACES}, pool)(h, mask)": ask})
    return grids(seen, POOLS, across=("pool", "place"))
