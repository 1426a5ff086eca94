"""Lines that people write in `language_batches` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401

# fmt: off
WRONG = {
    "split": [
        ("bat-share-of-held-out", {"cut": "int(len(data) - len(data) * share)"}),
    ],
    "get_batch": [
        ("bat-window-too-long", {"inputs": "torch.stack([data[s : s + block_size + 1] for s in starts])"}),
        ("bat-target-next-window", {"targets": "data.roll(-block_size)[places]"}),
        ("bat-starts-in-blocks", {"places": "(block_size * starts % (len(data) - block_size))[:, None] + steps"}),
        ("bat-next-alone", {"targets": "torch.stack([data[s + block_size : s + block_size + 1] for s in starts])"}),
    ],
}
# fmt: on
