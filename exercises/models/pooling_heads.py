"""Pooling and heads: from the vectors of an encoder to labels.

The lesson:          learn read pooling_heads
Your work, checked:  learn check pooling_heads

In all of it h has the shape (B, T, D): a vector for every place of every
text. mask has the shape (B, T), bool, True where there is a token. The
tokens of a text stand on the left and its padding on the right: a row of
mask is True ... True False ... False. What h holds at places of padding
is finite, says nothing, and must change no result.
"""

import torch
from torch import nn


def masked_mean_pool(h, mask):
    """Average the vectors of each text's tokens.

        pooled[b] = Σ_t mask[b, t] · h[b, t]  /  Σ_t mask[b, t]

    A text without any token gives zeros, and no NaN, in the gradient
    neither.

    Arguments
        h: floating point (bfloat16 too), shape (B, T, D).
        mask: bool, shape (B, T), on the device of h; see above.

    Returns
        shape (B, D), dtype and device of h. h and mask are not changed;
        gradients flow to h.

    Allowed: everything in torch.

    >>> h = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]]])
    >>> masked_mean_pool(h, torch.tensor([[True, True, False]]))
    tensor([[2., 4.]])
    """
    raise NotImplementedError("masked_mean_pool: not written yet")


def last_token_pool(h, mask):
    """Take the vector of each text's last token.

        pooled[b] = h[b, n_b − 1]     n_b = Σ_t mask[b, t], at least 1

    Arguments
        h, mask: as in masked_mean_pool. What a text without any token
           gives is not judged here.

    Returns
        shape (B, D), dtype and device of h. h and mask are not changed;
        gradients flow to h.

    Allowed: everything in torch.

    >>> h = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]]])
    >>> last_token_pool(h, torch.tensor([[True, True, False]]))
    tensor([[3., 6.]])
    """
    raise NotImplementedError("last_token_pool: not written yet")


class SequenceClassifier(nn.Module):
    """One label a text: pool its vectors, then score the classes.

        logits = pooled Wᵀ + b        W is head.weight, b is head.bias

    Arguments of the constructor
        d_model: D.
        num_classes: C, at least 1.
        pool: how a text becomes one vector (B, D):
           "mean": masked_mean_pool; a text without a token gives b.
           "cls":  the vector of the first place, h[:, 0].
           "last": last_token_pool.
           "max":  of each feature the largest value among the tokens.
           What another word does is not judged; nor what "last" and
           "max" make of a text without a token.

    `state_dict()` has exactly the names head.weight (C, D) and head.bias
    (C,), those of an nn.Linear called head: the checks load numbers of
    their own. There is nothing else: no activation, no dropout.

    Arguments of the call, model(h, mask)
        h: shape (B, T, D), of the parameters' dtype; mask: as above.

    Returns
        the logits, shape (B, C), real numbers before any softmax. h and
        mask are not changed; gradients flow to h, W and b.

    Allowed: everything in torch.

    >>> model = SequenceClassifier(2, 3, pool="max")
    >>> with torch.no_grad():
    ...     _ = model.head.weight.copy_(
    ...         torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    ...     _ = model.head.bias.copy_(torch.tensor([0.0, 0.0, 0.5]))
    >>> h = torch.tensor([[[1.0, 7.0], [3.0, 6.0], [9.0, 9.0]]])
    >>> model(h, torch.tensor([[True, True, False]])).detach()
    tensor([[ 3.0000,  7.0000, 10.5000]])
    """

    def __init__(self, d_model, num_classes, pool="mean"):
        super().__init__()
        raise NotImplementedError("SequenceClassifier: not written yet")

    def forward(self, h, mask):
        raise NotImplementedError("SequenceClassifier: not written yet")


class TokenClassifier(nn.Module):
    """One label a token: score the classes at every place by itself.

        logits[b, t] = h[b, t] Wᵀ + b

    Arguments of the constructor
        d_model: D.
        num_classes: C, at least 1.

    `state_dict()` has exactly the names head.weight (C, D) and head.bias
    (C,), as in SequenceClassifier.

    Arguments of the call, model(h)
        h: shape (B, T, D), of the parameters' dtype. Padding is scored
           like all places; the loss leaves it out.

    Returns
        the logits, shape (B, T, C). h is not changed; gradients flow to h,
        W and b.

    Allowed: everything in torch.

    >>> model = TokenClassifier(2, 1)
    >>> with torch.no_grad():
    ...     _ = model.head.weight.copy_(torch.tensor([[1.0, -1.0]]))
    ...     _ = model.head.bias.fill_(0.5)
    >>> model(torch.tensor([[[1.0, 2.0], [3.0, 6.0]]])).detach()
    tensor([[[-0.5000],
             [-2.5000]]])
    """

    def __init__(self, d_model, num_classes):
        super().__init__()
        raise NotImplementedError("TokenClassifier: not written yet")

    def forward(self, h):
        raise NotImplementedError("TokenClassifier: not written yet")
