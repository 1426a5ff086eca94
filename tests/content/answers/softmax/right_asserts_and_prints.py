# right: debug prints left in, and asserts about shapes
import torch


def softmax(x, dim=-1):
    print("x", x.shape, "dim", dim)
    m = x.max(dim=dim, keepdim=True)[0].detach()
    assert m.shape[dim] == 1, m.shape
    e = (x - m).exp()
    s = e.sum(dim=dim, keepdim=True)
    assert s.shape == m.shape
    out = e / s
    assert out.shape == x.shape
    assert torch.allclose(out.sum(dim), torch.ones_like(out.sum(dim)), atol=1e-4)
    print(f"sums: {out.sum(dim)}")
    return out
