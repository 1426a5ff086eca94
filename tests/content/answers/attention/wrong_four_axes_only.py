# wrong: at-one-rank-only
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    batch_size, head, length, d_tensor = k.size()
    k_t = k.transpose(2, 3)
    score = (q @ k_t) / d_tensor**0.5
    if mask is not None:
        score = score.masked_fill(mask == 0, -10000)
    score = torch.softmax(score, dim=-1)
    return score @ v
