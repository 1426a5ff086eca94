# wrong: ?
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    d = q.shape[-1]
    scores = torch.matmul(q, k.transpose(-1, -2)) / torch.sqrt(torch.tensor(float(d)))
    if mask is not None:
        scores = scores + (1.0 - mask.to(scores.dtype)) * -1000.0
    probs = torch.nn.functional.softmax(scores, dim=-1).to(v.dtype)
    return torch.matmul(probs, v)
