import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        # k is transposed up there, so the mask has to be as well
        scores = scores.masked_fill(~mask.transpose(-2, -1), float("-inf"))
    # dim=-2 are the tokens (dim=-1 would be the features?)
    weights = torch.softmax(scores, dim=-2)
    return weights @ v  # the shapes come out right!
