# right: turns the mask into numbers and adds them: (1 − mask) · finfo.min
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scale = q.shape[-1] ** -0.5
    scores = torch.matmul(q * scale, k.mT)
    if mask is not None:
        inverted = 1.0 - mask.to(scores.dtype)
        scores = scores + inverted * torch.finfo(scores.dtype).min
    return torch.matmul(torch.nn.functional.softmax(scores, dim=-1), v)
