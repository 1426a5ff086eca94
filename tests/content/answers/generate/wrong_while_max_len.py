# wrong: gn-up-to-max-len
import torch


@torch.no_grad()
def generate(model, ids, max_new_tokens, max_len, pick):
    was_training = model.training
    model.eval()
    idx = ids
    while idx.size(1) < min(max_len, ids.size(1) + max_new_tokens):
        # if the sequence context is growing too long we must crop it at block_size
        idx_cond = idx if idx.size(1) <= max_len else idx[:, -max_len:]
        logits = model(idx_cond)
        logits = logits[:, -1, :]
        idx_next = pick(logits)
        idx = torch.cat((idx, idx_next[:, None]), dim=1)
    if was_training:
        model.train()
    return idx
