# wrong: tb-no-zero-grad
import torch
from block import TransformerBlock
from causal_mask import causal_mask
from language_batches import get_batch
from learning_rate import lr_at
from torch import nn


class TwoBits(nn.Module):
    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, 32)
        self.pos = nn.Embedding(max_len, 32)
        self.block1 = TransformerBlock(32, 2, 128)
        self.block2 = TransformerBlock(32, 2, 128)
        self.norm = nn.LayerNorm(32)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.05)

    def forward(self, ids):
        length = ids.shape[1]
        mask = causal_mask(length)
        x = self.tok(ids) + self.pos(torch.arange(length))
        x = self.block1(x, mask)
        x = self.block2(x, mask)
        return self.norm(x) @ self.tok.weight.T


def fit(model, data, starts, block_size, report):
    model.train()
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW([g for g in groups if g["params"]], lr=1e-3, betas=(0.9, 0.98))
    total = len(starts)
    for step in range(1, total + 1):
        for group in optimizer.param_groups:
            group["lr"] = lr_at(step, 4e-3, 4e-4, 40, max(total, 41))
        x, y = get_batch(data, starts[step - 1], block_size)
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        optimizer.step()
        report(float(loss))
