# right: knows F.normalize and uses it with p=1
import torch
import torch.nn.functional as F


def softmax(x, dim=-1):
    e = torch.exp(x - torch.amax(x, dim, keepdim=True))
    return F.normalize(e, p=1.0, dim=dim)
