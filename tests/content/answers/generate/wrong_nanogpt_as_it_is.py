# wrong: gn-mode-left-eval
import torch


@torch.no_grad()
def generate(model, ids, max_new_tokens, max_len, pick):
    model.eval()
    idx = ids
    for _ in range(max_new_tokens):
        # if the sequence context is growing too long we must crop it at block_size
        idx_cond = idx if idx.size(1) <= max_len else idx[:, -max_len:]
        logits = model(idx_cond)
        logits = logits[:, -1, :]
        idx_next = pick(logits)
        idx = torch.cat((idx, idx_next[:, None]), dim=1)
    return idx
