# right: a JAX person: weights reshaped per head, one einsum for each step, no split at all
import torch


def split_heads(x, num_heads):
    b, t, d = x.shape
    return torch.einsum("bthk->bhtk", x.reshape(b, t, num_heads, d // num_heads))


def merge_heads(x):
    b, h, t, k = x.shape
    return torch.einsum("bhtk->bthk", x).reshape(b, t, h * k)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    D = x.shape[-1]
    K = D // num_heads
    wq, wk, wv = (w.reshape(num_heads, K, D) for w in (w_q, w_k, w_v))
    q = torch.einsum("btd,hkd->bthk", x, wq)
    k = torch.einsum("bsd,hkd->bshk", x, wk)
    v = torch.einsum("bsd,hkd->bshk", x, wv)
    logits = torch.einsum("bthk,bshk->bhts", q, k) / K**0.5
    if mask is not None:
        logits = torch.where(mask, logits, torch.full_like(logits, float("-inf")))
    p = torch.softmax(logits, dim=-1)
    o = torch.einsum("bhts,bshk->bthk", p, v)
    return torch.einsum("bthk,dhk->btd", o, w_o.reshape(D, num_heads, K))
