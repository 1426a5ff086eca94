"""Sinusoidal positions: what their sum with embeddings keeps, and what their dot products see."""

import math

import torch


def _table(length, width):
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def _read_back(width, tokens=100, length=64):
    """Of every sum of an embedding and a row, in how many the largest dot product is with the right one."""
    embeddings, table = torch.randn(tokens, width), _table(length, width)
    sums = (embeddings[:, None] + table).flatten(0, 1)
    token = (sums @ embeddings.T).argmax(dim=1) == torch.arange(tokens).repeat_interleave(length)
    place = (sums @ table.T).argmax(dim=1) == torch.arange(length).repeat(tokens)
    return token.float().mean().item(), place.float().mean().item()


def adding_loses_little_in_a_wide_space():
    """positions.quiz.toml: at D = 256: token 100%, position 83%; at D = 16 token 72%, position 21%
    positional_encoding.md: D =   16  word  72%   place  21%
    positional_encoding.md: D =  256  word 100%   place  83%
    """
    narrow, wide = _read_back(16), _read_back(256)
    assert wide[0] > 0.995 and abs(wide[1] - 0.83) < 0.03, wide
    assert abs(narrow[0] - 0.72) < 0.05 and abs(narrow[1] - 0.21) < 0.03, narrow
    return f"D = 16: token {narrow[0]:.0%}, position {narrow[1]:.0%}; D = 256: {wide[0]:.0%}, {wide[1]:.0%}"


def dot_products_depend_on_the_distance_only():
    """positions.quiz.toml: a dot product depends on the distance of the two positions and on nothing else
    positions.quiz.toml: so PE(p)·PE(q) depends on the distance only
    """
    table = _table(512, 64).double()
    products = {(p, q): (table[p] @ table[q]).item() for p, q in ((5, 9), (9, 5), (400, 404), (300, 296))}
    assert max(products.values()) - min(products.values()) < 1e-4, products
    return f"{products[5, 9]:.4f} at distance 4, whichever comes first"


def no_row_is_louder_than_another():
    """positions.quiz.toml: No position is louder than another."""
    lengths = _table(4096, 512).norm(dim=1)
    assert (lengths - 16).abs().max() < 1e-3
    return f"lengths from {lengths.min():.4f} to {lengths.max():.4f} at D = 512"


def the_slowest_wave_is_far_from_repeating():
    """positions.quiz.toml: the last one in somewhat under
    positions.quiz.toml: its slowest waves are far from repeating
    """
    wave = 2 * torch.pi * 10000 ** (510 / 512)
    assert wave > 40960 and wave < 2 * torch.pi * 10000
    return f"{wave:,.0f} positions at D = 512"


def what_an_encoder_without_positions_can_know():
    """sort_numbers.md: there are 8! = 40,320 orders.
    sort_numbers.md: ln 8 = 2.079 nats
    sort_numbers.md: Knowing nothing at all costs ln 16 = 2.773.
    sort_numbers.md: 0.99⁸ = 92% of the lists are
    """
    said = math.factorial(8), f"{math.log(8):.3f}", f"{math.log(16):.3f}", f"{0.99**8:.0%}"
    assert said == (40_320, "2.079", "2.773", "92%"), said
    return f"{said}"


def who_stands_first_finds_one_exchange_in_seven():
    """sort_numbers.md: which makes ½ + ½ · ⅐ = 57%."""
    right = 0
    for at in range(7):
        twin = list(range(8))
        twin[at], twin[at + 1] = twin[at + 1], twin[at]
        right += (twin[0] != min(twin)) + 1  # and every sorted list
    assert f"{right / 14:.0%}" == "57%", right
    return f"{right} of 14"
