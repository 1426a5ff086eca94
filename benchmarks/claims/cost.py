"""What long texts cost, and what attention makes of many keys."""

import math

import torch


def pairs_overtake_the_matrices():
    """quadratic_cost.quiz.toml: overtake the four projections at T = 2D and everything else at T = 6D
    quadratic_cost.quiz.toml: Projections and FFN take about 12TD²
    """
    width = 768
    pairs, projections, network = (
        (lambda t: 2 * t * t * width),
        (lambda t: 4 * t * width**2),
        (lambda t: 8 * t * width**2),
    )
    assert pairs(2 * width) == projections(2 * width)
    assert pairs(6 * width) == projections(6 * width) + network(6 * width) == 12 * 6 * width * width**2
    return f"at D = {width}: {2 * width} and {6 * width} tokens"


def stored_weights():
    """quadratic_cost.quiz.toml: with 8 heads in float32 8 MiB at T = 512, but 2 GiB at"""
    sizes = {t: torch.empty(8, t, t, device="meta").numel() * 4 for t in (512, 8192)}
    assert sizes[512] == 8 * 2**20 and sizes[8192] == 2 * 2**30, sizes
    return f"{sizes[512] / 2**20:.0f} MiB and {sizes[8192] / 2**30:.0f} GiB"


def a_page_in_place_of_a_manual():
    """quadratic_cost.quiz.toml: are 15 times fewer, and the pairs 225 times fewer"""
    assert 60_000 / 4_000 == 15 and (60_000 / 4_000) ** 2 == 225
    return "60,000 against 4,000 tokens: 15 and 225"


def the_best_key_is_diluted():
    """limits.quiz.toml: it falls as the text grows, unless the gap grows as
    limits.quiz.toml: So a head that is to find one token in ever longer texts needs ever larger scores
    """
    kept, fallen = [], []
    for n in (10, 100, 1_000, 10_000):
        scores = torch.zeros(n, dtype=torch.float64)
        scores[0] = 5.0
        fallen.append(scores.softmax(0)[0].item())
        scores[0] = 5.0 + math.log((n - 1) / 9)
        kept.append(scores.softmax(0)[0].item())
    assert fallen == sorted(fallen, reverse=True) and fallen[-1] < 0.02 and max(kept) - min(kept) < 1e-9, fallen
    return "weight at a gap of 5: " + ", ".join(f"{each:.3f}" for each in fallen) + f"; {kept[-1]:.3f} with ln n more"


def a_text_repeated_as_a_whole_looks_the_same():
    """limits.quiz.toml: a text that is repeated as a whole looks the same to it, unless positions tell"""
    x = torch.randn(12, 16, dtype=torch.float64)
    twice = torch.cat([x, x])
    far = ((x @ x.T).softmax(-1) @ x - ((twice @ twice.T).softmax(-1) @ twice)[:12]).abs().max()
    assert far < 1e-12
    return f"outputs apart by {far:.0e}"


def windows_reach_through_the_layers():
    """limits.quiz.toml: Each layer reads what the one before it has fetched
    limits.quiz.toml: w − 1 tokens a layer, and what lies outside has no influence
    """
    layers, window, length = 3, 4, 20
    x = torch.randn(length, 8, dtype=torch.float64, requires_grad=True)
    sees = torch.ones(length, length, dtype=torch.bool).tril() & ~torch.ones(length, length, dtype=torch.bool).tril(
        -window
    )
    h = x
    for _ in range(layers):
        h = h + (h @ h.T / 8**0.5).masked_fill(~sees, -torch.inf).softmax(-1) @ h
    (grad,) = torch.autograd.grad(h[-1].sum(), x)
    reach = (grad.abs().amax(1) > 0).sum().item() - 1
    assert reach == layers * (window - 1), reach
    return f"{reach} tokens back, {layers} layers with a window of {window}"


def streamed_blocks_give_the_same():
    """quadratic_cost.quiz.toml: The output is the same as that of plain attention, up to rounding."""
    q, keys, values = torch.randn(8), torch.randn(24, 8), torch.randn(24, 8)
    top, total, out = torch.tensor(-torch.inf), torch.tensor(0.0), torch.zeros(8)
    for block, content in zip(keys.split(6), values.split(6), strict=True):
        s = block @ q / 8**0.5
        new = torch.maximum(top, s.max())
        p, shrink = (s - new).exp(), (top - new).exp()
        total, out, top = total * shrink + p.sum(), out * shrink + p @ content, new
    far = (out / total - (keys @ q / 8**0.5).softmax(0) @ values).abs().max()
    assert far < 1e-5
    return f"apart by {far:.0e}"
