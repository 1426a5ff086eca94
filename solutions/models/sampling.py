"""Sampling, the reference: divide, cut twice, draw once."""

import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    """Return the probabilities with which the next token is drawn."""
    scaled = logits / temperature  # (B, V)  # step: scale
    if top_k is not None:  # step: asked_k
        count = min(top_k, scaled.size(-1))  # step: count
        least = scaled.topk(count, dim=-1).values[:, -1:]  # (B, 1)  # step: least
        scaled = scaled.masked_fill(scaled < least, -torch.inf)  # step: cut
    probs = torch.softmax(scaled, dim=-1)  # (B, V)  # step: normalise
    if top_p is not None:  # step: asked_p
        ranked, order = probs.sort(dim=-1, descending=True)  # step: sort
        # a token is kept if the likelier ones do not reach p without it
        before = ranked.cumsum(dim=-1) - ranked  # (B, V)  # step: before
        nucleus = ranked.where(before < top_p, 0)  # step: nucleus
        # back to where each came from
        probs = torch.zeros_like(probs).scatter(-1, order, nucleus)  # step: restore
        probs = probs / probs.sum(dim=-1, keepdim=True)  # step: renormalise
    return probs  # step: give


def sample_token(probs, u):
    """Return the first id of each row whose sum so far exceeds u."""
    sums = probs.cumsum(dim=-1)  # (B, V)  # step: sums
    passed = sums <= u.unsqueeze(-1)  # (B, V), bool  # step: passed
    ids = passed.sum(dim=-1)  # (B,)  # step: ids
    return ids.clamp(max=probs.size(-1) - 1)  # step: clamp
