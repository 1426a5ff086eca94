# right: reuses the answer of the first lesson
import math

import torch
from softmax import softmax as my_softmax


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q.matmul(k.transpose(-2, -1)).div(math.sqrt(q.shape[-1]))
    if mask is not None:
        scores[~mask.expand_as(scores)] = float("-inf")
    return my_softmax(scores).matmul(v)
