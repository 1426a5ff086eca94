"""Multi-head attention in pictures: which numbers went to which head, and what each head looks at."""

import torch

from grader.api.pictures import first_difference, grids, picture

HEADS = 4
NAMES = [f"head {head}" for head in range(HEADS)]


def owners(subject):
    """For each number of each token, the head in which it is found again."""
    tokens, width = 3, 8
    heads = subject.split_heads(torch.arange(float(tokens * width)).view(1, tokens, width), HEADS)[0]
    if heads.is_complex():
        raise TypeError("a place is a real number")
    owner = torch.full((tokens * width,), torch.nan)
    for head, numbers in enumerate(heads):
        owner[numbers.flatten().long()] = float(head)
    return owner.view(tokens, width)


@picture
def who_got_what(submission, reference, rand):
    """The head (0 to 3) to which each number of each token went"""
    asks = {f"split_heads(x, {HEADS})": owners}
    return grids(first_difference(submission, reference, asks), across=("token", "feature"))


@picture
def four_maps(submission, reference, rand):
    """What each head looks at: w_v and w_o are such that its weights come out"""
    size, width = HEADS, HEADS * HEADS
    x = rand(1, size, width)
    w_v = (torch.linalg.pinv(x[0]) @ torch.eye(size).repeat(1, HEADS)).T
    rest = (rand(width, width, scale=0.4), rand(width, width, scale=0.4), w_v, torch.eye(width), HEADS)
    causal = torch.ones(size, size, dtype=torch.bool).tril()

    def maps(mask):
        def ask(subject):
            mixed = subject.multi_head_attention(x, *rest, mask=mask)[0]
            return mixed.view(size, HEADS, size).transpose(0, 1)

        return ask

    asks = {
        f"multi_head_attention(x, w_q, w_k, w_v, w_o, {HEADS})": maps(None),
        f"multi_head_attention(x, w_q, w_k, w_v, w_o, {HEADS}, mask=causal)": maps(causal),
    }
    return grids(first_difference(submission, reference, asks), across=("query", "key"), names=NAMES)
