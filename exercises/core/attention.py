"""Scaled dot-product attention: each query takes a weighted mean of values.

The lesson:          learn read attention
Your work, checked:  learn check attention
Your file may import torch, numpy, Python's standard library, and your
own earlier lessons.
"""

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """For each query, average the values by how well the keys match.

        attention(q, k, v) = softmax(q kᵀ / √d_k) v    softmax over the keys

    Arguments
        q: queries, shape (..., T, d_k), floating point (float16 and
           bfloat16 too: -1e9 does not fit into them, -inf does).
        k: keys,    shape (..., S, d_k).
        v: values,  shape (..., S, d_v).
           "..." is any number of leading axes (none, batch, batch and
           heads, ...), the same for q, k and v. T may differ from S, and
           d_v from d_k. All may be slices of larger tensors, not
           contiguous; scores may be as low as −2000, or exactly 0, or
           both side by side.
        mask: None (every query may attend to every key), or a Boolean
           tensor that broadcasts to (..., T, S): rows are queries, columns
           are keys, and True = this query may attend to this key; with the
           shape (S,) it is one for all queries. A blocked key gets weight
           exactly 0, and the weights of the others sum to 1. Every query
           has at least one key that it may attend to.

    Returns
        only the output: a new tensor of shape (..., T, d_v), with the dtype
        and device of the inputs. The inputs are not changed; no dropout;
        gradients flow to q, k and v.

    Allowed: torch.softmax, or your own (from softmax import softmax).
    Not allowed: a call that does it whole (scaled_dot_product_attention of
    torch.nn.functional, torch.nn.MultiheadAttention).

    One query and three keys; d_k = 4, so √d_k = 2; the scores are 1, 0, 0.
    The weights are 0.576, 0.212, 0.212, and with key 1 blocked they are
    0.731, 0, 0.269.

    >>> q = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    >>> k = torch.eye(4)[:3]
    >>> v = torch.tensor([[10.0, 0.0], [0.0, 10.0], [0.0, 0.0]])
    >>> scaled_dot_product_attention(q, k, v)
    tensor([[5.7612, 2.1194]])
    >>> mask = torch.tensor([[True, False, True]])
    >>> scaled_dot_product_attention(q, k, v, mask)
    tensor([[7.3106, 0.0000]])
    """
    raise NotImplementedError(
        "scaled_dot_product_attention: not written yet",
    )
