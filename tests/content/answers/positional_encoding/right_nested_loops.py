# right: a beginner, element by element with math.sin
import math

import torch


def get_angle(pos, i, d_model):
    return pos / math.pow(10000, (2 * (i // 2)) / d_model)


def sinusoidal_positional_encoding(seq_len, d_model):
    pe = torch.zeros(seq_len, d_model)
    for pos in range(seq_len):
        for i in range(d_model):
            angle = get_angle(pos, i, d_model)
            if i % 2 == 0:
                pe[pos, i] = math.sin(angle)
            else:
                pe[pos, i] = math.cos(angle)
    return pe
