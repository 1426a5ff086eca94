# right: every token's loss in one long row
import numpy as np
import torch


def evaluate(model, batches):
    mode = model.training
    model.eval()
    try:
        with torch.inference_mode():
            kept = []
            for inputs, targets in batches:
                logp = model(inputs).log_softmax(dim=-1)
                real = targets != -100
                kept.append(-logp[real].gather(-1, targets[real].unsqueeze(-1)).flatten())
            return torch.cat(kept).double().mean().item()
    finally:
        model.train(mode)


def should_stop(losses, patience):
    if len(losses) == 0:
        return False
    return bool(len(losses) - 1 - int(np.argmin(losses)) >= patience)
