# right: nanoGPT people keep a big triangle and cut it; here the buffer grows as needed
import torch
import torch.nn as nn


class MaskBuffer(nn.Module):
    def __init__(self, block_size):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))


_buffer = MaskBuffer(64)


def causal_mask(seq_len):
    global _buffer
    if seq_len > _buffer.bias.size(-1):
        _buffer = MaskBuffer(2 * seq_len)
    return _buffer.bias[0, 0, :seq_len, :seq_len] != 0
