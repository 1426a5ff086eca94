# wrong: gn-last-token-only
import torch


@torch.no_grad()
def generate(model, ids, max_new_tokens, max_len, pick):
    was_training = model.training
    model.eval()
    idx = ids
    for _ in range(max_new_tokens):
        # if the sequence context is growing too long we must crop it at block_size
        idx_cond = idx[:, -1:]
        logits = model(idx_cond)
        logits = logits[:, -1, :]
        idx_next = pick(logits)
        idx = torch.cat((idx, idx_next[:, None]), dim=1)
    if was_training:
        model.train()
    return idx
