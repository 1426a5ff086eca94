"""What √d_k does: three instruments, and two readings.

The lesson:          learn read score_scaling
Your work, checked:  learn check score_scaling
"""

import torch


def row_entropy(weights):
    """Measure how widely each row of weights is spread, in nats.

    entropy(p) = −(p_1 ln p_1 + ... + p_S ln p_S), where a weight of 0
    adds 0. It is 0 if one key has all the weight, and ln S if all S keys
    have the same.

    Arguments
        weights: (..., S), float32 or float64; each row along the last
            axis sums to 1 and may hold zeros.

    Returns
        a new tensor (...) with the dtype and device of weights, which are
        not changed.

    Allowed: any tensor arithmetic. Not allowed: torch.special.entr,
    kl_div, and the entropies and divergences of torch.distributions.

    >>> row_entropy(torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])).abs()
    tensor([0.6931, 0.0000])
    """
    raise NotImplementedError("row_entropy: not written yet")


def jacobian_norm(weights):
    """Measure how much the softmax lets through, row by row.

    The Jacobian of a row p is diag(p) − p pᵀ, an (S, S) matrix: the slope
    of each weight in each score. Its size here is the Frobenius norm, the
    root of the sum of the squares of its entries.

    Arguments
        weights: (..., S), as in row_entropy.

    Returns
        a new tensor (...) with the dtype and device of weights, which are
        not changed.

    Allowed: any tensor arithmetic, norms too.

    >>> jacobian_norm(torch.tensor([[0.5, 0.5], [1.0, 0.0]]))
    tensor([0.5000, 0.0000])
    """
    raise NotImplementedError("jacobian_norm: not written yet")


def gradient_by_row(q, k, v, scale, d_out):
    """Measure how long the gradient of each query is.

        out  =  softmax(scale · q kᵀ) v

    with the softmax over the keys, and no other scale than this one.
    d_out holds ∂loss/∂out. Row t of ∂loss/∂q is the gradient of query t.

    Arguments
        q: (T, d_k). k: (S, d_k). v: (S, d_v). d_out: (T, d_v). All are of
            one dtype, float32 or float64. Scores may be as large as 1000.
        scale: a float above 0, such as 1.0 or 1/√d_k.

    Returns
        a new tensor (T,): the Euclidean length of each row of ∂loss/∂q,
        without a graph behind it or with one. No argument is changed.

    Allowed: autograd, torch.softmax, or the formula of the lesson
    attention_gradient.

    >>> q, k = torch.tensor([[1.0]]), torch.tensor([[2.0], [0.0]])
    >>> v = torch.tensor([[3.0], [-1.0]])
    >>> gradient_by_row(q, k, v, 1.0, torch.tensor([[1.0]]))
    tensor([0.8399])
    """
    raise NotImplementedError("gradient_by_row: not written yet")


def readings(heads):
    """Read two numbers off heads of several widths.

    Arguments
        heads: a list of (q, k, v, d_out), as gradient_by_row takes them:
            at least one, and each wider (with a larger d_k) than the one
            before. T is odd in all.

    Returns
        a dict of two:

        "width": the smallest d_k, an int, at which the *median* of
            gradient_by_row is smaller with scale 1 than with scale
            1/√d_k; None if there is none.
        "silent": of the widest head with scale 1, the share of queries,
            a float from 0 to 1, whose gradient is shorter than 1% of the
            longest one's in that head.

    The checks draw the heads, and read the same with their instruments.

    >>> k = torch.tensor([[1.0], [0.0]])
    >>> head = (torch.tensor([[0.0], [2.0], [9.0]]), k, k, torch.ones(3, 1))
    >>> readings([head])  # with d_k = 1 there is no difference
    {'width': None, 'silent': 0.3333333333333333}
    """
    raise NotImplementedError("readings: not written yet")
