# wrong: cm-float
import numpy as np
import torch


def causal_mask(seq_len):
    return torch.from_numpy(1 - np.triu(np.ones((seq_len, seq_len)), k=1).astype("uint8"))
