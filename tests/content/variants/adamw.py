"""Lines that people write in `adamw` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "adamw_step": [
        ("aw-coupled", {"decay": "param", "size": "(v_hat.sqrt() + eps)",
                        "move": "param - lr * (weight_decay * param + m_hat) / (v_hat.sqrt() + eps)"}),
        ("aw-old-mean", {"first": "old, m = m, torch.lerp(m, grad, 1 - beta1)", "correct1": "old / (1 - beta1**t)"}),
        ("aw-other-v", {"second": "(beta2 * v + (1 - beta2) * grad**2).maximum(v)"}),
        ("aw-other-v", {"second": "v.lerp((m - grad) ** 2, 1 - beta2)"}),
    ],
}
# fmt: on
