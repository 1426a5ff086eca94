# right: a one-liner as a lambda
import torch

softmax = lambda x, dim=-1: (lambda e: e / e.sum(dim, keepdim=True))(torch.exp(x - x.max(dim, keepdim=True)[0]))
