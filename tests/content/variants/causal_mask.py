"""Lines that people write in `causal_mask` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "causal_mask": [
        ("cm-fixed-size", {"version": "torch.ones(600, 600, dtype=torch.bool).tril()[:seq_len, :seq_len]"}),
        ("cm-fixed-size", {"version": "(torch.ones(512, 512).tril() == 1)[:seq_len, :seq_len]"}),
        ("cm-fixed-size", {"length": "torch.arange(600)[:seq_len]"}),
    ],
}
# fmt: on
