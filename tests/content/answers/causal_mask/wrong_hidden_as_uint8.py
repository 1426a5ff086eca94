# wrong: cm-inverted, cm-float
import numpy as np
import torch


def causal_mask(seq_len):
    attn_shape = (seq_len, seq_len)
    return torch.from_numpy(np.triu(np.ones(attn_shape), k=1).astype("uint8"))
