# wrong: gn-train-mode
import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    with torch.no_grad():
        for _ in range(max_new_tokens):
            logits = model(ids[:, -max_len:])
            new = pick(logits[:, -1]).view(-1, 1)
            ids = torch.cat([ids, new], dim=-1)
    return ids
