"""An encoder: from ids to vectors that know their text, padding left out.

The lesson:          learn read encoder
Your work, checked:  learn check encoder
Your file may import torch, numpy, Python's standard library, and your
own earlier lessons.
Your own earlier work may serve here:
    from block import TransformerBlock
    from embedding import Embedding
    from learned_positions import LearnedPositionalEmbedding
    from padding_mask import padding_mask
"""

import torch
from torch import nn


class Encoder(nn.Module):
    """A batch of texts in, a vector for every token in its text out.

        x    = tok[ids] + pos[0 ... T − 1]
        x    = block_i(x, padding mask)       for i = 0 ... L − 1
        out  = norm(x)

    block is the TransformerBlock of the lesson block in pre-LN:

        h = x + attn(norm1(x)),     block(x) = h + ffn(norm2(h))

    attention without biases, ffn(y) = gelu(y W_1ᵀ + b_1) W_2ᵀ + b_2. Every
    token sees all tokens of its text, those after it too, and no padding:
    key j of text b is hidden from every query, in every block, if
    j >= lengths[b]. All norms are LayerNorms over the D features with
    eps = 1e-5. (GELU or its tanh form: no check tells the two apart.)
    Nothing is scaled, and there is no dropout, in training mode neither.

    Arguments of the constructor
        vocab_size: V, how many ids there are.
        max_len: the longest text that there will be.
        d_model: D, the width of a token.
        num_heads: H, divides D.
        num_layers: L, how many blocks there are, at least 1.
        d_ff: the width of the hidden layer of each block's network.

    `state_dict()` has exactly these names and shapes, weights laid out
    (out, in), because the checks load numbers of their own:

        tok.weight  (V, D)        pos.weight  (max_len, D)
        blocks.i.attn.wq.weight   blocks.i.attn.wk.weight    (D, D)
        blocks.i.attn.wv.weight   blocks.i.attn.wo.weight    (D, D)
        blocks.i.ffn.w1.weight  (d_ff, D)     ...w1.bias  (d_ff,)
        blocks.i.ffn.w2.weight  (D, d_ff)     ...w2.bias  (D,)
        blocks.i.norm1.weight   blocks.i.norm1.bias          (D,)
        blocks.i.norm2.weight   blocks.i.norm2.bias          (D,)
        norm.weight  norm.bias    (D,)

    A buffer that you keep must not be among the names:
    `persistent=False`. What the parameters hold at the start is not judged.

    Arguments of the call, model(ids, lengths=None)
        ids: shape (B, T), int64, 0 ... V − 1, on the device of the
           parameters; 1 ≤ T ≤ max_len (what a longer text does is not
           judged). At places of padding stands any id; no id is special.
        lengths: int64, shape (B,), on the same device. Text b has
           lengths[b] tokens, at the places 0 ... lengths[b] − 1; what
           stands to their right is padding. Each is at least 1 and at most
           T; there may be no text as long as T. None: nothing is padding.

    Returns
        (B, T, D), of the parameters' dtype, whatever the lengths. What
        stands at places of padding is not judged: any finite numbers. ids
        and lengths are not changed; gradients flow to every parameter.

    Allowed: nn.Embedding, nn.Linear, nn.LayerNorm, nn.functional.gelu and
    scaled_dot_product_attention.
    Not allowed: a call that does a block whole (nn.MultiheadAttention,
    multi_head_attention_forward, nn.TransformerEncoderLayer).

    In the example attention takes 4 times the mean of what it may see.
    Token 0 points one way by itself, and the other way with two tokens 1.

    >>> model = Encoder(2, 3, 2, 1, 1, 1)    # V, max_len, D, H, L, d_ff
    >>> table = torch.tensor([[1.0, 0.0], [0.0, 8.0]])
    >>> with torch.no_grad():
    ...     for name, p in model.named_parameters():
    ...         _ = p.fill_("norm" in name and "weight" in name)
    ...     _ = model.tok.weight.copy_(table)
    ...     _ = model.blocks[0].attn.wv.weight.copy_(4.0 * torch.eye(2))
    ...     _ = model.blocks[0].attn.wo.weight.copy_(torch.eye(2))
    >>> ids = torch.tensor([[0, 1, 1]])
    >>> model(ids)[:, 0].detach()
    tensor([[-1.0000,  1.0000]])
    >>> model(ids, torch.tensor([1]))[:, 0].detach()
    tensor([[ 1.0000, -1.0000]])
    """

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff
    ):  # fmt: skip
        super().__init__()
        raise NotImplementedError("Encoder: not written yet")

    def forward(self, ids, lengths=None):
        raise NotImplementedError("Encoder: not written yet")
