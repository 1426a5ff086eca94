"""Lines that people write in `rope` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "apply_rope": [
        ("ro-added", {"give": "x + (cos + sin).repeat_interleave(2, -1)"}),
        ("ro-half-turned", {"give": "torch.where(torch.arange(d_head) < d_head // 2, pairs.flatten(-2), x)"}),
    ],
}
# fmt: on
