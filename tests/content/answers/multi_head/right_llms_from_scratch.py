# right: LLMs-from-scratch: marks what is hidden, fills its own scores in place, scales inside the softmax call
import torch


def split_heads(x, num_heads):
    b, num_tokens, d_out = x.shape
    head_dim = d_out // num_heads
    x = x.view(b, num_tokens, num_heads, head_dim)
    return x.transpose(1, 2)


def merge_heads(x):
    b, num_heads, num_tokens, head_dim = x.shape
    context_vec = x.transpose(1, 2)
    return context_vec.contiguous().view(b, num_tokens, num_heads * head_dim)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    keys = split_heads(x @ w_k.T, num_heads)
    queries = split_heads(x @ w_q.T, num_heads)
    values = split_heads(x @ w_v.T, num_heads)
    attn_scores = queries @ keys.transpose(2, 3)
    if mask is not None:
        mask_bool = ~mask
        attn_scores.masked_fill_(mask_bool, -torch.inf)
    attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
    return merge_heads(attn_weights @ values) @ w_o.T
