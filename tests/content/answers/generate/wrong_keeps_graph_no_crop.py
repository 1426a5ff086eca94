# wrong: gn-no-crop, gn-grad-kept
import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    was_training = model.training
    model.eval()
    for _ in range(max_new_tokens):
        logits = model(ids)
        ids = torch.cat([ids, pick(logits[:, -1]).unsqueeze(1)], dim=1)
    model.train(was_training)
    return ids
