"""Lines that people write in `multi_head` in place of the reference's, with the mistake that each makes."""

INF = float("inf")


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def head_major(mask, scores):
    """The mask of each sequence, repeated for heads that lie sequence by sequence."""
    batch, heads, length, _ = scores.shape
    three = mask.expand(batch, -1, length, length)[:, 0]
    return three.repeat(heads, 1, 1).view(batch, heads, length, length)


# fmt: off
WRONG = {
    "multi_head_attention": [
        ("at-zero-score-hidden", {"hide": "(scores * mask).masked_fill(scores * mask == 0, -INF)"}),
        ("at-zero-score-hidden", {"hide": "torch.where((scores * mask).bool(), scores, -1e4)"}),
        ("hd-view", {"take_x": "x.view(x.size(0) * x.size(1), -1).view(x.shape)"}),
        ("at-fill-too-small", {"hide": "scores.masked_fill(~mask, -1000.0)"}),
        ("at-half", {"hide": "scores.masked_fill(~mask, -1e9)"}),
        ("at-half", {"hide": "scores + (1 - mask.float()) * -1e4"}),
        ("hd-mask-repeated", {"hide": "scores.masked_fill(~head_major(mask, scores), -1e4)"}),
        ("hd-mask-repeated", {"hide": "scores.masked_fill(~head_major(mask, scores), -INF)"}),
        ("hd-mask-of-first-head", {"hide": "scores.masked_fill(~(mask if mask.dim() < 4 else mask[:, :1]), -INF)"}),
        ("hd-mask-of-first-head", {"take_mask": "mask if mask is None or mask.dim() < 4 else mask[:, 0:1]"}),
        ("hd-projection-per-head-shared", {
            "project": "x, x, x",
            "split": "q, k, v = (split_heads(x, num_heads) @ w[: x.size(-1) // num_heads, : x.size(-1) // num_heads].T"
                     " for w in (w_q, w_k, w_v))"}),
        ("hd-projection-per-head-shared", {
            "project": "tuple((x @ w[: x.size(-1) // num_heads].T).repeat(1, 1, num_heads) for w in (w_q, w_k, w_v))"}),
        ("hd-projection-shared", {"project": "F.linear(x, w_q), F.linear(F.linear(x, w_q), w_k), F.linear(x, w_v)"}),
        ("at-cosine", {"score": "unit(q) @ unit(k).transpose(-2, -1)"}),
        ("at-cosine", {"score": "unit(q) @ unit(k).transpose(-2, -1)", "scale": "scores"}),
        ("at-sigmoid", {"weigh": "torch.sigmoid(scores) / torch.sigmoid(scores).sum(-1, keepdim=True)"}),
    ],
}
# fmt: on
