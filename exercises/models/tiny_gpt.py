"""A GPT that you train for a minute or two, and that then writes.

The lesson:          learn read tiny_gpt
Your work, checked:  learn check tiny_gpt
Your file may import torch, numpy, Python's standard library, and your
own earlier lessons.
Your own earlier work may serve here:
    from rope import apply_rope
    from feed_forward import FeedForward
"""

import torch
from torch import nn


class TinyGPT(nn.Module):
    """The GPT of the lesson gpt, with rotary positions and no head.

        x       = tok[ids]
        x       = block_i(x)                    for i = 0 ... L − 1
        logits  = norm(x) Eᵀ                    E is tok.weight itself

    block is pre-LN: h = x + attn(norm1(x)), block(x) = h + ffn(norm2(h)).
    In attn the queries and the keys of each head, (B, H, T, d_head), are
    turned as apply_rope of the lesson rope does with the positions 0 ...
    T − 1 and base = 10000; values are not. Token t sees the tokens 0 ... t
    and no other. Scores are divided by √d_head. attn has no biases;
    ffn(y) = gelu(y W_1ᵀ + b_1) W_2ᵀ + b_2, with GELU or its tanh form (no
    check tells the two apart). All norms are LayerNorms over the D
    features with eps = 1e-5. No dropout, in training mode neither.

    TinyGPT(vocab_size, d_model, num_heads, num_layers, d_ff)
        V, D, H, L and the width of each block's hidden layer. H divides D,
        and D/H is even. Any length of text will do: there is no table of
        positions.

    `state_dict()` has exactly these names and shapes, weights laid out
    (out, in), because the checks load numbers of their own:

        tok.weight  (V, D)
        blocks.i.attn.wq.weight   blocks.i.attn.wk.weight    (D, D)
        blocks.i.attn.wv.weight   blocks.i.attn.wo.weight    (D, D)
        blocks.i.ffn.w1.weight  (d_ff, D)     ...w1.bias  (d_ff,)
        blocks.i.ffn.w2.weight  (D, d_ff)     ...w2.bias  (D,)
        blocks.i.norm1.weight   blocks.i.norm1.bias          (D,)
        blocks.i.norm2.weight   blocks.i.norm2.bias          (D,)
        norm.weight  norm.bias    (D,)

    A buffer that you keep, a mask say, must not be among the names:
    `persistent=False`. What the parameters hold at the start is not judged.

    forward(ids): ids (B, T) int64, on the device of the parameters, to
        logits (B, T, V) of the parameters' dtype, no softmax. ids is not
        changed; gradients flow to every parameter.

    Allowed: nn.Embedding, nn.Linear, nn.LayerNorm, nn.functional.gelu and
    scaled_dot_product_attention.
    Not allowed: a call that does a block whole (nn.MultiheadAttention,
    multi_head_attention_forward, nn.TransformerEncoderLayer).

    Beside this file, in tiny_gpt.safetensors, lie the weights that you
    trained: those names, in float32, float16 or bfloat16, of a model
    TinyGPT(83, 64, 4, 2, 256). `learn build tiny_gpt` trains this class and
    writes them; so may a loop of your own. Ids are the places in the sorted
    alphabet of the text. Trained on its first nine tenths, the model must
    know the last tenth, in windows of 64 characters, better than trigrams.

    >>> TinyGPT(11, 12, 3, 2, 7)(torch.zeros(4, 5, dtype=torch.int64)).shape
    torch.Size([4, 5, 11])
    """

    def __init__(self, vocab_size, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        raise NotImplementedError("TinyGPT: not written yet")

    def forward(self, ids):
        """Give the logits of the token that follows each place."""
        raise NotImplementedError("TinyGPT: not written yet")
