"""The size of a step of Adam."""

import torch


def a_step_does_not_know_the_size_of_its_gradient():
    """adamw.md: a thousand times the loss gives the same steps
    adamw.md: mostly between −1 and 1
    adamw.md: A gradient out of the blue, after a thousand zeros, makes it 2.5.
    """
    usual = torch.randn(1001, 1, dtype=torch.float64)
    blue = torch.zeros_like(usual)
    blue[-1] = 1.0
    weight, places = torch.zeros(3, dtype=torch.float64, requires_grad=True), []
    optimizer = torch.optim.AdamW([weight], lr=1.0, weight_decay=0.0, fused=True)
    for weight.grad in torch.cat([usual, 1000 * usual, blue], dim=1):
        optimizer.step()
        places.append(weight.detach().clone())
    steps = torch.stack(places).diff(dim=0).abs()
    assert torch.allclose(steps[:, 0], steps[:, 1], atol=1e-3)
    assert (steps[:, 0] < 1).double().mean() > 0.95, steps[:, 0].sort().values[-50:]
    assert f"{steps[-1, 2]:.1f}" == "2.5", steps[-1, 2]
    return f"largest of 1000 steps {steps[:, 0].max():.2f}, after 1000 zeros {steps[-1, 2]:.2f}"
