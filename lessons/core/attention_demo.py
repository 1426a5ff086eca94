"""Attention, from my notebook. Runs, and the shapes come out right!"""

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    # every query against every key: (B, T, d) @ (B, d, T) -> (B, T, T)
    scores = q @ k.transpose(-2, -1)

    if mask is not None:
        # k is transposed up there, so the mask has to be as well
        scores = scores.masked_fill(~mask.transpose(-2, -1), float("-inf"))

    # weights between 0 and 1
    # dim=-2 are the tokens (dim=-1 would be the features?)
    weights = torch.softmax(scores, dim=-2)

    # (B, T, T) @ (B, T, d) -> (B, T, d), as it should be
    return weights @ v


# tried it on 3 tokens with the causal mask: right shape, no NaN,
# so I think this is it
if __name__ == "__main__":
    x = torch.rand(1, 3, 4)
    causal = torch.ones(3, 3, dtype=torch.bool).tril()
    print(scaled_dot_product_attention(x, x, x, causal))
