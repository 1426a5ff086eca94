# wrong: sm-sigmoid
import torch


def softmax(x, dim=-1):
    return 1 / (1 + torch.exp(-x))
