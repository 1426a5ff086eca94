"""Autoregression, the reference: read, pick, append."""

import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    """Continue each text by `max_new_tokens` tokens, one at a time."""
    was_training = model.training  # step: remember
    model.eval()  # step: enter
    with torch.no_grad():
        for _ in range(max_new_tokens):  # step: repeat
            window = ids[:, -max_len:]  # (B, t), t <= max_len  # step: window
            logits = model(window)  # (B, t, V)  # step: forward
            last = logits[:, -1]  # (B, V)  # step: last
            token = pick(last)  # (B,)  # step: pick
            ids = torch.cat([ids, token.unsqueeze(1)], dim=1)  # step: append
    model.train(was_training)  # step: leave
    return ids  # (B, T + max_new_tokens)  # step: give
