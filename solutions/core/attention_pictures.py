"""Attention in pictures: with the identity as values, what comes out are the weights."""

import torch

from grader.api.pictures import first_difference, grids, picture

TOKENS = ("the", "cat", "sat", "on", "mats")
SIZE, D_K = len(TOKENS), 3
CALL = "scaled_dot_product_attention"


@picture
def weights_by_tokens(submission, reference, rand):
    """How much each token (down) takes from each other (across): v is the identity"""
    q, k = rand(2, SIZE, D_K, scale=1.5), rand(2, SIZE, D_K, scale=1.5)
    v, causal = torch.eye(SIZE), torch.ones(SIZE, SIZE, dtype=torch.bool).tril()
    asks = {
        f"{CALL}(q, k, torch.eye(5))": lambda subject: subject.scaled_dot_product_attention(q[0], k[0], v),
        f"{CALL}(q, k, torch.eye(5), mask=causal)": lambda subject: subject.scaled_dot_product_attention(
            q[0], k[0], v, mask=causal
        ),
        f"{CALL}(q, k, v) on a batch of 2, the second": lambda subject: subject.scaled_dot_product_attention(
            q, k, v.expand(2, SIZE, SIZE).contiguous()
        )[1],
    }
    seen = first_difference(submission, reference, asks)
    return grids(seen, TOKENS, TOKENS, across=("query", "key"))
