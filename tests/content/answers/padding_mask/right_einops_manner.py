# right: hidden places first, as Hugging Face has them, then turned around
import torch


def _hidden(lengths, max_len):
    return torch.arange(max_len, device=lengths.device).expand(lengths.numel(), -1).ge(lengths.unsqueeze(-1))


def padding_mask(lengths, max_len):
    return _hidden(lengths, max_len).logical_not().reshape(-1, 1, 1, max_len)


def causal_padding_mask(lengths, max_len):
    future = torch.ones((max_len, max_len), dtype=torch.bool, device=lengths.device).triu(diagonal=1)
    blocked = future.unsqueeze(0) | _hidden(lengths, max_len).unsqueeze(1)  # (B, T, T)
    return (~blocked).unsqueeze(1)
