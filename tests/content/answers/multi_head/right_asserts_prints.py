# right: prints and asserts everywhere, an additive mask of its own
import torch

DEBUG = True


def log(*args):
    if DEBUG:
        print(*args)


def split_heads(x, num_heads):
    B, T, D = x.shape
    assert D % num_heads == 0, "d_model must be divisible by num_heads"
    out = x.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3).contiguous()
    log("split", tuple(x.shape), "->", tuple(out.shape))
    return out


def merge_heads(x):
    B, H, T, d = x.shape
    out = x.permute(0, 2, 1, 3).contiguous().view(B, T, H * d)
    log("merge", tuple(x.shape), "->", tuple(out.shape))
    return out


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    B, T, D = x.shape
    assert w_q.shape == w_k.shape == w_v.shape == w_o.shape == (D, D)
    q, k, v = [split_heads(x @ w.transpose(0, 1), num_heads) for w in (w_q, w_k, w_v)]
    scores = torch.matmul(q, k.transpose(-1, -2)) / (D // num_heads) ** 0.5
    log("scores", scores.mean().item())
    if mask is not None:
        assert mask.dtype == torch.bool
        additive = torch.zeros_like(scores).masked_fill_(~mask, float("-inf"))
        scores = scores + additive
    weights = torch.softmax(scores, dim=-1)
    assert torch.allclose(weights.sum(-1), torch.ones_like(weights.sum(-1)), atol=1e-5)
    context = weights @ v
    assert context.shape == (B, num_heads, T, D // num_heads)
    return merge_heads(context) @ w_o.transpose(0, 1)
