"""First losses, the gradient of cross-entropy, and what a training bug leaves in the loss."""

import math

import torch
from torch.nn import functional


def a_model_that_knows_nothing_loses_ln_v():
    """training.md: and loses about ln V.** For GPT-2's 50,257 tokens that is 10.82."""
    logits = torch.randn(64, 50_257) * 0.02 * 768**0.5 * 0.02
    loss = functional.cross_entropy(logits, torch.randint(50_257, (64,)))
    assert abs(loss - math.log(50_257)) < 0.01 and f"{math.log(50_257):.2f}" == "10.82", loss
    return f"{loss:.3f} against ln 50257 = {math.log(50_257):.3f}"


def softmax_twice_stops_at_its_floor():
    """training.md: ln(1 + (V−1)/e)"""
    logits = torch.full((27,), -100.0).index_fill(0, torch.tensor(3), 100.0)
    loss = functional.cross_entropy(logits.softmax(-1), torch.tensor(3))
    assert abs(loss - math.log(1 + 26 / math.e)) < 1e-5, loss
    return f"{loss:.4f} for V = 27, however sure the model is"
