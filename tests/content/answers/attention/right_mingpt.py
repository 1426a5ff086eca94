# right: minGPT: att, the factor in front, F.softmax
import math

import torch.nn.functional as F


def scaled_dot_product_attention(q, k, v, mask=None):
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    if mask is not None:
        att = att.masked_fill(mask == 0, float("-inf"))
    att = F.softmax(att, dim=-1)
    return att @ v  # (B, nh, T, T) x (B, nh, T, hs) -> (B, nh, T, hs)
