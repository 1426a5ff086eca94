# right: torch's encoder, fixed sinusoidal positions in a buffer, OneCycleLR
import math
import torch
from torch import nn


def sinusoids(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


class Sorter(nn.Module):
    def __init__(self, vocab_size, length, positions=True):
        super().__init__()
        d_model = 64
        self.embedding = nn.Embedding(vocab_size, d_model)
        pe = sinusoids(length, d_model) if positions else torch.zeros(length, d_model)
        self.register_buffer("pe", pe)
        encoder_layer = nn.TransformerEncoderLayer(
            d_model=d_model, nhead=8, dim_feedforward=128, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(encoder_layer, num_layers=2, enable_nested_tensor=False)
        self.fc = nn.Linear(d_model, vocab_size)

    def forward(self, ids):
        x = self.embedding(ids) + self.pe
        return self.fc(self.encoder(x))


def fit(model, lists, answers, report):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=len(lists) + 1, pct_start=0.15)
    model.train()
    for x, y in zip(lists, answers):
        logits = model(x)
        loss = criterion(logits.permute(0, 2, 1), y)
        report(loss)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
