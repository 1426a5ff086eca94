"""Lines that people write in `kv_cache` in place of the reference's, with the mistake that each makes."""

import torch  # noqa: F401

# fmt: off
WRONG = {
    "cached_attention": [
        ("kv-cache-detached", {"give": "out, tuple(each.detach() for each in (k, v))"}),
        ("kv-cache-detached", {"give": "out, (k.data, v.data)"}),
        ("kv-cache-detached", {"known": "cache is not None and (cache := [each.data for each in cache])"}),
        ("kv-chunk-hidden", {
            "mask": "torch.cat([visible[:, new:], torch.eye(new, dtype=torch.bool, device=q.device)], dim=1)"}),
        ("kv-self-hidden", {
            "mask": "(lambda i, j: (j < i) | (i == 0) & (j == 0))"
                    "(torch.arange(total - new, total)[:, None], torch.arange(total))"}),
        ("at-fill-too-small", {"hide": "torch.where(visible, scores, -1e3)"}),
        ("kv-not-a-pair", {"give": "(out, *(k, v))"}),
        ("at-scale-dk", {"score": "(q / q.shape[-1] ** 0.5) @ k.mT"}),
        ("kv-values-forgotten", {"values": "torch.cat((cache[0], v), -2)"}),
    ],
}
# fmt: on
