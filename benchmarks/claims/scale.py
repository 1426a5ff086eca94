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


def without_the_scale_a_few_near_ties_decide():
    """attention_formula.quiz.toml: the middle row of dQ is more than ten times smaller than with the scale
    attention_formula.quiz.toml: the whole of dQ some twenty times larger
    attention_formula.quiz.toml: one row of ten brings four fifths of its square and more
    attention_formula.quiz.toml: in such a row the Jacobian diag(p) − ppᵀ goes to 0 and next to nothing
    """
    (weights, raw), (_, scaled) = (_rows(1024, each, 512) for each in (False, True))
    middle = scaled.norm(dim=1).median() / raw.norm(dim=1).median()
    whole = raw.norm() / scaled.norm()
    squares = raw.square().sum(dim=1).sort(descending=True).values
    share = squares[: len(squares) // 10].sum() / squares.sum()
    jacobians = (weights.diag_embed() - weights[:, :, None] * weights[:, None, :]).flatten(1).norm(dim=1)
    assert middle > 10 and 15 < whole < 30 and share > 0.8 and jacobians.median() < 0.01, (middle, whole, share)
    return f"middle row 1/{middle:.0f}, whole x {whole:.0f}, a tenth of the rows has {share:.0%} of the square"


def values_are_reached_through_the_weights():
    """attention_formula.quiz.toml: V is reached directly through the weights: W_V goes on learning.
    gradients.quiz.toml: W_V and W_O are reached without the softmax and get their gradient in full
    """
    q, k, v = torch.randn(64, 1024), torch.randn(64, 1024), torch.randn(64, 64, requires_grad=True)
    norms = []
    for scale in (1.0, 32.0):
        (grad,) = torch.autograd.grad(((q @ k.T / scale).softmax(-1) @ v).square().sum() / 2, v)
        norms.append(grad.norm())
    assert norms[0] > norms[1], norms
    return f"‖dV‖ {norms[0]:.0f} raw, {norms[1]:.0f} scaled"
