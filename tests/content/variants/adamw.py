"""Lines that people write in `adamw` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401  lines below use it

# fmt: off
WRONG = {
    "adamw_step": [
        ("aw-coupled", {"decay": "param", "size": "(v_hat.sqrt() + eps)",
                        "move": "param - lr * (weight_decay * param + m_hat) / (v_hat.sqrt() + eps)"}),
        ("aw-old-mean", {"first": "old, m = m, torch.lerp(m, grad, 1 - beta1)", "correct1": "old / (1 - beta1**t)"}),
        ("aw-other-v", {"second": "(beta2 * v + (1 - beta2) * grad**2).maximum(v)"}),
        ("aw-other-v", {"second": "v.lerp((m - grad) ** 2, 1 - beta2)"}),
        ("aw-one-beta", {"correct1": "m.div(1 - pow(beta2, t))", "correct2": "v.div(1 - pow(beta1, t))"}),
        ("aw-eps-as-bound", {"size": "torch.maximum(v_hat.sqrt(), torch.tensor(eps))"}),
        ("aw-decay-matrices", {"decay": "param * (1 - lr * weight_decay * (len(param.shape) >= 2))"}),
    ],
}
# fmt: on
