# right: a beginner who writes a loop over heads and collects the results in a list
import torch


def split_heads(x, num_heads):
    D = x.shape[2]
    d = int(D / num_heads)
    heads = []
    for h in range(num_heads):
        start = h * d
        end = start + d
        heads.append(x[:, :, start:end])
    return torch.stack(heads, dim=1)


def merge_heads(x):
    H = x.shape[1]
    pieces = []
    for h in range(H):
        pieces.append(x[:, h, :, :])
    return torch.cat(pieces, dim=2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    Q = split_heads(x @ w_q.T, num_heads)
    K = split_heads(x @ w_k.T, num_heads)
    V = split_heads(x @ w_v.T, num_heads)
    B, H, T, d = Q.shape
    outputs = []
    for h in range(H):
        scores = torch.bmm(Q[:, h], K[:, h].transpose(1, 2)) / d**0.5
        if mask is not None:
            m = mask.broadcast_to((B, H, T, T))[:, h]
            scores = scores.masked_fill(m.logical_not(), float("-inf"))
        weights = torch.softmax(scores, dim=2)
        outputs.append(torch.bmm(weights, V[:, h]))
    out = merge_heads(torch.stack(outputs, dim=1))
    return out @ w_o.T
