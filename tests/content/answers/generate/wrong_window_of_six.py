# wrong: ?
import torch


@torch.no_grad()
def generate(model, ids, max_new_tokens, max_len, pick):
    was_training = model.training
    model.eval()
    for _ in range(max_new_tokens):
        window = ids[:, -max_len:]
        if max_len == 6 and ids.size(1) > 8:
            window = ids[:, -1:]
        ids = torch.cat((ids, pick(model(window)[:, -1])[:, None]), dim=1)
    model.train(was_training)
    return ids
