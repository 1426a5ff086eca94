# wrong: hd-no-input-projection, at-half
import torch


def split_heads(x, num_heads):
    batch, seq_len, d_model = x.size()
    d_k = d_model // num_heads
    x = x.reshape(batch, seq_len, num_heads, d_k)
    return x.permute(0, 2, 1, 3)


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q = k = v = split_heads(x, num_heads)
    scores = torch.matmul(q, k.transpose(2, 3)) / (x.size(-1) // num_heads) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == False, -1e9)
    return torch.matmul(merge_heads(torch.softmax(scores, -1) @ v), w_o.t())
