"""The bend between two linear maps: GELU, and SwiGLU with its gate.

The lesson:          learn read activations
Your work, checked:  learn check activations
"""

import torch


def gelu(x, approximate="none"):
    """Let an entry through as far as it is larger than most.

        approximate="none":  x · Φ(x) = x · ½ · (1 + erf(x / √2))
        approximate="tanh":  x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 x³)))

    Φ(x) is the share of the normal numbers below x. The two forms are at
    most 5e-4 apart; here they are told apart.

    Arguments
        x: floating-point tensor of any shape, float32 or float64.
        approximate: "none" or "tanh"; nothing else is asked.

    Returns
        a new tensor with the shape, dtype and device of x. x is not
        changed; gradients flow through it.

    Allowed: erf, tanh, torch.special.ndtr and any tensor arithmetic.
    Not allowed: torch's own gelu, as a function, as a module or as
    a part of another call.

    >>> gelu(torch.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    >>> gelu(torch.tensor([-1.0, 0.0, 1.0]), approximate="tanh")
    tensor([-0.1588,  0.0000,  0.8412])
    """
    raise NotImplementedError("gelu: not written yet")


def swiglu(x, w_gate, w_up, w_down):
    """Widen twice, let one of the two be the other's gate, narrow.

        swiglu(x) = (silu(x W_gateᵀ) ∘ x W_upᵀ) W_downᵀ

    silu(z) = z · σ(z), σ the sigmoid; ∘ multiplies entry by entry. There
    are no biases.

    Arguments
        x: floating-point tensor of shape (..., D), any leading axes, also
           none.
        w_gate, w_up: shape (d_ff, D), weights laid out (out, in).
        w_down: shape (D, d_ff).
        All have one dtype and one device.

    Returns
        a new tensor with the shape, dtype and device of x. No argument is
        changed; gradients flow to all four.

    Allowed: everything; torch's silu too.

    >>> x, eye = torch.tensor([1.0, -1.0]), torch.eye(2)
    >>> swiglu(x, eye, eye, eye)
    tensor([0.7311, 0.2689])
    """
    raise NotImplementedError("swiglu: not written yet")
