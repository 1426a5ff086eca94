# right: LLMs-from-scratch marks what is hidden (triu, diagonal=1); turned round at the end
import torch


def causal_mask(seq_len: int) -> torch.Tensor:
    mask_bool = torch.triu(torch.ones(seq_len, seq_len), diagonal=1).bool()
    return ~mask_bool
