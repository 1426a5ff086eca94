# right: HF habits: the lowest number of the dtype, tensors for scalars
import torch
from torch import nn


def scaled_dot_product_attention(query, key, value, mask=None):
    attn_weights = torch.matmul(query, key.transpose(-1, -2))
    attn_weights = attn_weights / torch.full(
        [], key.size(-1) ** 0.5, dtype=attn_weights.dtype, device=attn_weights.device
    )
    if mask is not None:
        mask_value = torch.finfo(attn_weights.dtype).min
        mask_value = torch.full([], mask_value, dtype=attn_weights.dtype, device=attn_weights.device)
        attn_weights = torch.where(mask, attn_weights, mask_value)
    attn_weights = nn.functional.softmax(attn_weights, dim=-1)
    return torch.matmul(attn_weights.to(value.dtype), value)
