# right: torch's attention, with the offset in its mask
import torch
from torch.nn.functional import scaled_dot_product_attention


def cached_attention(q, k, v, cache=None):
    start = 0 if cache is None else cache[0].size(-2)
    if start:
        k, v = torch.cat([cache[0], k], -2), torch.cat([cache[1], v], -2)
    places = torch.arange(k.size(-2), device=q.device)
    mask = places[None, :] <= places[start:, None]
    return scaled_dot_product_attention(q, k, v, attn_mask=mask), (k, v)


def generate_cached(model, ids, max_new_tokens, pick):
    was = model.training
    model.train(False)
    try:
        with torch.inference_mode():
            text, cache, seen = [ids], None, 0
            for _ in range(max_new_tokens):
                logits, cache = model(text[-1], cache)
                text.append(pick(logits[:, -1]).reshape(-1, 1))
    finally:
        model.train(was)
    return torch.cat(text, dim=1)
