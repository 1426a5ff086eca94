# wrong: hd-mask-repeated
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, D = x.shape
    q, k, v = (split_heads(x @ w.T, num_heads).reshape(B * num_heads, T, -1) for w in (w_q, w_k, w_v))
    scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
    if mask is not None:
        mask = mask.expand(B, 1, T, T)[:, 0].repeat(num_heads, 1, 1)
        scores = scores.masked_fill(~mask, float("-inf"))
    out = torch.bmm(torch.softmax(scores, -1), v)
    return merge_heads(out.view(B, num_heads, T, -1)) @ w_o.T
