# wrong: cm-fixed-size
import torch

BLOCK_SIZE = 16
tril = torch.tril(torch.ones(BLOCK_SIZE, BLOCK_SIZE)).bool()


def causal_mask(seq_len):
    return tril
