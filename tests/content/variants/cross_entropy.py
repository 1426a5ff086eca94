"""Lines that people write in `cross_entropy` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401  lines below use it

# fmt: off
WRONG = {
    "cross_entropy": [
        ("ce-mean-over-all", {
            "reduce": "(losses * counted).sum() / targets.numel() if counted.any() else losses.sum() * float('nan')"}),
        ("ce-ignored-as-class-0", {"classes": "targets.clamp(0, logits.size(-1) - 1)", "reduce": "losses.mean()"}),
        ("ce-log-of-softmax", {"normalise": "(torch.softmax(logits, -1) + 1e-12).log()"}),
        ("ce-log-of-softmax", {"normalise": "logits.softmax(-1).maximum(torch.tensor(1e-20)).log()"}),
        ("ce-log-of-softmax", {"pick": "log_probs.gather(-1, classes.unsqueeze(-1)).clamp(min=-18.4)"}),
    ],
    "perplexity": [
        ("pp-capped", {"exp": "math.exp(mean) if mean <= 20 else float('inf')"}),
        ("pp-capped", {"mean": "min(sum(sums) / sum(counts), 20.0)"}),
    ],
}
# fmt: on
