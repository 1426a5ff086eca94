"""The key-value cache, the reference: append, and let the new ask."""

import torch


def cached_attention(q, k, v, cache=None):
    """Attend with new queries to all keys so far; return them, too."""
    if cache is not None:  # step: known
        # (B, H, S - T, d_head) and (B, H, T, d_head) -> (B, H, S, d_head)
        k = torch.cat([cache[0], k], dim=-2)  # step: keys
        v = torch.cat([cache[1], v], dim=-2)  # step: values
    new, total = q.size(-2), k.size(-2)  # T and S
    visible = torch.ones(new, total, dtype=torch.bool, device=q.device)
    # the last row sees all: the triangle stands at the bottom right
    visible = visible.tril(total - new)  # (T, S)  # step: mask
    scores = q @ k.transpose(-2, -1)  # (B, H, T, S)  # step: score
    scores = scores / q.size(-1) ** 0.5  # step: scale
    scores = scores.masked_fill(~visible, -torch.inf)  # step: hide
    weights = torch.softmax(scores, dim=-1)  # step: weigh
    out = weights @ v  # (B, H, T, d_head)  # step: blend
    return out, (k, v)  # step: give


def generate_cached(model, ids, max_new_tokens, pick):
    """Continue each text; the model reads every token once."""
    was_training = model.training  # step: remember
    model.eval()  # step: enter
    unread, cache = ids, None
    with torch.no_grad():
        for _ in range(max_new_tokens):  # step: repeat
            logits, cache = model(unread, cache)  # step: forward
            last = logits[:, -1]  # (B, V)  # step: last
            token = pick(last).unsqueeze(1)  # (B, 1)  # step: pick
            unread = token  # step: unread
            ids = torch.cat([ids, token], dim=1)  # step: append
    model.train(was_training)  # step: leave
    return ids  # (B, T + max_new_tokens)  # step: text
