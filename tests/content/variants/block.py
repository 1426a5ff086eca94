"""Lines that people write in `block` in place of the reference's, with the mistake that each makes."""

from torch.nn import functional as F  # noqa: F401, N812

INF = float("inf")

# fmt: off
WRONG = {
    "TransformerBlock": [
        ("at-zero-score-hidden", {"hide": "(scores * mask).masked_fill(scores * mask == 0, -INF)"}),
        ("at-fill-too-small", {"hide": "scores.masked_fill(~mask, -1000.0)"}),
        ("bl-view", {"take_x": "x.view(x.size(0) * x.size(1), -1).view(x.shape)"}),
        ("bl-dropout", {"pre_sum1": "x + nn.functional.dropout(heard, 0.1, self.training)",
                        "post_sum1": "x + nn.functional.dropout(heard, 0.1, self.training)"}),
        ("bl-dropout", {"ffn": "self.ffn = FeedForward(d_model, d_ff)\nself.drop = nn.Dropout(0.2)",
                        "pre_sum2": "h + self.drop(thought)"}),
        ("bl-dropout", {"weigh": "nn.functional.dropout(torch.softmax(scores, -1), p=0.1, training=self.training)"}),
        ("bl-norm-axis", {"pre_norm1": "F.layer_norm(x, x.shape[1:])", "pre_norm2": "F.layer_norm(h, h.shape[1:])",
                          "post_norm1": "F.layer_norm(h, h.shape[1:])",
                          "post_norm2": "F.layer_norm(out, out.shape[1:])"}),
        ("bl-norm-fresh", {"pre_norm1": "nn.LayerNorm(x.size(-1))(x)", "pre_norm2": "nn.LayerNorm(x.size(-1))(h)",
                           "post_norm1": "nn.LayerNorm(x.size(-1))(h)", "post_norm2": "nn.LayerNorm(x.size(-1))(out)"}),
        ("bl-norm-fresh", {"pre_norm1": "F.layer_norm(x, (x.size(-1),))", "pre_norm2": "F.layer_norm(h, (x.size(-1),))",
                           "post_norm1": "F.layer_norm(h, (x.size(-1),))",
                           "post_norm2": "F.layer_norm(out, (x.size(-1),))"}),
        ("bl-bare", {"pre_norm1": "x", "pre_sum1": "heard", "pre_norm2": "h", "pre_sum2": "thought",
                     "post_norm1": "h", "post_sum1": "heard", "post_norm2": "out", "post_sum2": "thought"}),
        ("bl-norm-eps", {"norm1": "nn.LayerNorm(d_model, eps=1e-10)", "norm2": "nn.LayerNorm(d_model, eps=1e-10)"}),
        ("bl-norm-eps", {"norm1": "nn.LayerNorm(d_model, eps=1e-3)", "norm2": "nn.LayerNorm(d_model, eps=1e-3)"}),
        ("bl-scaled-residual", {"pre_sum1": "x + 0.5 * heard", "pre_sum2": "h + 0.5 * thought",
                                "post_sum1": "x + 0.5 * heard", "post_sum2": "h + 0.5 * thought"}),
        ("bl-scaled-residual", {"pre_sum1": "(x + heard) / 2**0.5", "pre_sum2": "(h + thought) / 2**0.5",
                                "post_sum1": "(x + heard) / 2**0.5", "post_sum2": "(h + thought) / 2**0.5"}),
        ("bl-ffn-first", {"pre_talk": "self.ffn(self.norm2(x))", "pre_norm2": "self.norm1(h)",
                          "pre_think": "self.attn(y, mask)"}),
        ("bl-tied", {"narrow": "hidden @ self.w1.weight + self.w2.bias"}),
        ("hd-mask-of-first-head", {"take_mask": "mask if mask is None or mask.dim() < 4 else mask[:, :1]"}),
    ],
}
# fmt: on
