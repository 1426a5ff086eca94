"""The gradient of attention, the reference: forwards, then backwards."""

import math


def two_tokens(q, k1, k2, v1, v2, g):
    """Follow the gradient back through a head with two tokens."""
    a = 1 / (1 + math.exp(q * k2 - q * k1))  # step: weight
    # the slope of a in its own score; the other score has the opposite
    slope = a * (1 - a)  # step: slope
    pull = g * (v1 - v2)  # what a's growth does to the loss  # step: gain
    ds1 = slope * pull  # step: first
    ds2 = -slope * pull  # step: second
    dq = ds1 * k1 + ds2 * k2  # q has two ways to the loss  # step: query
    dk1, dk2 = ds1 * q, ds2 * q  # step: two_keys
    dv1, dv2 = g * a, g * (1 - a)  # step: two_values
    names = ("a", "dq", "dk1", "dk2", "dv1", "dv2")
    return dict(zip(names, (a, dq, dk1, dk2, dv1, dv2), strict=True))  # step: answer


def attention_backward(q, k, v, d_out):
    """Give the gradients of one attention head, without autograd."""
    scale = q.size(-1) ** -0.5  # step: scale
    scores = q @ k.T * scale  # (T, d_k) @ (d_k, S) -> (T, S)  # step: score
    p = scores.softmax(dim=-1)  # (T, S)  # step: weights
    dv = p.T @ d_out  # (S, T) @ (T, d_v) -> (S, d_v)  # step: values
    dp = d_out @ v.T  # (T, d_v) @ (d_v, S) -> (T, S)  # step: pull
    # what a row's weights gain on average: (T, 1)
    mean = (p * dp).sum(dim=-1, keepdim=True)  # step: mean
    ds = p * (dp - mean)  # (T, S)  # step: through
    dq = ds @ k * scale  # (T, S) @ (S, d_k) -> (T, d_k)  # step: queries
    dk = ds.T @ q * scale  # (S, T) @ (T, d_k) -> (S, d_k)  # step: keys
    return dq, dk, dv  # step: give
