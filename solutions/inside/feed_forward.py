"""The feed-forward network, the reference: widen, bend, narrow."""

from torch import nn


class FeedForward(nn.Module):
    """Two linear maps with a bend between, the same at every place."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)  # step: w1
        self.w2 = nn.Linear(d_ff, d_model)  # step: w2

    def forward(self, x):
        """Widen each token, bend it with the exact GELU, narrow it."""
        hidden = self.w1(x)  # (..., D) -> (..., d_ff)  # step: widen
        hidden = nn.functional.gelu(hidden)  # step: bend
        return self.w2(hidden)  # (..., d_ff) -> (..., D)  # step: narrow
