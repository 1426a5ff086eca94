"""Lines that people write in `learned_positions` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "LearnedPositionalEmbedding": [
        ("lp-from-one", {"rows": "self.weight[(torch.arange(length) + 1) % len(self.weight)]"}),
        ("lp-from-one", {"rows": "torch.cat([self.weight[1:], self.weight[-1:]])[:length]"}),
        ("lp-cut-off", {"too_long": "length > len(self.weight) and (x := x[:, :len(self.weight)]) is None"}),
        ("lp-first-text-only", {"add": "x.index_add(0, torch.zeros(1, dtype=torch.long), rows[None])"}),
        ("lp-by-batch", {"rows": "self.weight[torch.arange(x.shape[0]) % self.weight.shape[0]][:, None, :]"}),
        ("lp-mean-row", {"add": "x + rows.mean(dim=0)"}),
    ],
}
# fmt: on
