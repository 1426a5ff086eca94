# right: zeros into which ones are written, text by text
import torch


def padding_mask(lengths, max_len):
    batch = lengths.shape[0]
    mask = torch.zeros(batch, 1, 1, max_len, dtype=torch.bool, device=lengths.device)
    for b in range(batch):
        mask[b, :, :, : int(lengths[b])] = True
    return mask


def causal_padding_mask(lengths, max_len):
    batch = lengths.shape[0]
    mask = torch.zeros(batch, 1, max_len, max_len, dtype=torch.bool, device=lengths.device)
    for b in range(batch):
        for i in range(max_len):
            end = min(i + 1, int(lengths[b]))
            mask[b, 0, i, :end] = True
    return mask
