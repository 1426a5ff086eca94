"""From logits to a token: temperature, top-k, top-p, and one random number.

The lesson:          learn read sampling
Your work, checked:  learn check sampling
"""

import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    """Return the probabilities with which each text's next token is drawn.

    Three things are done to each row, in this order:

        temperature   the logits are divided by it
        top_k         only the k likeliest tokens are kept
        top_p         of what is left, renormalised, only the fewest
                      likeliest tokens are kept whose probabilities
                      together are at least p

    So the token with which the sum reaches p is kept, too. What is kept is
    renormalised: its ratios stay, and it sums to 1. All else has exactly 0.

    Arguments
        logits: float32 or float64, of shape (B, V), a row for each text.
           Entries are finite and may be as large as ±1000.
        temperature: a float of 0.1 or more.
        top_k: an int of 1 or more, or None: nothing is cut off. A k larger
           than V keeps all tokens.
        top_p: a float, 0 < p < 1, or None: nothing is cut off.

    Returns
        a new tensor of shape (B, V), with the dtype and device of `logits`.
        `logits` are not changed.

    Not judged: gradients, equal logits, sums within 0.000001 of p.
    Allowed: everything in torch.

    >>> logits = torch.tensor([[8.0, 4.0, 2.0, 1.0, 1.0]]).log()
    >>> next_token_probs(logits)
    tensor([[0.5000, 0.2500, 0.1250, 0.0625, 0.0625]])
    >>> next_token_probs(logits, top_k=2)
    tensor([[0.6667, 0.3333, 0.0000, 0.0000, 0.0000]])
    >>> next_token_probs(logits, top_p=0.8)
    tensor([[0.5714, 0.2857, 0.1429, 0.0000, 0.0000]])
    >>> next_token_probs(logits, temperature=0.5, top_p=0.8)
    tensor([[0.8000, 0.2000, 0.0000, 0.0000, 0.0000]])
    """
    raise NotImplementedError("next_token_probs: not written yet")


def sample_token(probs, u):
    """Choose a token for each row: the first whose sum so far exceeds u.

        id  =  the first i with  probs[0] + ... + probs[i] > u

    in the order of the vocabulary. If u is drawn evenly from [0, 1), token
    i is chosen with probability probs[i], and never where that is 0.

    Arguments
        probs: float32 or float64, of shape (B, V); each row sums to 1.
        u: a tensor of shape (B,) and of the dtype of `probs`, 0 ≤ u < 1:
           one number for each row.

    Returns
        an int64 tensor of shape (B,). `probs` and `u` are not changed.

    Not judged: a u so near 1 that a sum of 0.9999999 does not exceed it.
    Allowed: everything in torch that draws nothing by itself: u is all the
    chance that there is.

    >>> probs = torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]])
    >>> sample_token(probs, torch.tensor([0.7, 0.0]))
    tensor([1, 1])
    >>> sample_token(probs, torch.tensor([0.75, 0.75]))
    tensor([2, 2])
    """
    raise NotImplementedError("sample_token: not written yet")
