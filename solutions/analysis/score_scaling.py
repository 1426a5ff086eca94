"""What √d_k does, the reference: three instruments, and two readings."""

import torch


def row_entropy(weights):
    """Measure how widely each row of weights is spread, in nats."""
    # 0 · ln 0 is to be 0: put a 1 there, whose logarithm is 0
    logs = weights.masked_fill(weights == 0, 1.0).log()  # step: logs
    terms = -weights * logs  # (..., S)  # step: terms
    return terms.sum(dim=-1)  # (...)  # step: spread


def jacobian_norm(weights):
    """Measure how much the softmax lets through, row by row."""
    own = torch.diag_embed(weights)  # (..., S, S)  # step: own
    # (..., S, 1) * (..., 1, S) -> (..., S, S)
    others = weights.unsqueeze(-1) * weights.unsqueeze(-2)  # step: others
    jacobian = own - others  # step: jacobian
    squares = jacobian.square().sum(dim=(-2, -1))  # (...)  # step: squares
    return squares.sqrt()  # step: size


def gradient_by_row(q, k, v, scale, d_out):
    """Measure how long the gradient of each query is."""
    p = torch.softmax(scale * (q @ k.T), dim=-1)  # (T, S)  # step: weights
    dp = d_out @ v.T  # (T, d_v) @ (d_v, S) -> (T, S)  # step: pull
    ds = p * (dp - (p * dp).sum(dim=-1, keepdim=True))  # step: through
    dq = scale * (ds @ k)  # (T, S) @ (S, d_k) -> (T, d_k)  # step: query
    return dq.norm(dim=-1)  # (T,)  # step: length


def readings(heads):
    """Read two numbers off heads of several widths."""
    width = None
    for q, k, v, d_out in heads:  # step: heads
        d_k = q.size(-1)  # step: width
        raw = gradient_by_row(q, k, v, 1.0, d_out)  # step: raw
        scaled = gradient_by_row(q, k, v, d_k**-0.5, d_out)  # step: scaled
        less = raw.median() < scaled.median()  # step: less
        if width is None and less:  # step: first
            width = d_k
    q, k, v, d_out = heads[-1]  # step: widest
    rows = gradient_by_row(q, k, v, 1.0, d_out)  # step: rows
    quiet = rows < 0.01 * rows.max()  # step: quiet
    silent = quiet.double().mean().item()  # step: share
    return {"width": width, "silent": silent}  # step: readings
