# wrong: gn-first-position, gn-grad-kept
import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    mode = model.training
    model.eval()
    prompt_len = ids.size(1)
    where = min(prompt_len, max_len) - 1
    text = ids
    for _ in range(max_new_tokens):
        logits = model(text[:, -max_len:])
        new = pick(logits[:, where])
        text = torch.cat([text, new.view(-1, 1)], dim=1)
    model.train(mode)
    return text
