"""The gradient of softmax and of cross-entropy, and what initialisation sets."""

import torch
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode


def a_saturated_row_passes_next_to_nothing_to_its_scores():
    """attention_formula.quiz.toml: a saturated row passes next to nothing back to its own scores.
    gradients.quiz.toml: Both are small as soon as one weight is close to 1
    softmax.md: and every such product goes to 0 as one weight goes to 1
    """
    norms = []
    for gap in (0.0, 5.0, 10.0, 15.0):
        p = torch.tensor([gap, 0, 0, 0], dtype=torch.float64).softmax(0)
        norms.append((p.diag() - torch.outer(p, p)).norm().item())
    assert norms == sorted(norms, reverse=True) and norms[-1] < 1e-5, norms
    return "norm of the Jacobian " + ", ".join(f"{norm:.1e}" for norm in norms) + " for gaps 0, 5, 10, 15"


def the_gradient_at_the_logits_is_p_minus_y():
    """gradients.quiz.toml: The gradient is p − y, with y = 1 for the right class and 0 for all others.
    training.md: ∂ loss / ∂ logits  =  p − y
    """
    logits = torch.randn(7, requires_grad=True, dtype=torch.float64)
    functional.cross_entropy(logits, torch.tensor(2)).backward()
    far = (logits.grad - (logits.detach().softmax(0) - functional.one_hot(torch.tensor(2), 7))).abs().max()
    assert far < 1e-12
    return f"apart by {far:.0e}"


def softmax_moves_weight_between_two_keys():
    """gradients.quiz.toml: If the first score rises by a small ε, softmax moves the weight"""
    s = torch.tensor([0.3, -0.8], dtype=torch.float64)
    before, after = s.softmax(0), (s + torch.tensor([1e-6, 0])).softmax(0)
    moved, says = ((after - before)[0] / 1e-6).item(), (before[0] * before[1]).item()
    assert abs(moved - says) < 1e-5
    return f"{moved:.5f} ε moved, a₁ a₂ = {says:.5f}"


def twice_the_right_deviation_doubles_every_layer():
    """gradients.quiz.toml: Twice that σ doubles every layer's numbers and gradients"""
    x = torch.randn(64, 128, requires_grad=True)
    sizes = {}
    for factor in (1, 2):
        h = x
        for _ in range(8):
            h = h @ (torch.randn(128, 128) * factor * 128**-0.5)
        (grad,) = torch.autograd.grad(h.sum(), x)
        sizes[factor] = (h.std().item(), grad.std().item())
    outputs, grads = (sizes[2][place] / sizes[1][place] for place in (0, 1))
    assert 128 < outputs < 512 and 128 < grads < 512, sizes
    return f"after 8 layers outputs x {outputs:.0f}, gradients x {grads:.0f}, where 2^8 = 256"


def without_residuals_thirty_layers_pass_nothing():
    """block.md: The plain stack multiplies thirty factors below 0.3"""
    grads = []
    for road in (False, True):
        x = torch.tensor(0.5, requires_grad=True)
        h = x
        for _ in range(30):
            h = torch.tanh(0.3 * h) + (h if road else 0)
        grads.append(torch.autograd.grad(h, x)[0].item())
    assert grads[0] < 1e-14 and 1 < grads[1] < 100, grads
    return f"{grads[0]:.0e} without, {grads[1]:.1f} with residuals"


def a_nearly_sure_weight_lets_one_part_in_ten_thousand_through():
    """attention_gradient.md: At 0.9999 one part in ten thousand is left
    attention_gradient.md: At most a quarter, where the head is undecided
    """
    passed = {}
    for weight in (0.5, 0.9999):
        score = torch.tensor(weight, dtype=torch.float64).logit().requires_grad_()
        passed[weight] = torch.autograd.grad(score.sigmoid(), score)[0].item()
    assert abs(passed[0.5] - 0.25) < 1e-9 and abs(passed[0.9999] - 1e-4) < 1e-7, passed
    return ", ".join(f"{share:.6f} at {weight}" for weight, share in passed.items())


def the_row_sum_is_had_from_the_output():
    """attention_gradient.md: So that sum can be had from two short rows."""
    p, v = torch.randn(6, 50, dtype=torch.float64).softmax(-1), torch.randn(50, 4, dtype=torch.float64)
    d_out = torch.randn(6, 4, dtype=torch.float64)
    far = ((p * (d_out @ v.T)).sum(-1) - (d_out * (p @ v)).sum(-1)).abs().max()
    assert far < 1e-12
    return f"apart by {far:.0e}"


def a_backward_pass_has_twice_the_products():
    """attention_gradient.md: forwards there are two products of this size
    attention_gradient.md: a backward pass costs twice its forward pass
    """
    q, k, v = (torch.randn(32, 8, requires_grad=True) for _ in range(3))
    with FlopCounterMode(display=False) as forward:
        out = (q @ k.T).softmax(-1) @ v
    with FlopCounterMode(display=False) as backward:
        out.sum().backward()
    ratio = backward.get_total_flops() / forward.get_total_flops()
    assert ratio == 2
    return f"backward / forward = {ratio}"
