"""Autoregression: a model that reads what it has written.

The lesson:          learn read generate
Your work, checked:  learn check generate
"""

import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    """Continue each text by `max_new_tokens` tokens, one after the other.

    For each new token:

        1. give the model the last max_len tokens that there are so far,
           all of them if there are fewer;
        2. of its logits, take those of the last position;
        3. let `pick` choose a token for each text;
        4. append it: it is part of what the model reads next.

    So the model runs max_new_tokens times, each time on all B texts
    together. While it does, it is in eval mode and autograd records
    nothing; afterwards it is in the mode in which it came.

    Arguments
        model: an nn.Module; model(tokens), with tokens (B, t), gives logits
           (B, t, V). It may be in train mode. It takes at most max_len
           tokens.
        ids: int64 tensor of shape (B, T), T ≥ 1: B texts. T may be larger
           than max_len.
        max_new_tokens: an int ≥ 0. With 0 neither model nor pick is called.
        max_len: an int ≥ 1.
        pick: a function; pick(logits), with logits (B, V) as the model
           gives them, returns an int64 tensor of shape (B,).

    Returns
        an int64 tensor of shape (B, T + max_new_tokens): each text, whole,
        and what was appended. `ids` are not changed.

    Not judged: modes of submodules that differ from the model's; the mode
    after an error.
    Allowed: everything in torch.

    >>> class Next(torch.nn.Module):             # 0 follows 4, 1 follows 0
    ...     def forward(self, tokens):
    ...         return torch.eye(5)[(tokens + 1) % 5]
    >>> def likeliest(logits):
    ...     return logits.argmax(dim=-1)
    >>> generate(Next(), torch.tensor([[0, 1], [4, 3]]), 3, 8, likeliest)
    tensor([[0, 1, 2, 3, 4],
            [4, 3, 4, 0, 1]])
    """
    raise NotImplementedError("generate: not written yet")
