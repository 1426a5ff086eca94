"""GPT: the whole decoder-only model, from ids to scores.

The lesson:          learn read gpt
Your work, checked:  learn check gpt
Your file may import torch, numpy, Python's standard library, and your
own earlier lessons.
Your own earlier work may serve here:
    from block import TransformerBlock
    from embedding import Embedding
    from learned_positions import LearnedPositionalEmbedding
    from causal_mask import causal_mask
"""

import torch
from torch import nn


class GPT(nn.Module):
    """A row of ids in, scores for the next token at every place out.

        x       = tok[ids] + pos[0 ... T − 1]
        x       = block_i(x, causal mask)       for i = 0 ... L − 1
        logits  = norm(x) Eᵀ                    E is tok.weight itself

    block is the TransformerBlock of the lesson block in pre-LN:

        h = x + attn(norm1(x)),     block(x) = h + ffn(norm2(h))

    attention without biases, ffn(y) = gelu(y W_1ᵀ + b_1) W_2ᵀ + b_2. Token
    t sees the tokens 0 ... t and no other. All norms are LayerNorms over
    the D features with eps = 1e-5. (GELU or its tanh form: no check tells
    the two apart.) Nothing is scaled, and there is no dropout, in training
    mode neither.

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
        head.weight  (V, D), no bias

    tok.weight and head.weight are two names of one tensor: they are equal
    before and after every step of training. (The checks load the same
    numbers under both.) A buffer that you keep, a mask say, must not
    be among the names: `persistent=False`. What the parameters hold at the
    start is not judged.

    Arguments of the call, model(ids)
        ids: shape (B, T), int64, 0 ... V − 1, on the device of the
           parameters; 1 ≤ T ≤ max_len.

    Returns
        only the logits: (B, T, V), real numbers before any softmax, of the
        parameters' dtype. `logits[b, t]` scores what may follow the ids
        0 ... t of text b. ids is not changed; gradients flow to every
        parameter.

    Raises
        ValueError: T is larger than max_len.

    Allowed: nn.Embedding, nn.Linear, nn.LayerNorm, nn.functional.gelu and
    scaled_dot_product_attention.
    Not allowed: a call that does a block whole (nn.MultiheadAttention,
    multi_head_attention_forward, nn.TransformerEncoderLayer).

    In the example the blocks add nothing: all their numbers are 0. Token 1
    stands at two places and is scored differently.

    >>> model = GPT(3, 4, 2, 1, 1, 2)    # V, max_len, D, H, L, d_ff
    >>> table = torch.tensor([[1.0, 3.0], [3.0, 1.0], [0.5, 0.5]])
    >>> with torch.no_grad():
    ...     for name, p in model.named_parameters():
    ...         _ = p.fill_(name == "norm.weight")
    ...     _ = model.tok.weight.copy_(table)
    ...     _ = model.pos.weight[1].copy_(torch.tensor([0.0, 4.0]))
    >>> model(torch.tensor([[0, 1, 1]])).detach()
    tensor([[[ 2.0000, -2.0000,  0.0000],
             [ 2.0000, -2.0000,  0.0000],
             [-2.0000,  2.0000,  0.0000]]])
    """

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff
    ):  # fmt: skip
        super().__init__()
        raise NotImplementedError("GPT: not written yet")

    def forward(self, ids):
        raise NotImplementedError("GPT: not written yet")
