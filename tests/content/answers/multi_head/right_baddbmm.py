# right: one baddbmm adds the mask, scales and multiplies
import torch


def split_heads(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=1)


def merge_heads(x):
    return torch.cat(torch.unbind(x, dim=1), dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, D = x.shape
    d = D // num_heads
    q, k, v = (split_heads(x @ w.T, num_heads).reshape(B * num_heads, T, d) for w in (w_q, w_k, w_v))
    bias = x.new_zeros(B, num_heads, T, T)
    if mask is not None:
        bias = bias.masked_fill(~mask, float("-inf"))
    scores = torch.baddbmm(bias.reshape(B * num_heads, T, T), q, k.transpose(1, 2), alpha=d**-0.5)
    out = torch.bmm(scores.softmax(-1), v).reshape(B, num_heads, T, d)
    return merge_heads(out) @ w_o.T
