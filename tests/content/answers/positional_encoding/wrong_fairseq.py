# wrong: pe-halves, pe-endpoint
import math

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    half_dim = d_model // 2
    emb = math.log(10000) / max(half_dim - 1, 1)
    emb = torch.exp(torch.arange(half_dim, dtype=torch.float) * -emb)
    emb = torch.arange(seq_len, dtype=torch.float).unsqueeze(1) * emb.unsqueeze(0)
    return torch.cat([torch.sin(emb), torch.cos(emb)], dim=1).view(seq_len, -1)
