"""Lines that people write in `cross_entropy` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "cross_entropy": [
        ("ce-ignored-as-class-0", {"classes": "targets.clamp(0, logits.size(-1) - 1)", "reduce": "losses.mean()"}),
    ],
}
# fmt: on
