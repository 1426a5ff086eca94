# right: a cache with names
from collections import namedtuple

import torch

Cache = namedtuple("Cache", "keys values")


def cached_attention(q, k, v, cache=None):
    if cache is not None:
        cache = Cache(*cache)
        k, v = torch.cat([cache.keys, k], dim=-2), torch.cat([cache.values, v], dim=-2)
    T, S = q.size(-2), k.size(-2)
    bias = torch.full((T, S), float("-inf"), dtype=q.dtype, device=q.device).triu(S - T + 1)
    weights = (q @ k.mT * q.size(-1) ** -0.5 + bias).softmax(dim=-1)
    return weights @ v, Cache(k, v)


def generate_cached(model, ids, max_new_tokens, pick):
    if max_new_tokens < 1:
        return ids.clone()
    training = model.training
    model.eval()
    with torch.no_grad():
        logits, cache = model(ids)
        for left in reversed(range(max_new_tokens)):
            token = pick(logits[:, -1, :])[:, None]
            ids = torch.hstack([ids, token])
            if left:
                logits, cache = model(token, cache)
    if training:
        model.train()
    return ids
