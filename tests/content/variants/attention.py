"""Lines that people write in `attention` in place of the reference's, with the mistake that each makes."""

from torch.nn import functional as F  # noqa: F401, N812

INF = float("inf")


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


# fmt: off
WRONG = {
    "scaled_dot_product_attention": [
        ("at-zero-score-hidden", {"hide": "(scores * mask).masked_fill(scores * mask == 0, -INF)"}),
        ("at-zero-score-hidden", {"hide": "torch.where(scores * mask != 0, scores, torch.finfo(scores.dtype).min)"}),
        ("at-zero-score-hidden", {"hide": "scores.masked_fill(scores.masked_fill(~mask, 0) == 0, -1e4)"}),
        ("at-view", {"take_v": "v.view(-1, *v.shape[-2:]).view(v.shape)"}),
        ("at-view", {"score": "(q.view(-1, *q.shape[-2:]) @ k.view(-1, *k.shape[-2:]).mT)"
                              ".view(*q.shape[:-1], k.size(-2))"}),
        ("at-never-zero", {"weigh": "torch.softmax(scores, dim=-1).clamp(min=1e-7)"}),
        ("at-never-zero", {"weigh": "torch.softmax(scores, -1) + 1e-9"}),
        ("at-mask-one-axis", {"hide": "scores.masked_fill(~mask.expand(*mask.shape[:-2], *scores.shape[-2:]), -INF)"
                                      " if mask.size(-2) else scores"}),
        ("at-mask-one-axis", {"hide": "scores.masked_fill(~mask.transpose(-2, -1).transpose(-2, -1), -INF)"}),
        ("at-fill-too-small", {"hide": "scores.masked_fill(~mask, -1000.0)"}),
        ("at-fill-too-small", {"scale": "scores", "hide": "scores.masked_fill(mask == 0, -1e3)",
                               "weigh": "torch.softmax(scores / q.size(-1) ** 0.5, dim=-1)"}),
        ("at-fill-too-small", {"hide": "torch.where(mask, scores, -500.0)"}),
        ("at-half", {"hide": "scores.masked_fill(mask == 0, -1e9)"}),
        ("at-half", {"hide": "scores.masked_fill(~mask, torch.finfo(torch.float32).min)"}),
        ("at-half", {"hide": "torch.where(mask, scores, torch.full_like(scores, -1e20))"}),
        ("at-half", {"hide": "scores + (1 - mask.float()) * -1e4"}),
        ("at-half", {"hide": "scores + torch.zeros(mask.shape).masked_fill(~mask, -INF).to(q.device)"}),
        ("at-cosine", {"score": "unit(q) @ unit(k).transpose(-2, -1)"}),
        ("at-cosine", {"score": "unit(q) @ unit(k).transpose(-2, -1)", "scale": "scores"}),
        ("at-cosine", {"score": "F.cosine_similarity(q.unsqueeze(-2), k.unsqueeze(-3), dim=-1)", "scale": "scores"}),
        ("at-sigmoid", {"weigh": "torch.sigmoid(scores) / torch.sigmoid(scores).sum(-1, keepdim=True)"}),
        ("at-sigmoid", {"weigh": "torch.sigmoid(scores)"}),
        ("at-z-scores", {
            "scale": "(scores - scores.mean(-1, keepdim=True)) / scores.std(-1, keepdim=True, correction=0)"}),
        ("at-rounded", {"weigh": "torch.round(torch.softmax(scores, -1), decimals=4)"}),
        ("at-rounded", {"result": "value.round(decimals=4)"}),
    ],
}
# fmt: on
