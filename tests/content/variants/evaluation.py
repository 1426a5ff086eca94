"""Lines that people write in `evaluation` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "evaluate": [
        ("ev-perplexity-returned", {"mean": "torch.exp(torch.tensor(total / count)).item()"}),
    ],
    "should_stop": [
        ("es-for-good", {"version": "any(min(losses[i:i + patience]) >= min(losses[:i]) for i in range(1, len(losses) "
        "- "
                                    "patience + 1))"}),
    ],
}
# fmt: on
