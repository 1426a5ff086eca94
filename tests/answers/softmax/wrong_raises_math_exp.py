# wrong: ?
import torch


def softmax(x, dim=-1):
    import math
    e = math.exp(x)
    return e / sum(e)
