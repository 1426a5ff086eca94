"""Lines that people write in `encoder` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401  lines below use it

# fmt: off
WRONG = {
    "Encoder": [
        ("en-pooled", {"last": "torch.stack([row[:count].mean(0) for row, count in zip(self.norm(x), [length] * len(x) "
                               "if lengths is None else lengths.tolist())])"}),
        ("at-fill-too-small", {"hide": "torch.where(mask, scores, -1e3) if mask is not None else scores"}),
        ("bl-wrong-activation", {"bend": "hidden * (1.702 * hidden).sigmoid()"}),
        ("lp-from-the-end", {"place": "x + self.pos.weight[self.pos.num_embeddings - length:]"}),
        ("lp-buffer", {"place": "x + self.pos.weight.detach()[:length]"}),
        ("en-causal", {"mask": "(padding_mask(lengths, length).float() * torch.ones(length, length).tril()) > 0"}),
        ("at-scale-d-model", {"scale": "scores / self.wq.weight.size(0) ** 0.5"}),
        ("emb-padding-zeroed", {"look": "nn.functional.embedding(ids, self.tok.weight, padding_idx=0)"}),
    ],
}
# fmt: on
