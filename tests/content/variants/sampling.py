"""Lines that people write in `sampling` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401

# fmt: off
WRONG = {
    "next_token_probs": [
        ("gn-topp-not-unsorted", {"restore": "probs.masked_fill(ranked.cumsum(-1) - ranked >= top_p, 0.0)"}),
        ("gn-topp-not-unsorted", {
            "restore": "probs.masked_fill(torch.gather(ranked.cumsum(-1) - ranked >= top_p, 1, order), 0.0)"}),
        ("gn-overflow", {
            "scale": "(logits / temperature).exp()", "asked_k": "top_k is not None and top_k < logits.size(1)",
            "cut": "scaled.where(scaled >= least, 0)", "normalise": "scaled / scaled.sum(1, keepdim=True)"}),
        ("gn-topk-batch-threshold", {
            "cut": "scaled.where((scaled >= scaled.flatten().sort().values[-min(top_k, scaled.numel())])"
                   " | (scaled == scaled.amax(1, keepdim=True)), -torch.inf)"}),
        ("gn-temperature-bounded", {"scale": "logits / torch.tensor(temperature).clamp(min=0.1)"}),
        ("gn-fill-finite", {"cut": "torch.where(scaled >= least, scaled, -1e4)"}),
        ("gn-topp-each", {"nucleus": "ranked * ((ranked >= 1 - top_p) | (torch.arange(ranked.size(1)) == 0))"}),
        ("gn-in-place", {"scale": "logits if temperature == 1.0 else logits / temperature",
                         "cut": "scaled[scaled < least] = -torch.inf"}),
    ],
}
# fmt: on
