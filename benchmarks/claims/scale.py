"""The division by √d_k: what raw dot products of independent queries and keys do to weights and to gradients."""

import torch


def _rows(d_head, scaled, queries=256, keys=64):
    """Weights of random queries, and the gradient of each query for a random gradient of the outputs."""
    q, k, v = torch.randn(queries, d_head, requires_grad=True), torch.randn(keys, d_head), torch.randn(keys, d_head)
    weights = (q @ k.T / (d_head**0.5 if scaled else 1)).softmax(dim=-1)
    (weights @ v).backward(torch.randn(queries, d_head))
    return weights.detach(), q.grad


def dot_products_have_variance_d_k():
    """attention.md: variance d_k, standard deviation √d_k"""
    ratios = [(torch.randn(20_000, d) * torch.randn(20_000, d)).sum(1).var() / d for d in (16, 64, 256)]
    assert all(0.95 < ratio < 1.05 for ratio in ratios), ratios
    return "variance / d_k = " + ", ".join(f"{ratio:.3f}" for ratio in ratios)


def a_wide_head_without_the_scale_attends_to_one_key():
    """attention.md: a head of width 256 gives nine tenths of its attention to one"""
    raw, scaled = (_rows(256, each)[0].amax(dim=1).mean() for each in (False, True))
    assert 0.85 < raw < 0.95 and scaled < 0.2, (raw, scaled)
    return f"largest of 64 weights: {raw:.2f} raw, {scaled:.2f} scaled"


def divided_by_d_k_every_query_attends_to_everything_alike():
    """attention.md: the scores shrink to standard deviation"""
    q, k = torch.randn(4000, 256), torch.randn(64, 256)
    scores = q @ k.T / 256
    largest = scores.softmax(dim=-1).amax(dim=1).mean()
    assert abs(scores.std() * 16 - 1) < 0.05 and largest < 1.3 / 64, (scores.std(), largest)
    return f"std {scores.std():.4f} = {scores.std() * 16:.2f}/√256, largest weight {largest * 64:.2f}/64"
