# right: the annotated transformer's habit: a numpy triangle of what is hidden, compared with 0
import numpy as np
import torch


def subsequent_mask(size):
    hidden = np.triu(np.ones((1, size, size)), k=1).astype("uint8")
    return torch.from_numpy(hidden) == 0


def causal_mask(seq_len):
    return subsequent_mask(seq_len)[0]
