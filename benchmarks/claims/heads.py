"""Heads, the maps that make them, and the wide spaces in which they work."""

import torch
from torch.nn import functional


def without_maps_each_token_finds_itself():
    """attention_formula.quiz.toml: symmetric, and each token would find itself best
    attention_formula.quiz.toml: So each row is largest at its own token, and the table is symmetric
    """
    x = functional.normalize(torch.randn(50, 32), dim=1)
    scores = x @ x.T
    mapped = (x @ torch.randn(32, 32)) @ (x @ torch.randn(32, 32)).T
    own, found = (
        (scores.argmax(1) == torch.arange(50)).float().mean(),
        (mapped.argmax(1) == torch.arange(50)).float().mean(),
    )
    assert own == 1 and torch.allclose(scores, scores.T, atol=1e-6)
    assert found < 0.2 and not torch.allclose(mapped, mapped.T)
    return f"itself in {own:.0%} of the rows; with random W_Q and W_K in {found:.0%}, and not symmetric"


def twins_stay_twins():
    """heads.quiz.toml: They are still twins: at every step their gradients are equal."""
    x, target = torch.randn(6, 8), torch.randn(6, 8)
    one = [torch.randn(8, 4) for _ in range(3)] + [torch.randn(4, 8)]
    heads = [[each.clone().requires_grad_() for each in one] for _ in range(2)]
    for _ in range(20):
        out = sum(((x @ q) @ (x @ k).T / 2).softmax(-1) @ (x @ v) @ o for q, k, v, o in heads)
        (out - target).square().mean().backward()
        with torch.no_grad():
            for parameter in (each for head in heads for each in head):
                parameter -= 0.1 * parameter.grad
                parameter.grad = None
    far = max((a - b).abs().max().item() for a, b in zip(*heads, strict=True))
    moved = (heads[0][0] - one[0]).abs().max().item()
    assert far < 1e-5 < moved, (far, moved)
    return f"apart by {far:.0e} after 20 steps that moved W_Q by {moved:.2f}"


def softmax_lifts_the_rank():
    """dimensionality.quiz.toml: Softmax applies exp to each number, which is not linear, and the bound"""
    scores = torch.randn(20, 3, dtype=torch.float64) @ torch.randn(3, 20, dtype=torch.float64)
    ranks = [int(torch.linalg.matrix_rank(each)) for each in (scores, scores.softmax(-1))]
    assert ranks == [3, 20], ranks
    return f"rank {ranks[0]} before, {ranks[1]} after"


def wide_spaces_have_room():
    """dimensionality.quiz.toml: In wide spaces random directions are nearly orthogonal.
    dimensionality.quiz.toml: so a little slack makes room for many more
    """
    directions = functional.normalize(torch.randn(1000, 256), dim=1)
    cosines = (directions @ directions.T)[~torch.eye(1000, dtype=torch.bool)]
    assert abs(cosines.std() * 16 - 1) < 0.05 and cosines.abs().max() < 0.4
    return (
        f"1,000 directions in 256 dimensions: cosines {cosines.std():.3f} on average, {cosines.abs().max():.2f} at most"
    )


def streams_grow_and_attention_alone_makes_alike():
    """residuals.quiz.toml: stacked attention alone makes all tokens alike
    residuals.quiz.toml: The residuals let the stream grow.
    """
    x = torch.randn(16, 64)
    alone, stream = x, x
    for _ in range(12):
        alone = (alone @ alone.T / 64).softmax(-1) @ alone
        stream = stream + torch.randn(16, 64)
    spread = (alone - alone.mean(0)).norm() / alone.norm()
    assert spread < 0.1 and 10 < stream.var() < 16, (spread, stream.var())
    return f"spread {spread:.0e} after 12 layers of attention alone; variance {stream.var():.1f} after 12 additions"


def exact_nothing_is_left_of_a_linear_map():
    """attention_and_ffn.quiz.toml: The wide hidden layer is of use only with an activation in it."""
    w1, w2, x = torch.randn(80, 16), torch.randn(16, 80), torch.randn(100, 16)
    linear = (x @ w1.T @ w2.T - x @ (w2 @ w1).T).abs().max()
    bent = (functional.relu(x @ w1.T) @ w2.T - x @ (w2 @ w1).T).abs().max()
    assert linear < 1e-2 < bent
    return f"apart by {linear:.0e} without, by {bent:.0f} with an activation"
