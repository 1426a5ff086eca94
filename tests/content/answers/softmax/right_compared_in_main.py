# right: compares with torch.softmax behind __main__, as the course itself advises
import torch


def softmax(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    c = torch.max(x, dim, keepdim=True).values
    c = torch.where(torch.isfinite(c), c, torch.zeros_like(c))
    unnormalized = torch.exp(x - c)
    return torch.divide(unnormalized, torch.sum(unnormalized, dim, keepdim=True))


if __name__ == "__main__":
    t = torch.randn(3, 4)
    assert torch.allclose(softmax(t), torch.softmax(t, dim=-1))
    print("ok")
