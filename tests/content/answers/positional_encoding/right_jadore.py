# right: list comprehensions in Python floats, then one FloatTensor
import numpy as np
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    def get_position_angle_vec(position):
        return [position / np.power(10000, 2 * (hid_j // 2) / d_model) for hid_j in range(d_model)]

    sinusoid_table = np.array([get_position_angle_vec(pos_i) for pos_i in range(seq_len)])
    sinusoid_table[:, 0::2] = np.sin(sinusoid_table[:, 0::2])
    sinusoid_table[:, 1::2] = np.cos(sinusoid_table[:, 1::2])
    return torch.FloatTensor(sinusoid_table)
