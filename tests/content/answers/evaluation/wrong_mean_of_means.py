# wrong: ev-mean-of-means
import torch
import torch.nn.functional as F


def evaluate(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    with torch.inference_mode():
        for inputs, targets in batches:
            logits = model(inputs)
            if (targets != -100).any():
                total += F.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
                count += 1
    model.train(was_training)
    return total / count


def should_stop(losses, patience):
    if len(losses) <= patience:
        return False
    return min(losses[-patience:]) >= min(losses[:-patience])
