"""The key-value cache: what was read need not be read again.

The lesson:          learn read kv_cache
Your work, checked:  learn check kv_cache
"""

import torch


def cached_attention(q, k, v, cache=None):
    """Let new tokens attend to themselves and to all that came before.

    The new keys and values are put behind those of the cache:

        K = (keys of the cache, k)        V = (values of the cache, v)
        out = softmax(q Kᵀ / √d_head, causal) V

    Causal: a new token sees all tokens of the cache, itself, and the new
    ones before it. With T new tokens and S in all, new token i (from 0)
    sees the first S − T + i + 1 keys.

    Arguments
        q, k, v: floating point (float16 too), shape (B, H, T, d_head), of
           the T new tokens, T ≥ 1. Scores may be as large as ±1000.
        cache: None where nothing came before; else what an earlier call
           returned: a pair (keys, values), each (B, H, S − T, d_head).

    Returns
        a tuple (out, cache): out (B, H, T, d_head), the outputs of the new
        tokens; cache, a pair (keys, values) of tensors (B, H, S, d_head),
        with dtype and device of q. No argument is changed: the cache that
        was given stays what it was, and may be continued a second time.
        Gradients flow to q, k, v and what is in the cache.

    Allowed: everything in torch. Note that the causal masks of its own
    attention begin at the top left.

    >>> k = v = torch.tensor([[[[0.0, 0.0], [2.0, 4.0]]]])
    >>> out, cache = cached_attention(k, k, v)
    >>> out
    tensor([[[[0.0000, 0.0000],
              [2.0000, 4.0000]]]])
    >>> q, k, v = k[:, :, :1], k[:, :, :1], v[:, :, 1:]
    >>> out, cache = cached_attention(q, k, v, cache)
    >>> out
    tensor([[[[1.3333, 2.6667]]]])
    >>> cache[0].shape
    torch.Size([1, 1, 3, 2])
    """
    raise NotImplementedError("cached_attention: not written yet")


def generate_cached(model, ids, max_new_tokens, pick):
    """Continue each text, and let the model read every token once.

    The model is given the whole prompt and no cache, and returns its logits
    and a cache. From then on it is given that cache and the new token
    alone, and returns logits for that and the next cache. For each new
    token `pick` chooses from the logits of the last position, as in the
    lesson generate. The last new token is not read by the model any more.

    While it runs, the model is in eval mode and autograd records nothing;
    afterwards it is in the mode in which it came.

    Arguments
        model: an nn.Module; model(tokens, cache), with tokens (B, t) that
           were not read yet and cache None or what it last returned, gives
           (logits (B, t, V), cache). What the cache is, is its own affair:
           where it stands in the text it knows from that.
        ids: int64 tensor of shape (B, T), T ≥ 1: B texts. The model takes
           T + max_new_tokens tokens: nothing has to be cut.
        max_new_tokens: an int ≥ 0. With 0 neither model nor pick is called.
        pick: a function; pick(logits), with logits (B, V) as the model
           gives them, returns an int64 tensor of shape (B,).

    Returns
        an int64 tensor of shape (B, T + max_new_tokens): each text, whole,
        and what was appended. `ids` are not changed.

    Not judged: the mode after an error.
    Allowed: everything in torch.

    >>> class Add(torch.nn.Module):      # what comes next: the sum, mod 5
    ...     def forward(self, tokens, cache=None):
    ...         known = 0 if cache is None else cache
    ...         sums = known + tokens.cumsum(dim=1)
    ...         return torch.eye(5)[sums % 5], sums[:, -1:]
    >>> def likeliest(logits):
    ...     return logits.argmax(dim=-1)
    >>> generate_cached(Add(), torch.tensor([[1, 2], [4, 0]]), 3, likeliest)
    tensor([[1, 2, 3, 1, 2],
            [4, 0, 4, 3, 1]])
    """
    raise NotImplementedError("generate_cached: not written yet")
