"""Lines that people write in `language_batches` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401

# fmt: off
WRONG = {
    "get_batch": [
        ("bat-next-alone", {"targets": "torch.stack([data[s + block_size : s + block_size + 1] for s in starts])"}),
    ],
}
# fmt: on
