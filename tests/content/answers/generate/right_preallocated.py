# right: a tensor of the final size
import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    B, T = ids.size()
    out = torch.empty((B, T + max_new_tokens), dtype=ids.dtype, device=ids.device)
    out[:, :T].copy_(ids)
    training = model.training
    model.train(False)
    with torch.no_grad():
        for n in range(T, T + max_new_tokens):
            start = n - max_len if n > max_len else 0
            out[:, n] = pick(model(out[:, start:n])[:, -1])
    model.train(training)
    return out
