"""Lines that people write in `embedding` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401

# fmt: off
WRONG = {
    "Embedding": [
        ("emb-squeezed", {"look": "torch.squeeze(nn.functional.embedding(ids, self.weight))"}),
        ("emb-flattened", {"look": "self.weight[ids.reshape(-1)]"}),
        ("emb-sqrt-d", {"look": "self.weight[ids].div(self.weight.shape[1] ** 0.5)"}),
    ],
}
# fmt: on
