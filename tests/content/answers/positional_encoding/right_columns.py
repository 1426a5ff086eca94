# right: builds the table column by column and transposes it
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    p = torch.arange(seq_len, dtype=torch.float32)
    columns = []
    for i in range(0, d_model, 2):
        w = 1 / (10000 ** (i / d_model))
        columns += [torch.sin(p * w), torch.cos(p * w)]
    table = torch.stack(columns).T
    print("table", table.shape)
    return table
