# wrong: forbidden-call
import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
