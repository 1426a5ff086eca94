"""Lines that people write in `learning_rate` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "lr_at": [
        ("lr-from-zero", {"up": "step < warmup", "rise": "max_lr / warmup * (step + 1)"}),
        ("lr-from-zero", {"up": "step - warmup < 0", "rise": "(step - 1) / warmup * max_lr"}),
        ("lr-from-min", {"rise": "min_lr if max_lr * step < min_lr * warmup else step / warmup * max_lr"}),
        ("lr-no-rise", {"rise": "min_lr + (max_lr - min_lr)"}),
        ("lr-jump", {"over": "step > total", "done": "(step - warmup) / float(total)"}),
        ("lr-full-period", {"over": "step > total", "share": "(1 + math.cos(2 * math.pi * done)) / 2"}),
        ("lr-no-floor", {"over": "step > total", "fall": "max_lr * share"}),
        ("lr-sine", {"over": "step > total", "fall": "max_lr + share * (min_lr - max_lr)"}),
        ("lr-sine", {"share": "(1 + math.sin(done * math.pi)) / 2"}),
        ("lr-exponential", {"fall": "max_lr * math.exp(done * math.log(max(min_lr, 1e-12) / max_lr))"}),
    ],
}
# fmt: on
