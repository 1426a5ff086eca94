# right: a beginner who goes through matrices and queries in loops
import torch


def one_query(query, keys, values, allowed):
    d_k = query.shape[0]
    scores = []
    for key in keys:
        scores.append(torch.dot(query, key) / d_k**0.5)
    scores = torch.stack(scores)
    if allowed is not None:
        scores = torch.where(allowed, scores, float("-inf"))
    weights = torch.softmax(scores, dim=0)
    result = torch.zeros_like(values[0])
    for weight, value in zip(weights, values):
        result = result + weight * value
    return result


def scaled_dot_product_attention(q, k, v, mask=None):
    if mask is not None:
        mask = mask.expand(*q.shape[:-1], k.shape[-2])
    if q.dim() > 2:
        parts = [scaled_dot_product_attention(q[i], k[i], v[i], None if mask is None else mask[i]) for i in range(len(q))]
        return torch.stack(parts)
    rows = [one_query(q[i], k, v, None if mask is None else mask[i]) for i in range(len(q))]
    return torch.stack(rows)
