# right: static methods of a class that bears the name of the idea
import torch


class Attention:
    @staticmethod
    def scores(q, k):
        return q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5

    @staticmethod
    def scaled_dot_product_attention(q, k, v, mask):
        s = Attention.scores(q, k)
        s = s if mask is None else s.masked_fill(~mask, float("-inf"))
        return torch.softmax(s, -1) @ v


def scaled_dot_product_attention(q, k, v, mask=None):
    return Attention.scaled_dot_product_attention(q, k, v, mask)
