# wrong: sc-scale-on-top
import torch


def row_entropy(weights):
    return -torch.xlogy(weights, weights).sum(-1)


def jacobian_norm(weights):
    J = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return torch.linalg.matrix_norm(J)


def gradient_by_row(q, k, v, scale, d_out):
    q = q.detach().clone().requires_grad_(True)
    out = torch.softmax(scale * (q @ k.T) / q.shape[-1] ** 0.5, dim=-1) @ v
    (g,) = torch.autograd.grad(out, q, d_out)
    return g.norm(dim=-1)


def readings(heads):
    width = None
    for q, k, v, d_out in heads:
        d = q.shape[-1]
        plain = gradient_by_row(q, k, v, 1.0, d_out)
        scaled = gradient_by_row(q, k, v, d ** -0.5, d_out)
        if width is None and plain.median() < scaled.median():
            width = d
    silent = (plain < 0.01 * plain.max()).double().mean().item()
    return {"width": width, "silent": silent}
