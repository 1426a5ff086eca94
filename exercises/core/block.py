"""The transformer block: attention, then a feed-forward network.

The lesson:          learn read block
Your work, checked:  learn check block
Your file may import torch, numpy, Python's standard library, and your
own earlier lessons.
Your own earlier work may serve here:
    from multi_head import split_heads, merge_heads
"""

import torch
from torch import nn


class TransformerBlock(nn.Module):
    """One transformer block: self-attention, then a network, both residual.

        norm_first=True (pre-LN):     h   = x + attn(norm1(x))
                                      out = h + ffn(norm2(h))
        norm_first=False (post-LN):   h   = norm1(x + attn(x))
                                      out = norm2(h + ffn(h))

    attn is the attention of the lesson multi_head:

        attn(y) = [head_0, ..., head_(H−1)] W_Oᵀ
                  head_h = softmax(Q_h K_hᵀ / √d_head) V_h
                  Q = y W_Qᵀ,  K = y W_Kᵀ,  V = y W_Vᵀ

    ffn is the feed-forward network, which takes every position by itself:

        ffn(y)  = gelu(y W_1ᵀ + b_1) W_2ᵀ + b_2

    norm takes every token over its D features:

        norm(y) = γ · (y − mean) / √(var + eps) + β

    The variance divides by D, and eps = 1e-5 stands inside the root;
    gelu(z) = z · Φ(z). (Both are what nn.LayerNorm and nn.functional.gelu
    do by default; the tanh form of GELU, at most 5e-4 away, will do too.)
    There is no dropout, in training mode neither, and no norm after the
    block.

    Arguments of the constructor
        d_model: D.
        num_heads: H, divides D. Head h takes columns h·d_head ...
           (h+1)·d_head − 1, where d_head = D / H.
        d_ff: the width of the feed-forward network's hidden layer.
        norm_first: True for pre-LN, False for post-LN.

    `state_dict()` has exactly these names and shapes, weights laid out
    (out, in) as in nn.Linear, because the checks load numbers of their own
    into your block:

        attn.wq.weight  attn.wk.weight    (D, D), no bias
        attn.wv.weight  attn.wo.weight    (D, D), no bias
        ffn.w1.weight  (d_ff, D)          ffn.w1.bias  (d_ff,)
        ffn.w2.weight  (D, d_ff)          ffn.w2.bias  (D,)
        norm1.weight  norm2.weight        (D,), the γ
        norm1.bias  norm2.bias            (D,), the β

    A dotted name is a module inside a module: make `attn` and `ffn` small
    nn.Module classes of your own.

    Arguments of the call, block(x, mask=None)
        x: shape (B, T, D), float32, on the device of the parameters,
           contiguous or a slice of a larger tensor. Scores may be as low as
           −2000, or exactly 0, or both.
        mask: None, or a Boolean tensor of two axes or more that broadcasts
           to (B, H, T, T), True = this query may attend to this key. Every
           query has at least one key that it may attend to. The block makes
           no mask of its own: it is causal when the mask is.

    Returns
        only the output: a new tensor of shape (B, T, D). `x` is not
        changed; gradients flow to `x` and to every parameter.

    Allowed: nn.Linear, nn.LayerNorm, nn.functional.gelu, your own
    scaled_dot_product_attention or that of nn.functional.
    Not allowed: a call that does it whole (nn.MultiheadAttention,
    multi_head_attention_forward, nn.TransformerEncoderLayer).

    The example sets every matrix to the identity, the biases and β to 0, γ
    to 1. Its one token attends to itself.

    >>> def identity(block):
    ...     for name, p in block.named_parameters():
    ...         gamma = name in ("norm1.weight", "norm2.weight")
    ...         ones = torch.full_like(p, gamma)
    ...         p.data = torch.eye(*p.shape) if p.dim() == 2 else ones
    ...     return block
    >>> x = torch.tensor([[[1.0, 3.0]]])    # B = 1, T = 1, D = 2
    >>> identity(TransformerBlock(2, 1, 4))(x).detach()
    tensor([[[-0.1587,  4.8413]]])
    >>> identity(TransformerBlock(2, 1, 4, norm_first=False))(x).detach()
    tensor([[[-1.0000,  1.0000]]])
    """

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        raise NotImplementedError("TransformerBlock: not written yet")

    def forward(self, x, mask=None):
        raise NotImplementedError("TransformerBlock: not written yet")
