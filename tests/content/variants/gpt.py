"""Lines that people write in `gpt` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401  lines below use it
from torch.nn import functional as F  # noqa: F401, N812

# fmt: off
WRONG = {
    "GPT": [
        ("cm-no-self", {
            "mask": "mask = torch.arange(length, device=x.device)\nmask = mask[:, None] > mask\nmask[:1, :1] = True"}),
        ("lp-from-one", {"place": "x + F.embedding(torch.arange(length) + 1, self.pos.weight)"}),
        ("lp-from-one", {"place": "x + torch.cat([self.pos.weight[1:], self.pos.weight[-1:]])[:length]"}),
        ("at-fill-too-small", {"hide": "torch.where(mask, scores, -1e3)"}),
        ("bl-wrong-activation", {"bend": "hidden * (1.702 * hidden).sigmoid()"}),
        ("lp-from-the-end", {"place": "x + self.pos.weight[self.pos.num_embeddings - length:]"}),
        ("lp-buffer", {"place": "x + self.pos.weight.detach()[:length]"}),
        ("lp-backwards", {"place": "x + self.pos(torch.arange(length - 1, -1, -1, device=x.device))"}),
        ("at-scale-d-model", {"scale": "scores / self.wq.weight.size(0) ** 0.5"}),
        ("emb-padding-zeroed", {"look": "F.embedding(ids, self.tok.weight, padding_idx=0)"}),
        ("lp-cut-off", {
            "length": "ids = ids.flip(1)[:, :len(self.pos.weight)].flip(1)\nlength, longest = ids.size(1), 99"}),
        ("gp-tying-copied", {"tie": "pass"}),
    ],
}
# fmt: on
