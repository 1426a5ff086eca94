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


def a_raw_head_of_width_16_chooses_among_four_keys():
    """score_scaling.md: the entropy of a choice among four keys, and at 1024 one key has it all
    score_scaling.md: at narrow widths the raw Jacobian is *larger*
    score_scaling.md: (64 equal weights: 0.12)
    """
    flat = torch.full((64,), 1 / 64)
    assert abs((flat.diag() - torch.outer(flat, flat)).norm() - 0.124) < 0.001
    choices, sizes = {}, {}
    for width in (4, 16, 1024):
        weights = _rows(width, False)[0]
        choices[width] = (-torch.xlogy(weights, weights)).sum(-1).median().exp().item()
        slopes = (each.diag_embed() - each[:, :, None] * each[:, None, :] for each in (weights, _rows(width, True)[0]))
        sizes[width] = [slope.flatten(1).norm(dim=1).median().item() for slope in slopes]
    assert 3 < choices[16] < 5.5 and choices[1024] < 1.1, choices
    assert sizes[4][0] > sizes[4][1] and sizes[16][0] > sizes[16][1] and sizes[1024][0] < 0.01 < sizes[1024][1], sizes
    return ", ".join(f"{width}: {choice:.1f} keys" for width, choice in choices.items())


def the_median_row_and_the_total_part_ways():
    """score_scaling.md: The median row falls below the scaled one between 256 and 1024
    score_scaling.md: They *grow* with the width
    score_scaling.md: Nearly half of the queries get less than a thousandth of what the two upper tenths get
    """
    lengths = {width: [_rows(width, each, 501)[1].norm(dim=1) for each in (False, True)] for width in (64, 256, 1024)}
    medians = {width: (raw.median() / scaled.median()).item() for width, (raw, scaled) in lengths.items()}
    totals = {width: (raw.norm() / scaled.norm()).item() for width, (raw, scaled) in lengths.items()}
    assert medians[64] > 2 and medians[256] > 1 and medians[1024] < 0.1, medians
    assert totals[64] < totals[256] < totals[1024], totals
    raw = lengths[1024][0]
    assert raw.quantile(0.4) < 1e-3 * raw.quantile(0.85)
    return ", ".join(f"{width}: median x {medians[width]:.3f}, total x {totals[width]:.0f}" for width in lengths)


def a_new_model_has_scores_of_another_size():
    """score_scaling.md: At the size of GPT-2 the raw scores have the standard deviation 2.5
    score_scaling.md: In a model of D = 64 they have 0.1
    """
    found = {}
    for width, d_head in ((768, 64), (64, 16)):
        x = torch.nn.functional.layer_norm(torch.randn(256, width), (width,))
        q, k = (x @ (torch.randn(d_head, width) * 0.02).T for _ in "qk")
        found[width] = (q @ k.T).std().item()
    assert abs(found[768] - 2.46) < 0.15 and abs(found[64] - 0.1) < 0.02, found
    return ", ".join(f"D = {width}: {std:.2f}" for width, std in found.items())
