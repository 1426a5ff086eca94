"""Lines that people write in `tiny_gpt` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "TinyGPT": [
        ("tg-values-turned", {"turn_q": "q, v = apply_rope(q, places), apply_rope(v, places)"}),
        ("ro-other-base", {"turn_q": "apply_rope(q, places, 1e3)", "turn_k": "apply_rope(k, places, 1e3)"}),
    ],
}
# fmt: on
