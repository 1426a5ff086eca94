# wrong: cm-inverted
import torch


def causal_mask(seq_len):
    """True means masked, as nn.MultiheadAttention wants it."""
    return torch.triu(torch.ones(seq_len, seq_len), diagonal=1).to(torch.bool)
