# right: RoPE-minded: inverse frequencies, outer product, stack and flatten
import torch


def sinusoidal_positional_encoding(seq_len: int, d_model: int) -> torch.Tensor:
    inv_freq = 1.0 / (10000 ** (torch.arange(0, d_model, 2).float() / d_model))
    t = torch.arange(seq_len, dtype=inv_freq.dtype)
    freqs = torch.outer(t, inv_freq)
    emb = torch.stack([freqs.sin(), freqs.cos()], dim=-1)
    return emb.flatten(-2)
