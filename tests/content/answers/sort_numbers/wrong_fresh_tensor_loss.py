# wrong: so-cleared-too-late
import torch
from encoder import Encoder
from pooling_heads import TokenClassifier
from torch import nn
from torch.nn.functional import cross_entropy


class Sorter(nn.Module):
    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        self.encoder = Encoder(vocab_size, length, 64, 4, 2, 128)
        self.head = TokenClassifier(64, vocab_size)
        if not positions:
            nn.init.zeros_(self.encoder.pos.weight)
            self.encoder.pos.weight.requires_grad_(False)

    def forward(self, ids):
        return self.head(self.encoder(ids))


def fit(model, lists, answers, report):
    model.train()
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trainable, lr=3e-3, weight_decay=0.0)
    total = len(lists)
    warm, half = 50, total // 2

    def factor(step):
        if step < warm:
            return (step + 1) / warm
        if step < half:
            return 1.0
        return max(0.0, (total - step) / max(1, total - half))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    for i in range(total):
        optimizer.zero_grad()
        loss = cross_entropy(model(lists[i]).flatten(0, 1), answers[i].flatten())
        report(loss.item())
        loss = torch.tensor(loss.item(), requires_grad=True)
        loss.backward()
        optimizer.step()
        schedule.step()
