# wrong: sm-wrong-normaliser
import torch
import torch.nn.functional as F


def softmax(x, dim=-1):
    return F.normalize(torch.exp(x - x.amax(dim, keepdim=True)), dim=dim)
