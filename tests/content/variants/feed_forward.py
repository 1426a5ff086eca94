"""Lines that people write in `feed_forward` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401
from torch.nn import functional as F  # noqa: F401, N812

# fmt: off
WRONG = {
    "FeedForward": [
        ("ff-before-first", {"widen": "self.w1(F.gelu(x))", "bend": "hidden"}),
        ("ff-other-activation", {"bend": "0.5 * hidden * (1.0 + torch.erf(hidden))"}),
        ("ff-bias-twice", {"narrow": "hidden @ self.w2.weight.T + 2 * self.w2.bias"}),
    ],
}
# fmt: on
