# right: the flash attention loop: blocks of keys, a running maximum, a running sum
import torch


def scaled_dot_product_attention(q, k, v, mask=None, block=3):
    T, S = q.shape[-2], k.shape[-2]
    if mask is None:
        mask = torch.ones(T, S, dtype=torch.bool, device=q.device)
    mask = mask.expand(*q.shape[:-2], T, S)
    m = q.new_full((*q.shape[:-1], 1), torch.finfo(q.dtype).min)
    l = torch.zeros_like(m)
    acc = q.new_zeros(*q.shape[:-1], v.shape[-1])
    for start in range(0, S, block):
        cols = slice(start, min(start + block, S))
        s = q @ k[..., cols, :].transpose(-2, -1) / q.shape[-1] ** 0.5
        s = s.masked_fill(~mask[..., cols], float("-inf"))
        m_new = torch.maximum(m, s.amax(-1, keepdim=True))
        p = torch.exp(s - m_new)
        correction = torch.exp(m - m_new)
        l = l * correction + p.sum(-1, keepdim=True)
        acc = acc * correction + p @ v[..., cols, :]
        m = m_new
    return acc / l
