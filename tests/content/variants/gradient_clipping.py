"""Lines that people write in `gradient_clipping` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "clip_gradients": [
        ("cl-no-norm", {"limit": "min(1.0, max_norm / (norm.item() + 1e-6))", "give": "list(clipped)"}),
        ("cl-none-to-zero", {"scale": "[g * factor if g is not None else norm.new_zeros(1) for g in grads]"}),
        ("cl-inverted", {"factor": "norm / max_norm", "limit": "factor if norm > max_norm else 1.0"}),
        ("cl-none-to-zero", {
            "scale": "[g * factor if g is not None else torch.zeros(()) if norm > max_norm else None for g in grads]"}),
        ("cl-nan-hidden", {"kept": "grads = [g if g is None else g.where(~g.isnan(), 0.0) for g in grads]\n"
                                   "kept = [grad for grad in grads if grad is not None]"}),
        ("cl-large-eps", {"factor": "max_norm / (norm + 1e-5)"}),
        ("cl-max-abs", {"norm": "torch.stack([grad.abs().max() for grad in kept]).max()",
                        "factor": "max_norm / (norm + 1e-6)"}),
        ("cl-to-one", {"factor": "1 / norm", "limit": "factor if norm > max_norm else 1.0"}),
        ("cl-squared-factor", {"factor": "max_norm / norm**2", "limit": "factor if norm > max_norm else 1.0"}),
        ("cl-mean-square", {"squares": "[(grad**2).mean() for grad in kept]"}),
    ],
}
# fmt: on
