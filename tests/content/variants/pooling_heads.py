"""Lines that people write in `pooling_heads` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "TokenClassifier": [
        ("po-tanh", {"result": "value.tanh()"}),
    ],
    "SequenceClassifier": [
        ("po-tanh", {"by_cls": "torch.tanh(h.select(1, 0))"}),
        ("po-last-for-cls", {"by_cls": "h[:, h.size(1) - 1]"}),
        ("po-max-of-padding", {"hide": "torch.where(mask[..., None], h, -1e4)"}),
        ("po-max-of-sizes", {"by_max": "(h * mask.unsqueeze(-1)).abs().amax(dim=1)"}),
    ],
}
# fmt: on
