# right: a row of ones for each text, filled up by torch's own pad_sequence
import torch
from torch.nn.utils.rnn import pad_sequence


def padding_mask(lengths, max_len):
    rows = [torch.ones(n, dtype=torch.bool, device=lengths.device) for n in lengths.tolist()]
    rows.append(torch.ones(max_len, dtype=torch.bool, device=lengths.device))  # the box
    return pad_sequence(rows, batch_first=True)[:-1, None, None, :]


def causal_padding_mask(lengths, max_len):
    return padding_mask(lengths, max_len).repeat(1, 1, max_len, 1).tril()
