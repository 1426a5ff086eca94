# right: LLMs-from-scratch: fills its own scores in place, then scales
import torch


def scaled_dot_product_attention(queries, keys, values, mask=None):
    attn_scores = queries @ keys.transpose(-1, -2)
    if mask is not None:
        attn_scores.masked_fill_(~mask, -torch.inf)
    attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
    context_vec = attn_weights @ values
    return context_vec
