"""Lines that people write in `evaluation` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "evaluate": [
        ("ev-sum", {"score": "-flat.log_softmax(-1)[answers != -100, answers[answers != -100]].sum()",
                    "mean": "float(total)"}),
        ("ev-perplexity-returned", {"mean": "torch.exp(torch.tensor(total / count)).item()"}),
        ("ev-log-of-softmax", {"flatten": "(logits.softmax(-1) + 1e-9).log().flatten(0, 1)",
                               "score": "F.nll_loss(flat, answers, reduction='sum')"}),
    ],
    "should_stop": [
        ("es-off-by-one", {"version": "losses != [] and len(losses) >= losses.index(min(losses)) + patience"}),
        ("es-off-by-one", {"version": "(lambda bad: bad >= max(patience - 1, 1))"
                                      "(len(losses) - losses.index(min(losses)) - 1 if losses else 0)"}),
        ("es-start-value", {"best": "min([1e9, *losses[:-patience]])"}),
        ("es-least-progress", {"verdict": "best - recent < 1e-4"}),
        ("es-any-rise", {"verdict": "any(losses[i] >= losses[i - 1] for i in range(1, len(losses)))"}),
        ("es-rises-in-a-row", {"verdict": "all(losses[-i] > losses[-i - 1] for i in range(1, patience + 1))"}),
        ("es-for-good", {"version": "any(min(losses[i:i + patience]) >= min(losses[:i]) for i in range(1, len(losses) "
        "- "
                                    "patience + 1))"}),
    ],
}
# fmt: on
