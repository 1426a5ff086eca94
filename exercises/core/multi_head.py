"""Multi-head attention: several attentions side by side, joined and mixed.

The lesson:          learn read multi_head
Your work, checked:  learn check multi_head
Your file may import torch, numpy, Python's standard library, and your
own earlier lessons.
Your own earlier work may serve here:
    from attention import scaled_dot_product_attention
"""

import torch


def split_heads(x, num_heads):
    """Give every head its own group of features.

    Head h takes the neighbouring columns h·d_head ... (h+1)·d_head − 1 of
    the last axis, where d_head = D / H:

        out[b, h, t, i] = x[b, t, h·d_head + i]

    Arguments
        x: shape (B, T, D), any dtype, contiguous or not (a slice, say).
        num_heads: H, an integer that divides D.

    Returns
        shape (B, H, T, d_head): batch, head, position, feature, with the
        dtype and device of `x`. Batch and heads stay separate axes. `x` is
        not changed, and gradients flow through the result.

    Allowed: everything that moves axes (view, reshape, transpose, permute,
    chunk, ...).
    Not allowed: torch.nn.MultiheadAttention, multi_head_attention_forward.

    Three tokens of four features. Head 0 takes the first two features of
    each token, head 1 the last two.

    >>> x = torch.arange(12).view(1, 3, 4)
    >>> split_heads(x, 2)[0, 0].tolist()
    [[0, 1], [4, 5], [8, 9]]
    >>> split_heads(x, 2)[0, 1].tolist()
    [[2, 3], [6, 7], [10, 11]]
    """
    raise NotImplementedError("split_heads: not written yet")


def merge_heads(x):
    """Put the heads' results back side by side: `split_heads` undone.

        out[b, t, h·d_head + i] = x[b, h, t, i]

    Head 0's features come first, then head 1's, and so on: nothing is
    averaged, and nothing is lost.

    Arguments
        x: shape (B, H, T, d_head), any dtype: newly made and contiguous, a
           transposed view, or a slice of a larger tensor.

    Returns
        shape (B, T, D) with D = H·d_head, and the dtype and device of `x`.
        `x` is not changed, and gradients flow through the result.

    Allowed: everything that moves axes.
    Not allowed: torch.nn.MultiheadAttention, multi_head_attention_forward.

    Two heads, with two features for each of three tokens.

    >>> head_0 = [[0, 1], [4, 5], [8, 9]]
    >>> head_1 = [[2, 3], [6, 7], [10, 11]]
    >>> merge_heads(torch.tensor([[head_0, head_1]])).tolist()
    [[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]
    """
    raise NotImplementedError("merge_heads: not written yet")


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Multi-head self-attention over a batch of sequences, without biases.

        Q = x W_Qᵀ,  K = x W_Kᵀ,  V = x W_Vᵀ      (B, T, D) each; split
        head_h = softmax(Q_h K_hᵀ / √d_head) V_h  (B, T, d_head) each
        out = [head_0, ..., head_(H−1)] W_Oᵀ      joined: (B, T, D)

    with d_head = D / H.

    Arguments
        x: shape (B, T, D), floating point (float16 and bfloat16 too: -1e9
           does not fit into them, -inf does); it and the weights may be
           slices. Scores may be as low as −2000, or exactly 0, or both.
        w_q, w_k, w_v, w_o: shape (D, D) each, laid out (out, in) as in
           torch.nn.Linear: y = x Wᵀ.
        num_heads: H, an integer that divides D.
        mask: None (every query may attend to every key), or a Boolean
           tensor of two axes or more that broadcasts to (B, H, T, T): rows
           are queries, columns are keys, True = this query may attend to
           this key. So (T, T) serves all sequences and heads alike,
           (B, 1, 1, T) hides each sequence's padding, (B, 1, T, T) is one
           mask for each sequence. A blocked key gets weight exactly 0.
           Every query has at least one key that it may attend to.

    Returns
        only the output: a new tensor of shape (B, T, D), with the dtype and
        device of `x`. The inputs are not changed; no dropout; gradients
        flow to `x` and to all four weights.

    Allowed: your own scaled_dot_product_attention or the one in
    torch.nn.functional.
    Not allowed: a call that does it whole (torch.nn.MultiheadAttention,
    multi_head_attention_forward).

    Two tokens, D = 2, and every weight matrix is the identity.

    >>> x = eye = torch.eye(2)
    >>> multi_head_attention(x[None], eye, eye, eye, eye, num_heads=2)
    tensor([[[0.7311, 0.5000],
             [0.5000, 0.7311]]])
    >>> multi_head_attention(x[None], eye, eye, eye, eye, num_heads=1)
    tensor([[[0.6698, 0.3302],
             [0.3302, 0.6698]]])
    """
    raise NotImplementedError("multi_head_attention: not written yet")
