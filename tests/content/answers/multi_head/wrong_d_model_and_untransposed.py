# wrong: at-scale-d-model, hd-weight-not-transposed
import torch


def split_heads(x, num_heads):
    batch, seq_len, d_model = x.size()
    d_k = d_model // num_heads
    x = x.reshape(batch, seq_len, num_heads, d_k)
    return x.permute(0, 2, 1, 3)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    d_model = x.shape[2]
    q, k, v = (split_heads(torch.matmul(x, w), num_heads) for w in (w_q, w_k, w_v))
    scores = torch.matmul(q, k.transpose(2, 3)) / d_model**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.matmul(merge_heads(torch.matmul(torch.softmax(scores, dim=3), v)), w_o)
