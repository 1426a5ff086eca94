# right: torch's TransformerEncoder with a causal mask, OneCycleLR
import torch
from torch import nn


class TwoBits(nn.Module):
    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, 32)
        self.position = nn.Parameter(torch.zeros(1, max_len, 32))
        layer = nn.TransformerEncoderLayer(
            d_model=32, nhead=4, dim_feedforward=128, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(32)
        self.lm_head = nn.Linear(32, vocab_size)

    def forward(self, ids):
        T = ids.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(T)
        h = self.embed(ids) + self.position[:, :T]
        h = self.encoder(h, mask=mask, is_causal=True)
        return self.lm_head(self.norm(h))


def fit(model, data, starts, block_size, report):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=5e-3, total_steps=max(len(starts), 2), pct_start=0.1
    )
    windows = data.unfold(0, block_size + 1, 1)
    model.train()
    for row in starts:
        batch = windows[row]
        inputs, targets = batch[:, :-1], batch[:, 1:]
        logits = model(inputs)
        loss = criterion(logits.transpose(1, 2), targets)
        report(loss.detach())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
