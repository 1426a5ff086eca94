"""Lines that people write in `generate` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401  lines below use it

# fmt: off
WRONG = {
    "generate": [
        ("gn-last-fed-again", {"leave": "with torch.no_grad():\n    pick(model(ids[:, -max_len:])[:, -1])\n"
                                        "model.train(was_training)"}),
        ("gn-crop-short", {"window": "ids[:, ids.size(1) - max_len + 1:] if 1 < max_len < ids.size(1) else ids[:, "
        "-max_len:]"}),
        ("gn-crop-long", {"window": "ids[:, -(max_len + 1):]"}),
        ("gn-crop-long", {"window": "ids[:, max(0, ids.size(1) - max_len - 1):]"}),
        ("gn-ends-early", {"pick": "token = pick(last)\nif not token.any():\n    "
                                   "ids = torch.column_stack([ids, token])\n    break"}),
    ],
}
# fmt: on
