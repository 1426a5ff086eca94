# wrong: sm-detached
import numpy as np
import torch


def softmax(x, dim=-1):
    x_np = x.numpy()
    e = np.exp(x_np - np.max(x_np, axis=dim, keepdims=True))
    return torch.tensor(e / np.sum(e, axis=dim, keepdims=True))
