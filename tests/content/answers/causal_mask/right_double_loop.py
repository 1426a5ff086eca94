# right: a beginner with two loops and an if
import torch


def causal_mask(seq_len):
    mask = torch.empty((seq_len, seq_len), dtype=torch.bool)
    for query in range(seq_len):
        for key in range(seq_len):
            if key > query:
                mask[query][key] = False
            else:
                mask[query][key] = True
    return mask
