"""What float32 and float16 can hold, and how far near misses of a formula are from it."""

import math

import torch
from torch.nn import functional


def powers_end_before_89():
    """softmax.md: `float32` ends at about 3.4·10³⁸, and exp(89) is already beyond that.
    softmax.md: becomes exp(−1000) = 0 in every entry
    """
    largest = torch.finfo(torch.float32).max
    assert f"{largest:.1e}" == "3.4e+38" and torch.tensor(88.0).exp().isfinite() and torch.tensor(89.0).exp().isinf()
    assert torch.tensor(-1000.0).exp() == 0
    return f"largest {largest:.2e}; exp(88) = {math.exp(88):.1e}, exp(89) = {math.exp(89):.1e}"


def half_precision_cannot_count():
    """positional_encoding.md: Beyond 2048 float16 cannot even count: its next number is 2050."""
    numbers = torch.arange(2047, 2052).to(torch.float16).tolist()
    assert numbers == [2047, 2048, 2048, 2050, 2052], numbers
    return f"2047 to 2051 become {numbers}"


def a_guarded_logarithm_has_a_largest_loss():
    """cross_entropy.md: no loss can then exceed 18.4"""
    largest = -torch.tensor(1e-8).log()
    assert f"{largest:.1f}" == "18.4", largest
    return f"−ln 1e-8 = {largest:.2f}"


def dividing_by_one_less_is_little_in_wide_tokens():
    """layer_norm.md: At D = 4 the difference is 15%, at D = 768 it is 0.07%"""
    tokens = [torch.randn(width) for width in (4, 768)]
    off = [float(token.std() / token.std(correction=0)) - 1 for token in tokens]
    assert f"{off[0]:.0%}" == "15%" and f"{off[1]:.2%}" == "0.07%", off
    return ", ".join(f"{each:.2%}" for each in off)


def the_two_forms_of_gelu_are_near():
    """block.md: it differs by less than 0.0005, and is accepted here"""
    z = torch.linspace(-10, 10, 100_001)
    apart = (functional.gelu(z) - functional.gelu(z, approximate="tanh")).abs().max()
    assert 0.0004 < apart < 0.0005, apart
    return f"at most {apart:.6f}"
