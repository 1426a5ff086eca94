# right: the online softmax of the flash attention paper: one pass, a running maximum and a running sum
import torch


def softmax(x, dim=-1):
    pieces = x.unbind(dim)
    m = pieces[0]
    l = torch.ones_like(m)
    for piece in pieces[1:]:
        m_new = torch.maximum(m, piece)
        safe = torch.where(torch.isinf(m_new), torch.zeros_like(m_new), m_new)
        l = l * torch.exp(m - safe) + torch.exp(piece - safe)
        m = m_new
    return torch.stack([torch.exp(p - m) / l for p in pieces], dim=dim)
