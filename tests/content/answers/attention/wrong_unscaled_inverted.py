# wrong: at-no-scale, at-mask-inverted
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    attn = torch.matmul(q, k.mT)
    if mask is not None:
        attn.masked_fill_(mask, float("-inf"))
    return attn.softmax(-1).matmul(v)
