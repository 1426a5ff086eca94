"""Lines that people write in `encoder` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "Encoder": [
        ("en-causal", {"mask": "(padding_mask(lengths, length).float() * torch.ones(length, length).tril()) > 0"}),
        ("at-scale-d-model", {"scale": "scores / self.wq.weight.size(0) ** 0.5"}),
        ("emb-padding-zeroed", {"look": "nn.functional.embedding(ids, self.tok.weight, padding_idx=0)"}),
    ],
}
# fmt: on
