"""Lines that people write in `activations` in place of the reference's, with the mistake that each makes."""

import math  # noqa: F401

# fmt: off
WRONG = {
    "gelu": [
        ("ge-constant", {"tanh": "torch.tanh((math.pi / 2) ** 0.5 * cubic)"}),
        ("ge-constant", {"tanh": "(0.7978845608 * x + 0.044715 * x.pow(3)).tanh()"}),
        ("ge-phi-not-times-x", {"times": "share * (x if approximate == 'tanh' else 1)"}),
        ("ge-no-one", {"share": "bent / 2 if approximate != 'tanh' else (1 + bent) / 2"}),
        ("ge-no-one", {"share": "bent / 2 if approximate == 'tanh' else (1 + bent) / 2"}),
        ("ge-sigmoid", {"times": "x * share if approximate == 'none' else x / (1 + torch.exp(-1.702 * x))"}),
        ("ge-constant", {"tanh": "((2 * cubic).exp() - 1) / ((2 * cubic).exp() + 1)"}),
        ("ge-silu", {"times": "x * share if approximate == 'tanh' else x / (1 + torch.exp(-x))"}),
    ],
    "swiglu": [
        ("sg-squared-gate", {"open": "gate.square() / (1 + torch.exp(-gate))"}),
        ("sg-narrowed-apart", {"down": "(opened @ w_down.T).mul(x @ w_up.T @ w_down.T)"}),
        ("sg-other-gate", {"open": "torch.nn.functional.mish(gate)"}),
        ("sg-other-gate", {"open": "torch.log1p(gate.exp())"}),
        ("sg-bent-behind", {"result": "value * torch.sigmoid(value)"}),
    ],
}
# fmt: on
