# right: repeats every frequency twice and adds a phase of a quarter turn
import math

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    freq = torch.pow(10000.0, -torch.arange(0, d_model, 2) / d_model).repeat_interleave(2)
    phase = torch.tensor([0.0, math.pi / 2]).repeat(d_model // 2)
    return torch.sin(torch.arange(seq_len).unsqueeze(-1) * freq + phase)
