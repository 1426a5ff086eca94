"""The gradient of attention, by hand: in numbers first, then in matrices.

The lesson:          learn read attention_gradient
Your work, checked:  learn check attention_gradient
"""

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    """Follow the gradient back through a head with two tokens.

    All are numbers: the head has width 1, one query and no scale (√1 is 1).

        a     =  exp(q·k1) / (exp(q·k1) + exp(q·k2))
        out   =  a · v1 + (1 − a) · v2

    g is ∂loss/∂out, how fast the loss changes with out. Find how fast
    it changes with each of the five numbers that went in.

    Arguments
        q, k1, k2, v1, v2, g: floats. Products q·k1 and q·k2 are between
            −20 and 20.

    Returns
        a dict of six floats: "a", the weight of token 1, and "dq", "dk1",
        "dk2", "dv1", "dv2", where dq is ∂loss/∂q, and so on.

    Not allowed: autograd, in any form.

    >>> found = two_tokens(1.0, 2.0, 0.0, 3.0, -1.0, 1.0)
    >>> [round(found[name], 4) for name in ("a", "dq", "dk1", "dk2", "dv1")]
    [0.8808, 0.8399, 0.42, -0.42, 0.8808]
    """
    raise NotImplementedError("two_tokens: not written yet")


def attention_backward(q, k, v, d_out):
    """Give the gradients of one attention head, without autograd.

    Forwards, with the softmax over the keys:

        weights  =  softmax(q kᵀ / √d_k)        (T, S)
        out      =  weights v                   (T, d_v)

    d_out holds ∂loss/∂out, number by number. Find the same for q, k
    and v. It is a gradient: add up all ways by which a number reaches
    the loss.

    Arguments
        q: (T, d_k), the queries.
        k: (S, d_k), the keys. S may differ from T.
        v: (S, d_v), the values. d_v may differ from d_k.
        d_out: (T, d_v). All four are of one dtype, float32 or float64,
            and scores may be as large as 1000.

    Returns
        the tuple (dq, dk, dv): new tensors with the shapes of q, k and v
        and with their dtype and device. No argument is changed.

    Allowed: any tensor arithmetic, torch.softmax too.
    Not allowed: autograd in any form (`backward`, torch.autograd,
    torch.func), and torch's own backward operators.

    >>> q, k = torch.tensor([[1.0]]), torch.tensor([[2.0], [0.0]])
    >>> v = torch.tensor([[3.0], [-1.0]])
    >>> attention_backward(q, k, v, torch.tensor([[1.0]]))
    (tensor([[0.8399]]), tensor([[ 0.4200],
            [-0.4200]]), tensor([[0.8808],
            [0.1192]]))
    """
    raise NotImplementedError("attention_backward: not written yet")
