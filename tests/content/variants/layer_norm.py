"""Lines that people write in `layer_norm` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "layer_norm": [
        ("ln-multiplied", {"divide": "centred * (var + eps) ** 0.5"}),
    ],
    "rms_norm": [
        ("ln-multiplied", {"shrink": "torch.sqrt(square + eps) * x"}),
        ("ln-absolute", {"square": "x.abs().mean(-1, keepdim=True) ** 2"}),
    ],
}
# fmt: on
